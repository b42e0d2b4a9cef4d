import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Place } from '../../dump/dump.ts';
import { journalPlace, pathOf } from '../../journal/place.ts';
import type { RunnerJob } from '../state/effect.ts';
import { samePlace } from '../state/rows.ts';
import type { RunnerOptions } from './context.ts';
import type { Runner } from './runner.ts';

/** A rollout that is only passed by is not looked up. */
const REST_MS = 120;

/**
 * The way to the runner. Engine, sandbox and replay are read from disk with the first key that asks for them, or for a journal that is there
 * already; opening and browsing wait for neither.
 */
export class LazyRunner {
  readonly #options: RunnerOptions;
  #runner: Promise<Runner> | null = null;
  #shown: Place | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  async do(job: RunnerJob): Promise<void> {
    if (job.kind === 'cancel' && this.#runner === null) return;
    try {
      const runner = await this.#open();
      await runner.do(job);
    } catch (error) {
      this.#options.say((error as Error).message, 'error');
    }
  }

  /** The cursor is on this rollout: what the journal knows of it is shown, and of the rows in sight their words. */
  rest(place: Place | null, rows: () => readonly Place[]): void {
    if (samePlace(place, this.#shown)) return;
    this.#shown = place;
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (place === null || !(this.#runner !== null || this.#hasJournal())) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#open().then(
        (runner) => {
          runner.show(place);
          void runner.recall(rows());
        },
        // A tool file that cannot be read is told when a call is to be run.
        () => {},
      );
    }, REST_MS);
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#runner?.then(
      (runner) => runner.close(),
      () => {},
    );
  }

  #hasJournal(): boolean {
    const { path, journal, env } = this.#options;
    return journalPlace(path, { journal, env }).folders.some((folder) =>
      ['replay', 'fork', 'rescore'].some((kind) => existsSync(join(pathOf(folder), `${kind}.jsonl`))),
    );
  }

  #open(): Promise<Runner> {
    this.#runner ??= import('./runner.ts').then(({ Runner }) => new Runner(this.#options));
    this.#runner.catch(() => {
      this.#runner = null;
    });
    return this.#runner;
  }
}
