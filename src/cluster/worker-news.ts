import type { WorkerBeat } from './workers.ts';

/** Says once what changed among the workers of a run: who is refused, and that nobody is there. */
export class WorkerNews {
  readonly #run: string;
  /** The place's name. */
  readonly #name: string;
  readonly #say: (message: string) => void;
  readonly #reported = new Set<string>();
  #isAlone: boolean | null = null;

  constructor(run: string, name: string, say: (message: string) => void) {
    this.#run = run;
    this.#name = name;
    this.#say = say;
  }

  /** @returns the workers of the run */
  see(workers: readonly WorkerBeat[]): WorkerBeat[] {
    const own = workers.filter(({ runs }) => runs.includes(this.#run));
    for (const { host, pid, refused } of workers) {
      const why = refused.find(({ run }) => run === this.#run)?.why;
      if (why === undefined || this.#reported.has(`${host} ${pid} ${why}`)) continue;
      this.#reported.add(`${host} ${pid} ${why}`);
      this.#say(`worker ${pid} on ${host} is refused: ${why}`);
    }
    const isAlone = own.length === 0;
    if (isAlone === this.#isAlone) return own;
    // An idle worker takes a moment to notice a run.
    const isNew =
      this.#isAlone === null && workers.some(({ refused }) => !refused.some(({ run }) => run === this.#run));
    if (isNew) return own;
    if (isAlone)
      this.#say(`${this.#name}: no worker for this run is there: rollout-viewer worker --queue ${this.#name}`);
    else if (this.#isAlone !== null) this.#say(`${this.#name}: a worker is there`);
    this.#isAlone = isAlone;
    return own;
  }
}
