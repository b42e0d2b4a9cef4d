import { type KeptLookup, NOTHING_KEPT } from '../../../analysis/query/kept.ts';
import type { Place } from '../../../core/dump/dump.ts';
import { errorMessage } from '../../../core/text/thrown.ts';
import { journalPlace, mayHoldEntries } from '../../../replay/journal/place.ts';
import type { RunnerJob } from '../state/effect.ts';
import { samePlace } from '../state/rows.ts';
import type { RunnerOptions } from './context.ts';
import type { Runner } from './runner.ts';

/** A rollout that is only passed over is not looked up. */
const REST_MS = 120;

/**
 * Loads the runner, with engine, sandbox and replay, on the first key that needs it, or if a journal already exists; opening and browsing
 * wait for neither.
 */
export class LazyRunner {
  readonly #options: RunnerOptions;
  #runner: Promise<Runner> | null = null;
  #shown: Place | null = null;
  /** The visible rows whose words were looked up last. */
  #rows: readonly Place[] = [];
  #timer: NodeJS.Timeout | null = null;
  #jobs = 0;

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  get isBusy(): boolean {
    return this.#jobs > 0 || this.#timer !== null;
  }

  async do(job: RunnerJob): Promise<void> {
    if (job.kind === 'cancel' && this.#runner === null) return;
    this.#jobs++;
    try {
      const runner = await this.#open();
      await runner.do(job);
    } catch (error) {
      this.#options.say(errorMessage(error), 'error');
    } finally {
      this.#jobs--;
    }
  }

  /** The cursor rests on this rollout: shows its results from the journal, and the words of the visible rows. */
  rest(place: Place | null, rows: () => readonly Place[]): void {
    const isNews = !samePlace(place, this.#shown) || (this.#timer === null && this.#hasOtherRows(rows));
    if (!isNews) return;
    this.#shown = place;
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (place === null || !(this.#runner !== null || this.#hasJournal())) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void this.#show(place, rows);
    }, REST_MS);
  }

  /** Rows came into view while the cursor rested, as at the start of a list whose files are still read. */
  #hasOtherRows(rows: () => readonly Place[]): boolean {
    if (this.#runner === null) return false;
    const now = rows();
    return now.length !== this.#rows.length || now.some((row, i) => !samePlace(row, this.#rows[i] ?? null));
  }

  async #show(place: Place, rows: () => readonly Place[]): Promise<void> {
    this.#jobs++;
    try {
      const runner = await this.#open();
      await runner.show(place);
      this.#rows = rows();
      await runner.recall(this.#rows);
    } catch {
      // An unreadable tool file is reported when a call is to be run.
    } finally {
      this.#jobs--;
    }
  }

  /** The journal's entries for a record. */
  async kept(): Promise<KeptLookup> {
    this.#jobs++;
    try {
      const [runner, { keptIn }] = await Promise.all([this.#open(), import('../../../replay/results.ts')]);
      return keptIn([runner.journal]);
    } catch (error) {
      this.#options.say(errorMessage(error), 'error');
      return () => NOTHING_KEPT;
    } finally {
      this.#jobs--;
    }
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
    return mayHoldEntries(journalPlace(path, { journal, env }));
  }

  #open(): Promise<Runner> {
    this.#runner ??= import('./runner.ts').then(({ Runner }) => new Runner(this.#options));
    this.#runner.catch(() => {
      this.#runner = null;
    });
    return this.#runner;
  }
}
