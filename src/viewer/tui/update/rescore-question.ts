import { type RewardChoice, rewardOf, rewardRuns, rewardText } from '../../../replay/reward-choice.ts';
import type { Data } from '../rows/data.ts';
import { markedRows } from '../rows/marked-rows.ts';
import { oneRow } from '../rows/rows.ts';
import type { PromptId } from '../state/prompt.ts';
import type { RescoreQuestion } from '../state/replay.ts';
import type { Rows } from '../state/rows.ts';
import type { State } from '../state/state.ts';
import { notWhole } from './list-choice.ts';
import { ask, doNow, NO_EXEC, withReplayState } from './question.ts';
import { type Result, saying } from './result.ts';

/** Re-scores; a function that is not this program's own needs confirmation first, showing what runs and where. */
export function askRescore(state: State, data: Data, all: boolean): Result {
  const place = state.list.cursor;
  if (place === null) return saying(state, 'no rollout here');
  const scope = all ? 'list' : markedRows(state, data) === null ? 'open' : 'marked';
  const reason = all ? notWhole(state, data) : null;
  if (reason !== null) return saying(state, reason);
  const { reward: choice, canRun } = state.replay;
  const rollouts = rescoreRows(state, data, { scope, place }).length;
  const question: RescoreQuestion = { kind: 'rescore', place, scope, rollouts, choice };
  if (rewardRuns(choice) === null) return rescoreNow(state, question, data);
  return canRun ? ask(state, question) : saying(state, NO_EXEC);
}

export function rescoreKey(state: State, question: RescoreQuestion, key: string, data: Data): Result {
  if (key === 'e') return { state, next: { type: 'prompt-open', prompt: 'reward' } };
  return key === 'enter' ? rescoreNow(state, question, data) : state;
}

const rescoreNow = (state: State, question: RescoreQuestion, data: Data): Result =>
  doNow(state, { kind: 'rescore', rows: rescoreRows(state, data, question), choice: question.choice });

const rescoreRows = (state: State, data: Data, { scope, place }: Pick<RescoreQuestion, 'scope' | 'place'>): Rows =>
  scope === 'list' ? data.rows(state) : ((scope === 'marked' ? markedRows(state, data) : null) ?? oneRow(place));

/** Whether the function can score is checked in the background: its file may be missing. */
export function chooseReward(state: State, data: Data, typed: string, line: string, prompt: PromptId): Result {
  const text = typed.trim();
  if (text === '') return withReward(state, data, {});
  const { python, functionName, timeout } = state.replay.reward;
  const choice = { ...rewardOf(text), python, functionName, timeout };
  return { state, effects: [{ type: 'check-reward', choice, prompt, value: line + typed, at: line.length }] };
}

/** The choice applies from now on; an open question is asked again with it. */
export function withReward(state: State, data: Data, reward: RewardChoice): Result {
  const { question } = state.replay;
  const next = withReplayState(state, { reward, question: null });
  if (question?.kind !== 'rescore')
    return saying(next, `scored again by ${rewardText(reward) || 'data_source'} from now on`);
  if (rewardRuns(reward) !== null) return ask(next, { ...question, choice: reward });
  return askRescore(next, data, question.scope === 'list');
}
