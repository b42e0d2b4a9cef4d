import { float64At } from '../../core/lists/at.ts';
import { groupAdvantage } from '../../core/rollout/advantage.ts';
import type { Members } from './members.ts';

/** Measures of a rollout from the scores of its group; NaN if unknown. */
export const SCORE_MEASURES = ['group.n', 'group.mean', 'group.std', 'group.min', 'group.max', 'rank', 'adv'] as const;
type ScoreMeasure = (typeof SCORE_MEASURES)[number];

/**
 * All measures that depend on other rollouts: also copies of it in its group, and the share of its step that begins
 * with the same words.
 */
export const GROUP_MEASURES = [...SCORE_MEASURES, 'copies', 'opening_share'] as const;
export type GroupMeasure = (typeof GROUP_MEASURES)[number];

export const isGroupMeasure = (name: string): name is GroupMeasure =>
  (GROUP_MEASURES as readonly string[]).includes(name);

/**
 * A measure of each row within its group. Mean and deviation (of the population; unknown of one score) are over the finite scores. `rank`
 * counts from 1 for the highest score, and equal scores share a rank. `adv` is verl's GRPO advantage, unknown if any
 * score of the group is missing. @param measures takes those of the groups; other rows are left as they are
 */
export function groupMeasure(
  name: ScoreMeasure,
  members: Members,
  scores: Float64Array,
  measures = new Float64Array(scores.length).fill(Number.NaN),
): Float64Array {
  // One array reused for every group: a million rollouts have a hundred thousand groups.
  let finite = new Float64Array(64);
  for (let group = members.first; group < members.length; group++) {
    const size = members.size(group);
    if (finite.length < size) finite = new Float64Array(size * 2);
    let count = 0;
    for (let i = 0; i < size; i++) {
      const score = float64At(scores, members.at(group, i));
      // Adding 0 turns -0 into 0.
      if (Number.isFinite(score)) finite[count++] = score + 0;
    }
    const isOfEach = name === 'rank' || name === 'adv';
    const of = isOfEach ? Number.NaN : name === 'group.n' ? size : ofAll(name, finite, count);
    if (name === 'rank') finite.subarray(0, count).sort();
    const mean = name === 'adv' ? meanOfFirst(finite, count) : 0;
    const squares = name === 'adv' ? squaresOf(finite, count, mean) : 0;
    for (let i = 0; i < size; i++) {
      const row = members.at(group, i);
      const score = float64At(scores, row);
      if (!isOfEach) measures[row] = of;
      else if (name === 'rank') measures[row] = Number.isFinite(score) ? 1 + above(finite, count, score) : Number.NaN;
      else if (count === size && size > 1) measures[row] = groupAdvantage(score, mean, squares / (size - 1));
    }
  }
  return measures;
}

function ofAll(name: ScoreMeasure, scores: Float64Array, count: number): number {
  if (count === 0) return Number.NaN;
  let low = float64At(scores, 0);
  let high = low;
  for (let i = 1; i < count; i++) {
    if (float64At(scores, i) < low) low = float64At(scores, i);
    if (float64At(scores, i) > high) high = float64At(scores, i);
  }
  if (name === 'group.min') return low;
  if (name === 'group.max') return high;
  if (name === 'group.std' && count < 2) return Number.NaN;
  // Equal scores have no spread, whatever the last digit of their mean.
  if (low === high) return name === 'group.mean' ? low : 0;
  const mean = meanOfFirst(scores, count);
  return name === 'group.mean' ? mean : Math.sqrt(squaresOf(scores, count, mean) / count);
}

function meanOfFirst(scores: Float64Array, count: number): number {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += float64At(scores, i);
  return sum / count;
}

function squaresOf(scores: Float64Array, count: number, mean: number): number {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += (float64At(scores, i) - mean) ** 2;
  return sum;
}

/** How many of the sorted scores are higher. */
function above(sorted: Float64Array, count: number, score: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (float64At(sorted, middle) <= score) low = middle + 1;
    else high = middle;
  }
  return count - low;
}
