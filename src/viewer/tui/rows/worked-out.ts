import type { Rest } from '../../../analysis/rest.ts';
import { formatPercent } from '../../../core/text/numbers.ts';

/** ms of work between two pauses: the longest that a key waits. */
const SLICE = 8;

interface Job {
  /** The page on the screen since the work began; undefined until the screen was drawn. */
  shown: string | null | undefined;
  /** The part of the work that is done; null if the work does not say. */
  share: number | null;
  isStopped: boolean;
}

class Stopped extends Error {}

/**
 * Answers that take longer than a key may wait: computed in slices, cached as long as their facts or rollout exist, and
 * given up when what they were for is left.
 */
export class WorkedOut {
  readonly #changed: () => void;
  readonly #answers = new WeakMap<object, Map<string, { value: unknown }>>();
  readonly #jobs = new Set<Job>();

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  get isBusy(): boolean {
    return this.#jobs.size > 0;
  }

  /** `34 %` of the work in progress; '' if there is none, or it does not say. */
  get note(): string {
    const share = [...this.#jobs].at(-1)?.share ?? null;
    return share === null ? '' : formatPercent(Math.floor(share * 100) / 100);
  }

  /** The screen shows this from now on: work that began for anything else stops. */
  look(shown: string | null): void {
    for (const job of this.#jobs) {
      if (job.shown === undefined) job.shown = shown;
      else if (job.shown !== shown) job.isStopped = true;
    }
  }

  /** null until it is computed. */
  of<Answer>(facts: object, key: string, work: (rest: Rest) => Promise<Answer>): Answer | null {
    const known = this.#answers.get(facts) ?? new Map<string, { value: unknown }>();
    this.#answers.set(facts, known);
    const found = known.get(key);
    if (found !== undefined) return found.value as Answer | null;
    const answer: { value: Answer | null } = { value: null };
    known.set(key, answer);
    void this.#work(answer, work, () => known.delete(key));
    return null;
  }

  /** The same for work that pauses by itself. */
  ofPausing<Answer>(facts: object, key: string, work: () => Generator<void, Answer>): Answer | null {
    return this.of(facts, key, async (rest) => {
      const steps = work();
      for (;;) {
        const { done, value } = steps.next();
        if (done === true) return value;
        await rest();
      }
    });
  }

  async #work<Answer>(
    answer: { value: Answer | null },
    work: (rest: Rest) => Promise<Answer>,
    forget: () => void,
  ): Promise<void> {
    const job: Job = { shown: undefined, share: null, isStopped: false };
    this.#jobs.add(job);
    let since = performance.now();
    const rest: Rest = (done, total) => {
      if (job.isStopped) throw new Stopped();
      if (performance.now() - since < SLICE) return undefined;
      if (done !== undefined && total !== undefined && total > 0) {
        const before = this.note;
        job.share = done / total;
        if (this.note !== before) this.#changed();
      }
      return new Promise((resolve) =>
        setImmediate(() => {
          since = performance.now();
          resolve();
        }),
      );
    };
    try {
      // Lets the response to a key be drawn first.
      await new Promise((resolve) => setImmediate(resolve));
      answer.value = await work(rest);
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
      forget();
    } finally {
      this.#jobs.delete(job);
      this.#changed();
    }
  }
}
