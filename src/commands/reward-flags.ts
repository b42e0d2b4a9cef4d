import type { Command } from 'commander';
import type { RewardChoice } from '../replay/reward-choice.ts';

export interface RewardFlags {
  reward?: string;
  rewardUrl?: string;
  python: string;
  function: string;
}

export const addReward = (command: Command): Command =>
  command
    .option(
      '--reward <name|file.py>',
      "a built-in function, `http`, or a Python file with verl's compute_score (default: by data_source)",
    )
    .option('--reward-url <url>', 'the reward service, for --reward http')
    .option('--python <command>', 'the interpreter for a Python file', 'python3')
    .option('--function <name>', 'the function in a Python file', 'compute_score');

export const rewardChoiceOf = (flags: RewardFlags): RewardChoice => ({
  reward: flags.reward ?? (flags.rewardUrl === undefined ? undefined : 'http'),
  url: flags.rewardUrl,
  python: flags.python,
  functionName: flags.function,
});
