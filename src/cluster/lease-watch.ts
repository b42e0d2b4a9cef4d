interface SeenLease {
  mark: string | null;
  since: number;
  hasMoved: boolean;
}

/**
 * Finds members that are gone. Each member keeps changing its mark, and counts as gone if the observer saw no change for the length of
 * a lease, by its own monotonic clock: the clocks of two machines are never compared.
 */
export class LeaseWatch {
  readonly #leaseMs: number;
  readonly #now: () => number;
  readonly #seen = new Map<string, SeenLease>();
  #last: number | null = null;

  constructor(leaseMs: number, now = () => performance.now()) {
    this.#leaseMs = leaseMs;
    this.#now = now;
  }

  /** @param marks of all members that are visible; the others have none */
  look(marks: ReadonlyMap<string, string>): void {
    const now = this.#now();
    // The observer, or the file system with everyone on it, was held up: that is nobody's silence.
    const held = this.#last !== null && now - this.#last > this.#leaseMs / 2 ? now - this.#last : 0;
    this.#last = now;
    for (const id of new Set([...this.#seen.keys(), ...marks.keys()])) {
      const mark = marks.get(id) ?? null;
      const seen = this.#seen.get(id);
      if (seen === undefined) this.#seen.set(id, { mark, since: now, hasMoved: false });
      // A file that is shown late, or in the middle of a write, has no mark: that is no sign of life.
      else if (mark !== null && mark !== seen.mark) this.#seen.set(id, { mark, since: now, hasMoved: true });
      else seen.since += held;
    }
  }

  /** Its mark changed at least once, and no longer ago than a lease. */
  isThere(id: string): boolean {
    return this.#seen.get(id)?.hasMoved === true && !this.isGone(id);
  }

  /** One that was never seen is not gone yet: `expect` starts its time. */
  isGone(id: string): boolean {
    const seen = this.#seen.get(id);
    return seen !== undefined && this.#now() - seen.since >= this.#leaseMs;
  }

  /** Something names a member that may not be visible yet. */
  expect(id: string): void {
    if (!this.#seen.has(id)) this.#seen.set(id, { mark: null, since: this.#now(), hasMoved: false });
  }

  forget(id: string): void {
    this.#seen.delete(id);
  }
}
