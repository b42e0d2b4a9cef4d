import { rewardProblem, rewardRuns } from '../../replay/reward-choice.ts';
import type { Data } from '../rows/data.ts';
import { oneRow } from '../rows/rows.ts';
import type { RescoreQuestion } from '../state/replay.ts';
import type { State } from '../state/state.ts';
import { notWhole } from './list-choice.ts';
import { promptHandlers } from './prompt.ts';
import { ask, doNow, NO_EXEC } from './question.ts';
import { type Result, say } from './result.ts';

/** Scores anew; what is not this program's own function is asked for first, with what runs and where. */
export function askRescore(state: State, data: Data, all: boolean): Result {
  const place = state.list.cursor;
  if (place === null) return say(state, 'no rollout here');
  const reason = all ? notWhole(state, data) : null;
  if (reason !== null) return say(state, reason);
  const { reward: choice, canRun } = state.replay;
  const question: RescoreQuestion = { kind: 'rescore', place, rollouts: all ? data.rows(state).length : null, choice };
  if (rewardRuns(choice) === null) return rescoreNow(state, question, data);
  return canRun ? ask(state, question) : say(state, NO_EXEC);
}

export function rescoreKey(state: State, question: RescoreQuestion, key: string, data: Data): Result {
  if (key === 'e') return promptHandlers['prompt-open'](state, { type: 'prompt-open', prompt: 'reward' }, data);
  return key === 'enter' ? rescoreNow(state, question, data) : state;
}

function rescoreNow(state: State, { place, rollouts, choice }: RescoreQuestion, data: Data): Result {
  const problem = rewardProblem(choice);
  if (problem !== null) return say(state, problem, 'error');
  const rows = rollouts === null ? oneRow(place) : data.rows(state);
  return doNow(state, { kind: 'rescore', rows, choice });
}
