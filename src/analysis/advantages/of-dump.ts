import { itemAt, numberInAt } from '../../core/lists/at.ts';
import { ESTIMATORS, type Estimator } from './estimators.ts';

/** The rollouts of one step, as far as a dump records them. */
export interface StepScores {
  /** NaN without a score. */
  scores: ArrayLike<number>;
  /** A rollout without a group is a group by itself. */
  groups: readonly (string | number)[];
  /** How many tokens of each response are trained; NaN if not recorded. */
  lengths: ArrayLike<number>;
}

/**
 * The estimators that need only scores, groups and lengths. The others need a critic, a greedy answer or rewards by
 * token.
 */
export const OF_A_DUMP: readonly Estimator[] = ESTIMATORS.filter(
  ({ name }) => !/^gae|^remax|reset at|gamma (?!1\.0)/.test(name),
);

/**
 * The advantages of some rows by one estimator, or the reason for their absence. They are recomputed from the scores, so a KL
 * penalty in the reward is not included.
 */
export function advantagesOf(estimator: Estimator, step: StepScores, rows: readonly number[]): number[] | string {
  const { isByLength, isOfBatch } = estimator;
  const all = isOfBatch ? step.groups.map((_, row) => row) : rows;
  if (all.some((row) => Number.isNaN(step.scores[row]))) return 'a score is missing';
  if (isByLength && all.some((row) => Number.isNaN(step.lengths[row]))) return 'the trained tokens were not recorded';
  if (rows.length < 2 && !isOfBatch) return 'a rollout alone has nothing to compare with';
  const at = new Map(all.map((row, i) => [row, i]));
  const found = estimator.advantages({
    rewards: all.map((row) => [numberInAt(step.scores, row)]),
    masks: all.map((row) => [isByLength ? numberInAt(step.lengths, row) : 1]),
    groups: all.map((row) => itemAt(step.groups, row)),
  });
  return found === null ? 'verl refuses such a batch' : rows.map((row) => numberInAt(itemAt(found, at.get(row)!), 0));
}
