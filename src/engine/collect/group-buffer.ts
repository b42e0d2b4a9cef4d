/** A group that will stay incomplete: some members failed, or were never made. */
export interface IncompleteGroup<T> {
  key: string;
  members: T[];
  missing: number;
  errors: string[];
}

interface BufferedGroup<T> {
  key: string;
  members: T[];
  errors: string[];
}

/**
 * Sits between the collector that makes rollouts and a learner that takes complete groups. Groups leave in the order they were opened,
 * each once; one that cannot be completed is skipped and reported. At the end complete groups are still handed out and the others reported,
 * so no member is lost.
 */
export class GroupBuffer<T> {
  readonly #groupSize: number;
  /** In opening order; a group leaves when it is complete or known to stay incomplete, and no earlier one is undecided. */
  readonly #open = new Map<string, BufferedGroup<T>>();
  readonly #whole: T[][] = [];
  readonly #onIncomplete: (group: IncompleteGroup<T>) => void;
  #waiting: (() => void)[] = [];
  #lastTake: Promise<unknown> = Promise.resolve();
  #failure: { error: unknown } | null = null;
  #isEnded = false;

  constructor(groupSize: number, onIncomplete: (group: IncompleteGroup<T>) => void = () => {}) {
    if (!Number.isInteger(groupSize) || groupSize < 1) {
      throw new TypeError(`groupSize: expected a whole number of 1 or more, got ${groupSize}`);
    }
    this.#groupSize = groupSize;
    this.#onIncomplete = onIncomplete;
  }

  /** Complete groups waiting to be taken. */
  get readyCount(): number {
    return this.#whole.length;
  }

  /** Reserves the group's place in the order; repeated calls change nothing. */
  open(key: string): void {
    this.#check();
    this.#groupOf(key);
  }

  add(key: string, member: T): void {
    this.#check();
    this.#groupOf(key).members.push(member);
    this.#settle();
  }

  /** A member of the group will never come. */
  miss(key: string, error: string): void {
    this.#check();
    this.#groupOf(key).errors.push(error);
    this.#settle();
  }

  /** No more members come. */
  end(): void {
    this.#isEnded = true;
    this.#settle();
  }

  /** Every later caller gets the error; groups completed before can still be taken. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#wake();
  }

  /** Waits for the next `count` complete groups; fewer only when no more will come, and then always []. */
  take(count: number): Promise<T[][]> {
    // Sequential, so groups go in order to the first caller.
    const taken = this.#lastTake.then(() => this.#takeNow(count));
    this.#lastTake = taken.catch(() => {});
    return taken;
  }

  async #takeNow(count: number): Promise<T[][]> {
    while (this.#whole.length < count && !this.#isEnded && this.#failure === null) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    if (this.#failure && this.#whole.length === 0) throw this.#failure.error;
    return this.#whole.splice(0, count);
  }

  /** The learner's side: batches of `count` complete groups; the last one may be smaller. */
  async *batches(count: number): AsyncGenerator<T[][]> {
    for (let batch = await this.take(count); batch.length > 0; batch = await this.take(count)) yield batch;
  }

  #groupOf(key: string): BufferedGroup<T> {
    let group = this.#open.get(key);
    if (!group) {
      group = { key, members: [], errors: [] };
      this.#open.set(key, group);
    }
    return group;
  }

  #settle(): void {
    for (const [key, group] of this.#open) {
      const { members, errors } = group;
      const missing = this.#groupSize - members.length;
      const isDecided = missing <= errors.length || this.#isEnded;
      if (!isDecided) break;
      this.#open.delete(key);
      if (missing <= 0) this.#whole.push(members);
      else this.#onIncomplete({ ...group, missing });
    }
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  #check(): void {
    if (this.#failure) throw this.#failure.error;
    if (this.#isEnded) throw new Error('the buffer was ended: no member can come any more');
  }
}
