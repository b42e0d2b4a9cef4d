import { itemAt } from '../core/lists/at.ts';

/** The shortest time over which a rate is reported, in ms: ten lines in the first second are not 600 a minute. */
const SHORTEST = 60_000;
const WINDOW = 5 * 60_000;
const LONGEST = 60 * 60_000;
/** Arrivals are counted by the second, so a run of many lines costs no more than one of few. */
const BUCKET = 1000;

/** Records that arrived, by the minute: what the run produces now. */
export class ArrivalRate {
  #buckets: { second: number; records: number }[] = [];
  #start: number;

  /** @param now when watching began, ms since the epoch */
  constructor(now: number) {
    this.#start = now;
  }

  add(records: number, now: number): void {
    const second = Math.floor(now / BUCKET);
    const last = this.#buckets.at(-1);
    if (last !== undefined && last.second === second) last.records += records;
    else this.#buckets.push({ second, records });
  }

  /**
   * Records a minute; null if none came. @param interval if steps are written all at once, the window spans three
   * intervals, up to an hour
   */
  perMinute(now: number, interval: number | null): number | null {
    const window = Math.max(WINDOW, Math.min(LONGEST, 3 * (interval ?? 0)));
    const from = now - window;
    while (this.#buckets.length > 0 && itemAt(this.#buckets, 0).second * BUCKET < from) this.#buckets.shift();
    const records = this.#buckets.reduce((sum, bucket) => sum + bucket.records, 0);
    if (records === 0) return null;
    return (records / Math.max(SHORTEST, Math.min(window, now - this.#start))) * 60_000;
  }
}
