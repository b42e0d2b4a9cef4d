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
  const lay = LAYING[name];
  // One array reused for every group: a million rollouts have a hundred thousand groups.
  let finite = new Float64Array(64);
  for (let group = members.first; group < members.length; group++) {
    const size = members.size(group);
    if (finite.length < size) finite = new Float64Array(size * 2);
    const count = finiteScores(members, group, scores, finite);
    lay({ members, group, size, scores, finite, count, measures });
  }
  return measures;
}

/** A group, and where its measures go. */
interface GroupScores {
  members: Members;
  group: number;
  size: number;
  /** Of all rows. */
  scores: Float64Array;
  /** The finite scores of the group come first, `count` of them. */
  finite: Float64Array;
  count: number;
  measures: Float64Array;
}

/** A function for each measure: one for all would be compiled anew as each measure takes another way through it. */
const LAYING: Record<ScoreMeasure, (group: GroupScores) => void> = {
  'group.n': (group) => layShared(group, group.size),
  'group.mean': (group) => layShared(group, meanOfGroup(group)),
  'group.std': (group) => layShared(group, spreadOfGroup(group)),
  'group.min': (group) => layShared(group, lowest(group)),
  'group.max': (group) => layShared(group, highest(group)),
  rank: layRanks,
  adv: layAdvantages,
};

function finiteScores(members: Members, group: number, scores: Float64Array, finite: Float64Array): number {
  const size = members.size(group);
  let count = 0;
  for (let i = 0; i < size; i++) {
    const score = float64At(scores, members.at(group, i));
    // Adding 0 turns -0 into 0.
    if (Number.isFinite(score)) finite[count++] = score + 0;
  }
  return count;
}

function layShared({ members, group, size, measures }: GroupScores, measure: number): void {
  for (let i = 0; i < size; i++) measures[members.at(group, i)] = measure;
}

function layRanks({ members, group, size, scores, finite, count, measures }: GroupScores): void {
  finite.subarray(0, count).sort();
  for (let i = 0; i < size; i++) {
    const row = members.at(group, i);
    const score = float64At(scores, row);
    measures[row] = Number.isFinite(score) ? 1 + above(finite, count, score) : Number.NaN;
  }
}

function layAdvantages({ members, group, size, scores, finite, count, measures }: GroupScores): void {
  if (count < size || size < 2) return;
  const mean = meanOfFirst(finite, count);
  const variance = squaresOf(finite, count, mean) / (size - 1);
  for (let i = 0; i < size; i++) {
    const row = members.at(group, i);
    measures[row] = groupAdvantage(float64At(scores, row), mean, variance);
  }
}

/** NaN of no scores, as for all functions below. */
function lowest({ finite, count }: GroupScores): number {
  let low = count === 0 ? Number.NaN : float64At(finite, 0);
  for (let i = 1; i < count; i++) if (float64At(finite, i) < low) low = float64At(finite, i);
  return low;
}

function highest({ finite, count }: GroupScores): number {
  let high = count === 0 ? Number.NaN : float64At(finite, 0);
  for (let i = 1; i < count; i++) if (float64At(finite, i) > high) high = float64At(finite, i);
  return high;
}

/** Equal scores have no spread, whatever the last digit of their mean. */
function meanOfGroup(group: GroupScores): number {
  const low = lowest(group);
  return low === highest(group) ? low : meanOfFirst(group.finite, group.count);
}

function spreadOfGroup(group: GroupScores): number {
  const { finite, count } = group;
  if (count < 2) return Number.NaN;
  if (lowest(group) === highest(group)) return 0;
  return Math.sqrt(squaresOf(finite, count, meanOfFirst(finite, count)) / count);
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
