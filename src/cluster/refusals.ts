import type { Redis } from 'ioredis';
import { pause } from '../core/async/timeout.ts';
import { errorMessage } from '../core/text/thrown.ts';

/** Replies of a Redis that currently serves nobody: full, loading, a replica, without a disk, out of connections. Time or its operator fixes them. */
const REFUSED =
  /\b(?:OOM|MISCONF|READONLY|LOADING|BUSY|NOREPLICAS|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|UNKILLABLE|NOAUTH|NOPERM|WRONGPASS|max number of clients)\b/;
const AGAIN_MS = 500;
/** A full Redis must also have room for the workers' results. */
const SHARE = 0.6;
const FULL = 0.9;
const MEASURE_MS = 200;

export const isRefusal = (error: unknown): boolean => error instanceof Error && REFUSED.test(error.message);
export const isWrongType = (error: unknown): boolean => error instanceof Error && /\bWRONGTYPE\b/.test(error.message);

export interface Asking {
  signal?: AbortSignal | undefined;
  /** Repairs keys of a wrong type; without it such a key is an error. */
  mend?: (() => Promise<unknown>) | undefined;
}

/** Retries until the place answers. A refusal is reported once, and once more when it is over; it never becomes the result of a tool or a rollout. */
export class Refusals {
  readonly #name: string;
  readonly #say: (message: string) => void;
  /** The last refusal; null while the place serves. */
  current: string | null = null;

  readonly #who: string;
  readonly #isRefused: (error: unknown) => boolean;

  constructor(name: string, say: (message: string) => void, who = 'Redis', isRefused = isRefusal) {
    this.#name = name;
    this.#say = say;
    this.#who = who;
    this.#isRefused = isRefused;
  }

  /** @throws errors of `work`, except refusals; the signal's reason */
  async ask<T>(work: () => Promise<T>, { signal, mend }: Asking = {}): Promise<T> {
    let hasMended = false;
    let wasRefused = false;
    for (;;) {
      signal?.throwIfAborted();
      try {
        const made = await work();
        // A full Redis still answers read-only commands.
        if (wasRefused) this.served();
        return made;
      } catch (error) {
        if (isWrongType(error) && mend !== undefined && !hasMended) {
          hasMended = true;
          await mend();
          continue;
        }
        if (!this.#isRefused(error)) throw error;
        wasRefused = true;
        this.refused(errorMessage(error));
        await pause(AGAIN_MS, signal);
      }
    }
  }

  refused(message: string): void {
    const [reason = message] = message.split(/\.? script:|, on @|\.$/);
    if (this.current === null)
      this.#say(`${this.#name}: ${this.#who} refuses: ${reason}; waiting, nothing is given up`);
    this.current = reason;
  }

  served(): void {
    if (this.current !== null) this.#say(`${this.#name}: ${this.#who} serves again`);
    this.current = null;
  }
}

/** Redis 7 keeps a histogram of the latency of each command that was used. */
const HISTOGRAM_BYTES = 23_000;

/** Bytes that a Redis holds, and may hold; null if it has no limit or the query is forbidden. */
export interface MemoryUse {
  used: number;
  most: number;
}

export async function memoryUse(redis: Pick<Redis, 'info'>): Promise<MemoryUse | null> {
  const text = await redis.info('memory').catch(() => '');
  const fieldOf = (name: string): number => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(text)?.[1] ?? 0);
  const most = fieldOf('maxmemory');
  if (most === 0) return null;
  const latencies = (await redis.info('latencystats').catch(() => '')).match(/^latency_percentiles_usec_/gm) ?? [];
  // Memory of an empty server, and of connections and commands beside the data.
  const own =
    fieldOf('used_memory_startup') +
    fieldOf('mem_clients_normal') +
    fieldOf('used_memory_scripts') +
    latencies.length * HISTOGRAM_BYTES;
  return { used: Math.max(0, fieldOf('used_memory') - own), most: Math.max(1, most - own) };
}

/** A job in Redis takes this many bytes beside its text, and its text three times. */
const JOB_BYTES = 14_000;

/** Admits work into a Redis with a memory limit only while there is room left for the results. */
export class Admission {
  readonly #redis: Pick<Redis, 'info'>;
  readonly #tidy: () => Promise<void>;
  readonly #refusals: Refusals;
  /** Bytes that may be admitted until memory is measured again; null before the first time. */
  #credit: number | null = null;
  #measuring: Promise<void> | null = null;

  /** @param tidy drops what nobody needs any longer */
  constructor(redis: Pick<Redis, 'info'>, tidy: () => Promise<void>, refusals: Refusals) {
    this.#redis = redis;
    this.#tidy = tidy;
    this.#refusals = refusals;
  }

  /** Jobs that were admitted and have not left. */
  #inside = 0;

  /**
   * Waits for room; the first job is always admitted, since nothing else of the run would free any.
   * @param size of the text, in UTF-16 units
   * @returns false if the job was given up meanwhile
   */
  async enter(size: number, isWanted: () => boolean, signal: AbortSignal): Promise<boolean> {
    const cost = JOB_BYTES + 3 * size;
    while (isWanted()) {
      if (this.#credit === null || this.#credit < cost) {
        // Earlier admissions have arrived by then.
        if (this.#credit !== null) await pause(MEASURE_MS, signal);
        this.#measuring ??= this.measure().then(() => {
          this.#measuring = null;
        });
        await this.#measuring;
      }
      if ((this.#credit ?? 0) < cost && this.#inside > 0) continue;
      this.#credit = (this.#credit ?? 0) - cost;
      this.#inside++;
      return true;
    }
    return false;
  }

  leave(): void {
    this.#inside--;
  }

  /** @returns whether too much is stored to leave room for results */
  async measure(): Promise<boolean> {
    let use = await memoryUse(this.#redis);
    if (use !== null && use.used > SHARE * use.most) {
      await this.#tidy();
      use = await memoryUse(this.#redis);
    }
    this.#credit = use === null ? Number.POSITIVE_INFINITY : SHARE * use.most - use.used;
    if (use !== null && use.used > use.most) this.#refusals.refused('its memory is full');
    return use !== null && use.used > FULL * use.most;
  }
}
