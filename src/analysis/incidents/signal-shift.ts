import { formatPercent } from '../../core/text/numbers.ts';
import { meanText } from '../../core/text/quantities.ts';
import type { FactRows } from '../facts/fact-rows.ts';

/** Steps compared on each side of an incident. */
const WINDOW = 10;
/** Smaller changes of a mean or a share are not worth mentioning. */
const SCORE = 0.05;
const SHARE = 0.1;
const SIGMAS = 4;

/** How score and learning signal changed around a point of the timeline, one sentence each; empty if they did not. */
export function signalShift(
  facts: Pick<FactRows, 'numbers' | 'groups'>,
  rows: Uint32Array,
  at: Int32Array,
  place: number,
  withSpread: boolean,
): string[] {
  const scores = facts.numbers('score');
  const sides = [new Side(), new Side()] as const;
  for (const row of rows) {
    const [time, score] = [at[row] ?? -1, scores[row] ?? Number.NaN];
    if (time < 0 || !Number.isFinite(score) || time < place - WINDOW || time >= place + WINDOW) continue;
    sides[time < place ? 0 : 1].add(facts.groups[row] ?? -1, score);
  }
  const [before, after] = sides;
  const said: string[] = [];
  const change = after.mean - before.mean;
  const noise = Math.hypot(before.error, after.error);
  if (Math.abs(change) >= SCORE && Math.abs(change) > SIGMAS * noise)
    said.push(
      `score ${change > 0 ? 'rose' : 'fell'} by ${meanText(Math.abs(change))} (${meanText(before.mean)} → ${meanText(after.mean)})`,
    );
  const [was, is] = [before.dead, after.dead];
  const spread = Math.sqrt(
    (is.share * (1 - is.share)) / Math.max(1, is.of) + (was.share * (1 - was.share)) / Math.max(1, was.of),
  );
  if (withSpread && is.of > 0 && was.of > 0 && is.share - was.share >= SHARE && is.share - was.share > 3 * spread)
    said.push(`groups lost their spread: ${formatPercent(was.share)} → ${formatPercent(is.share)} without signal`);
  return said;
}

class Side {
  #count = 0;
  #squares = 0;
  mean = 0;
  readonly #groups = new Map<number, { first: number; count: number; isEqual: boolean }>();

  add(group: number, score: number): void {
    this.#count++;
    const off = score - this.mean;
    this.mean += off / this.#count;
    this.#squares += off * (score - this.mean);
    if (group < 0) return;
    const known = this.#groups.get(group) ?? { first: score, count: 0, isEqual: true };
    known.count++;
    known.isEqual &&= score === known.first;
    this.#groups.set(group, known);
  }

  /** The standard error of the mean. */
  get error(): number {
    return this.#count < 2 ? Number.POSITIVE_INFINITY : Math.sqrt(this.#squares / this.#count / this.#count);
  }

  /** The share of groups with several rollouts whose scores are all equal. */
  get dead(): { share: number; of: number } {
    const several = [...this.#groups.values()].filter(({ count }) => count > 1);
    return {
      share: several.length === 0 ? 0 : several.filter(({ isEqual }) => isEqual).length / several.length,
      of: several.length,
    };
  }
}
