import type { FactRows } from './facts/fact-rows.ts';

/** Reasons why the ground of a curve or an alarm is doubtful. */
export interface Ground {
  rollouts: number;
  /** Left out of every mean: records that cannot be read, and those without a finite score. */
  unreadable: number;
  unscored: number;
  /** Counted as they were recorded, though they tell less of the model: broken off from outside, or failed by the world. */
  aborted: number;
  byWorld: number;
}

const kept = new WeakMap<FactRows, Ground>();

export function groundOf(facts: FactRows): Ground {
  const known = kept.get(facts);
  if (known !== undefined) return known;
  const scores = facts.numbers('score');
  const ended = facts.words('ended');
  const fault = facts.words('fault');
  const ground: Ground = { rollouts: facts.length, unreadable: 0, unscored: 0, aborted: 0, byWorld: 0 };
  for (let row = 0; row < facts.length; row++) {
    if (facts.has(row, 'bad_record')) ground.unreadable++;
    else if (!Number.isFinite(scores[row]!)) ground.unscored++;
    if (ended[row] === 'aborted') ground.aborted++;
    if (fault[row] === 'world' || fault[row] === 'ours') ground.byWorld++;
  }
  kept.set(facts, ground);
  return ground;
}

/** A caution before a curve or an alarm is believed; '' where nothing is doubtful. */
export function groundText({ rollouts, unreadable, unscored, aborted, byWorld }: Ground): string {
  const some = (parts: [count: number, what: string][]): string =>
    parts
      .filter(([count]) => count > 0)
      .map(([count, what]) => `${count} ${what}`)
      .join(', ');
  const left = some([
    [unreadable, 'unreadable'],
    [unscored, 'unscored'],
  ]);
  const counted = some([
    [aborted, 'broken off'],
    [byWorld, 'failed by the world'],
  ]);
  const parts = [left && `${left} left out`, counted && `${counted} counted, though doubtful`].filter(
    (part) => part !== '',
  );
  return parts.length === 0 ? '' : `of ${rollouts}: ${parts.join('; ')}`;
}
