import { shownAdvantages } from '../../rollout/advantage.ts';

/** What the scores of a rollout's group tell of it: a number for each, NaN where it is not known. */
const SCORE_MEASURES = ['group.n', 'group.mean', 'group.std', 'group.min', 'group.max', 'rank', 'adv'] as const;
type ScoreMeasure = (typeof SCORE_MEASURES)[number];

/** What others tell of a rollout: copies of it in its group, and the share of its step that begins with the same words, too. */
export const GROUP_MEASURES = [...SCORE_MEASURES, 'copies', 'opening_share'] as const;
export type GroupMeasure = (typeof GROUP_MEASURES)[number];

export const isGroupMeasure = (name: string): name is GroupMeasure =>
  (GROUP_MEASURES as readonly string[]).includes(name);

/**
 * The measures of each row among those of its group. Mean and deviation (of the population) are of the finite scores; `rank` counts from 1
 * for the highest score, and equal scores have an equal rank; `adv` is verl's GRPO advantage, not known in a group with a score missing.
 */
export function groupMeasures(groups: Int32Array, scores: Float64Array): Record<ScoreMeasure, Float64Array> {
  const unknown = () => new Float64Array(groups.length).fill(Number.NaN);
  const measures = Object.fromEntries(SCORE_MEASURES.map((name) => [name, unknown()])) as Record<
    ScoreMeasure,
    Float64Array
  >;
  for (const members of membersOf(groups)) {
    const own = Array.from(members, (row) => scores[row]!);
    const finite = own.filter(Number.isFinite);
    const mean = finite.reduce((sum, score) => sum + score, 0) / finite.length;
    // Equal scores have no spread, whatever the last digit of their mean is.
    const isEven = finite.every((score) => score === finite[0]);
    const variance = finite.reduce((sum, score) => sum + (score - mean) ** 2, 0) / finite.length;
    const sorted = Float64Array.from(finite).sort();
    const ranks = new Map<number, number>();
    for (const [at, score] of sorted.entries()) ranks.set(score, sorted.length - at);
    const advantages = shownAdvantages(own.map((score) => (Number.isNaN(score) ? null : score)));
    for (const [i, row] of members.entries()) {
      measures['group.n'][row] = members.length;
      if (finite.length > 0) {
        measures['group.mean'][row] = isEven ? finite[0]! : mean;
        measures['group.std'][row] = isEven ? 0 : Math.sqrt(variance);
        measures['group.min'][row] = sorted[0]!;
        measures['group.max'][row] = sorted.at(-1)!;
      }
      measures.rank[row] = rankOf(ranks, own[i]!);
      measures.adv[row] = advantages[i] ?? Number.NaN;
    }
  }
  return measures;
}

const rankOf = (ranks: ReadonlyMap<number, number>, score: number): number => ranks.get(score) ?? Number.NaN;

/** The rows of each group, in their order. */
export function membersOf(groups: Int32Array): Uint32Array[] {
  let most = -1;
  for (const group of groups) if (group > most) most = group;
  const sizes = new Uint32Array(most + 1);
  for (const group of groups) if (group >= 0) sizes[group]!++;
  const members = Array.from(sizes, (size) => new Uint32Array(size));
  const next = new Uint32Array(most + 1);
  for (const [row, group] of groups.entries()) if (group >= 0) members[group]![next[group]!++] = row;
  return members;
}
