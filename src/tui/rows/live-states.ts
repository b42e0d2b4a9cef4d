import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import type { Dump } from '../../dump/dump.ts';
import type { LiveState, QueueState } from '../../dump/under-way.ts';

const EVERY_MS = 1000;
/** Nobody has asked for so long: the page is out of sight. */
const UNASKED_MS = 3000;
/** A writer says something once a second. */
const SILENT_MS = 10_000;

export interface FoundState extends LiveState {
  directory: string;
}

/** What writers say of rollouts that are not finished, read once a second while somebody looks. */
export class LiveStates {
  readonly #dump: Dump;
  readonly #changed: () => void;
  #states: readonly FoundState[] | null = null;
  #timer: NodeJS.Timeout | null = null;
  #asked = 0;

  constructor(dump: Dump, changed: () => void) {
    this.#dump = dump;
    this.#changed = changed;
  }

  /** null until the first look. */
  get states(): readonly FoundState[] | null {
    this.#asked = Date.now();
    if (this.#timer === null) void this.#look();
    return this.#states;
  }

  /** The workers of the run that is followed, where it has some. */
  get queue(): QueueState | null {
    const since = Date.now() - SILENT_MS;
    return this.states?.find(({ written, queue }) => queue !== null && written > since)?.queue ?? null;
  }

  async #look(): Promise<void> {
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (Date.now() - this.#asked < UNASKED_MS) void this.#look();
    }, EVERY_MS).unref();
    const directories = [...new Set(this.#dump.files.map(({ path }) => dirname(path)))].filter((directory) =>
      existsSync(join(directory, '.rollout-viewer', 'live.json')),
    );
    if (directories.length === 0) {
      const isNews = this.#states?.length !== 0;
      this.#states = [];
      if (isNews) this.#changed();
      return;
    }
    // The schemas are loaded with the first file: a screen without it does without them.
    const { readLiveState } = await import('../../dump/under-way.ts');
    this.#states = directories.flatMap((directory) => {
      const state = readLiveState(directory, hostname());
      return state === null ? [] : [{ ...state, directory }];
    });
    this.#changed();
  }
}
