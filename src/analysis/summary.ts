import { CHECKS } from '../rollout/checks.ts';
import { FACTS, type Facts } from '../rollout/facts.ts';

/** Rollouts of one step, or of one value of another key, summed up. */
export interface SummaryRow {
  rollouts: number;
  /** Records that are no rollouts; they are in no other figure. */
  bad: number;
  /** Rollouts with a finite score, and its mean and standard deviation (of the population) over them; null without any. */
  scored: number;
  mean: number | null;
  deviation: number | null;
  /** Mean of each fact over the rollouts that tell it; null where none does. A fact that is no quantity has none. */
  facts: ReadonlyMap<string, number | null>;
  /** How many rollouts have each finding; those that none has are left out. */
  findings: ReadonlyMap<string, number>;
}

/** Sums up rollouts one by one (Welford's way, so that a million scores lose no digits). */
export class Summary {
  #rollouts = 0;
  #bad = 0;
  #scored = 0;
  #mean = 0;
  #squares = 0;
  readonly #facts = new Map<string, { sum: number; count: number }>();
  readonly #findings = new Map<string, number>();

  addBad(): void {
    this.#bad++;
  }

  /** @param score as recorded; NaN, infinite and missing ones are in no mean */
  add(score: number | null, facts: Facts): void {
    this.#rollouts++;
    if (score !== null && Number.isFinite(score)) {
      this.#scored++;
      const off = score - this.#mean;
      this.#mean += off / this.#scored;
      this.#squares += off * (score - this.#mean);
    }
    for (const { name, words } of FACTS) {
      const value = words === undefined ? facts.value(name) : null;
      if (typeof value !== 'number' || !Number.isFinite(value)) continue;
      const known = this.#facts.get(name) ?? { sum: 0, count: 0 };
      this.#facts.set(name, { sum: known.sum + value, count: known.count + 1 });
    }
    for (const check of facts.findings) this.#findings.set(check, (this.#findings.get(check) ?? 0) + 1);
  }

  row(): SummaryRow {
    const known = this.#scored > 0;
    return {
      rollouts: this.#rollouts,
      bad: this.#bad,
      scored: this.#scored,
      mean: known ? this.#mean : null,
      deviation: known ? Math.sqrt(this.#squares / this.#scored) : null,
      facts: new Map(
        FACTS.filter(({ words }) => words === undefined).map(({ name }) => {
          const { sum, count } = this.#facts.get(name) ?? { sum: 0, count: 0 };
          return [name, count === 0 ? null : sum / count];
        }),
      ),
      findings: new Map(
        CHECKS.flatMap((check) => (this.#findings.has(check) ? [[check, this.#findings.get(check)!]] : [])),
      ),
    };
  }
}
