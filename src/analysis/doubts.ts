import { formatCount, plural } from '../core/text/numbers.ts';
import type { FactRows } from './facts/fact-rows.ts';

/** Reasons to doubt a curve or an alarm. */
export interface Doubts {
  rollouts: number;
  /** Left out of every mean: files that are not here, unreadable records, and those without a finite score. */
  away: number;
  unreadable: number;
  unscored: number;
  /**
   * Counted as recorded, though they say less about the model: interrupted from outside, or failed by the environment.
   */
  aborted: number;
  byWorld: number;
}

const kept = new WeakMap<FactRows, Doubts>();

export function doubtsOf(facts: FactRows): Doubts {
  const known = kept.get(facts);
  if (known !== undefined) return known;
  const scores = facts.numbers('score');
  const ended = facts.words('ended');
  const fault = facts.words('fault');
  const doubts: Doubts = { rollouts: facts.length, away: 0, unreadable: 0, unscored: 0, aborted: 0, byWorld: 0 };
  for (let row = 0; row < facts.length; row++) {
    if (facts.has(row, 'not_here')) doubts.away++;
    else if (facts.has(row, 'bad_record')) doubts.unreadable++;
    else if (!Number.isFinite(scores[row])) doubts.unscored++;
    if (ended[row] === 'aborted') doubts.aborted++;
    if (fault[row] === 'world' || fault[row] === 'ours') doubts.byWorld++;
  }
  kept.set(facts, doubts);
  return doubts;
}

/** A caution to show before a curve or an alarm is trusted; '' if there are no doubts. */
export function doubtsText({ rollouts, away, unreadable, unscored, aborted, byWorld }: Doubts): string {
  const some = (...parts: [count: number, what: string][]): string =>
    parts
      .filter(([count]) => count > 0)
      .map(([count, what]) => `${formatCount(count)} ${what}`)
      .join(', ');
  const left = some([away, 'not here'], [unreadable, 'unreadable'], [unscored, 'unscored']);
  const counted = some([aborted, 'aborted'], [byWorld, 'with infrastructure failures']);
  const parts = [left && `left out: ${left}`, counted && `counted despite doubts: ${counted}`].filter(Boolean);
  return parts.length === 0 ? '' : `${plural(rollouts, 'rollout')}; ${parts.join('; ')}`;
}
