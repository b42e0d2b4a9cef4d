import type { RewardOutput } from '../rewards/reward.ts';
import type { Interaction } from './interaction.ts';

/**
 * Answers every turn of one rollout, the last one too, and then says what the rollout is worth: a session, an environment. It is made
 * for each rollout anew.
 */
export interface World extends Interaction {
  readonly isWorld: true;
  /** Asked once, after `finalize`. May throw: the rollout then has no score. */
  judge(signal?: AbortSignal): Promise<RewardOutput>;
}
