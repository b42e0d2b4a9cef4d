import { rewardOf, rewardProblem, rewardRuns, rewardText } from '../../replay/reward-choice.ts';
import type { Data } from '../rows/data.ts';
import type { State } from '../state/state.ts';
import type { PromptKind } from './prompt-kinds.ts';
import { askRescore } from './rescore-question.ts';
import { type Result, say } from './result.ts';

/** Names that are always there; others are files and URLs. */
export const REWARD_NAMES = ['gsm8k', 'math', 'code', 'exact_match'];

/** What is wrong with a function as it is typed; null where it can judge. */
export const rewardTextProblem = (text: string): string | null =>
  text.trim() === '' ? null : rewardProblem(rewardOf(text.trim()));

/** What judges when rollouts are scored again. */
export const rewardPrompt: PromptKind = {
  sign: 'reward ',
  hint: () =>
    'gsm8k, math …, the http(s) URL of a reward service, or FILE.py with compute_score; empty: by data_source',
  check: (value) => {
    const problem = rewardTextProblem(value);
    return problem === null ? null : { message: problem, at: 0 };
  },
  submit: chosen,
  complete: (value) => REWARD_NAMES.filter((name) => name.startsWith(value.trim())),
};

/** The choice holds from now on; a question that is open is asked anew with it. */
export function chosen(state: State, value: string, data: Data): Result {
  const text = value.trim();
  const { python, functionName, timeout } = state.replay.reward;
  const reward = text === '' ? {} : { ...rewardOf(text), python, functionName, timeout };
  const { question } = state.replay;
  const next: State = { ...state, replay: { ...state.replay, reward, question: null } };
  if (question?.kind !== 'rescore')
    return say(next, `scored again by ${text === '' ? 'data_source' : rewardText(reward)} from now on`);
  if (rewardRuns(reward) !== null)
    return { ...next, replay: { ...next.replay, question: { ...question, choice: reward } } };
  return askRescore(next, data, question.rollouts !== null);
}
