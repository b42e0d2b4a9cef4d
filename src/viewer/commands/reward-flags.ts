import type { Command } from 'commander';
import type { RewardChoice } from '../../replay/reward-choice.ts';
import type { OwnFlags } from './own-flags.ts';

export interface RewardFlags extends OwnFlags {
  reward?: string;
  rewardUrl?: string;
  function: string;
}

export const addReward = (command: Command): Command =>
  command
    .option(
      '--reward <name|file.py>',
      "a built-in function, `http`, or your own file with verl's compute_score (default: by data_source)",
    )
    .option('--reward-url <url>', 'the reward service, for --reward http')
    .option('--function <name>', 'the function in that file', 'compute_score');

export const rewardChoiceOf = (flags: RewardFlags): RewardChoice => ({
  reward: flags.reward ?? (flags.rewardUrl === undefined ? undefined : 'http'),
  url: flags.rewardUrl,
  python: flags.python,
  pythonPath: flags.pythonPath,
  functionName: flags.function,
});
