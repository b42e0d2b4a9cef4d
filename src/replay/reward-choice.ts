import { existsSync } from 'node:fs';
import { isHttpUrl } from '../core/http/model-url.ts';
import { isRewardFile } from '../engine/own/reward-file.ts';
import { builtinRewards } from '../engine/rewards/builtin.ts';

/** Which reward function to re-score with; without a name, the one for the record's data source. */
export interface RewardChoice {
  /** A built-in function's name, `http`, or the path of a Python file. */
  reward?: string | undefined;
  /** The address of the service, for `http`. */
  url?: string | undefined;
  /** The interpreter and the function of a Python file, and seconds for one rollout there. */
  python?: string | undefined;
  pythonPath?: readonly string[] | undefined;
  functionName?: string | undefined;
  timeout?: number | undefined;
}

const PYTHON = 'python3';
const FUNCTION = 'compute_score';

/** As typed: a name, the URL of a service, or FILE.py. */
export const rewardOf = (text: string): RewardChoice =>
  /^https?:\/\//.test(text) ? { reward: 'http', url: text } : { reward: text };

export const rewardText = ({ reward, url }: RewardChoice): string => (reward === 'http' ? (url ?? '') : (reward ?? ''));

/** Why a choice cannot be opened; null if it can. */
export function rewardProblem({ reward, url }: RewardChoice): string | null {
  if (reward === undefined || reward === 'code') return null;
  if (isRewardFile(reward)) return existsSync(reward) ? null : `${reward}: no such file or directory`;
  if (reward === 'http')
    return url === undefined || !isHttpUrl(url) ? 'http needs the http(s) URL of the service' : null;
  const { names } = builtinRewards();
  return names.includes(reward)
    ? null
    : `unknown reward function '${reward}'; known: ${[...names, 'code'].join(', ')}, http, or a file that ends in .py`;
}

/** The program that a choice would run, and where; null for this program's own functions, which run nothing external. */
export function rewardRuns({
  reward,
  url,
  python = PYTHON,
  functionName = FUNCTION,
}: RewardChoice): { what: string; where: string } | null {
  if (isRewardFile(reward)) return { what: `${functionName} of ${reward}`, where: `${python}, with your rights` };
  if (reward === 'http') return { what: 'the reward service', where: url ?? '' };
  return reward === 'code' ? { what: 'the test cases', where: 'the sandbox' } : null;
}
