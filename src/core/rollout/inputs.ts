import { itemAt } from '../lists/at.ts';
import { isMasked } from './encoding-findings.ts';
import type { Need } from './finding.ts';
import { rightOrWrong, truthsOf } from './hack-signs.ts';
import { isResult, type UncheckedRollout } from './rollout.ts';
import { hasShortTruth } from './task-signs.ts';

export type Inputs = Readonly<Record<Need, boolean>>;

/** The inputs of a record that is not a rollout. */
export const NOTHING: Inputs = {
  record: true,
  rollout: false,
  results: false,
  calls: false,
  run_calls: false,
  reply: false,
  notes: false,
  mask: false,
  ids: false,
  logprobs: false,
  truth: false,
  truth_and_results: false,
  verdict: false,
  template: false,
  tokenizer: false,
  ends: false,
  schemas: false,
  given: false,
  scored_truth: false,
  scored_results: false,
};

/** The missing input, in words. */
export const LACKS: Readonly<Record<Need, string>> = {
  record: 'no record',
  rollout: 'no rollout',
  results: 'no tool result',
  calls: 'no tool call',
  run_calls: 'no tool call, or its writer runs none',
  reply: "no text known to be the model's",
  notes: 'no notes of its writer',
  mask: 'no recorded mask',
  ids: 'no token ids with a mask',
  logprobs: 'no log probabilities',
  truth: 'no long ground truth',
  truth_and_results: 'no long ground truth, or no tool result',
  verdict: 'no right or wrong beside the score',
  template: 'no --chat-template FILE, or no text of the prompt',
  tokenizer: 'no --tokenizer, or no token ids',
  ends: 'no --tokenizer, or no token ids with a mask',
  schemas: 'no schemas of tools, or no tool call',
  given: 'no words of an environment, and no recorded end',
  scored_truth: 'no short ground truth, or no score',
  scored_results: 'no tool result, or no score',
};

/** The inputs that a rollout provides for the checks. */
export function inputsOf(rollout: UncheckedRollout): Inputs {
  const { turns, responseTurn, tokens, encoding } = rollout;
  let results = false;
  let calls = false;
  let reply = false;
  let given = false;
  for (let i = responseTurn; i < turns.length; i++) {
    const turn = itemAt(turns, i);
    const { role, toolCalls, text } = turn;
    if (isResult(turn)) results = true;
    if ((role === 'assistant' || role === 'function_call') && text !== '') reply = rollout.isUnsampled !== true;
    if (role === 'user' || isResult(turn)) given = true;
    if (toolCalls.length > 0) calls = true;
    if (toolCalls.some(({ resultTurn }) => resultTurn !== null)) results = true;
  }
  const isSpelt = encoding?.mask != null && rollout.lossMask !== null && !rollout.validation;
  const mask = isMasked(rollout) || isSpelt;
  const truth = truthsOf(rollout.groundTruth).length > 0;
  const ids = tokens !== undefined && rollout.lossMask !== null && !rollout.validation;
  return {
    record: true,
    rollout: true,
    results,
    calls,
    run_calls: calls && rollout.runsNoCalls !== true,
    reply,
    notes: rollout.hasNotes === true,
    mask,
    ids,
    logprobs: ids && tokens.logprobs !== null,
    truth,
    truth_and_results: truth && results,
    verdict: rollout.score !== null && rightOrWrong(rollout) !== null,
    template: encoding?.prompt !== undefined,
    tokenizer: encoding?.ids !== undefined,
    ends: ids && encoding?.ends !== undefined,
    schemas: calls && rollout.toolSchemas.length > 0,
    given: given || rollout.ended.how === 'length',
    scored_truth: reply && rollout.score !== null && hasShortTruth(rollout.groundTruth),
    scored_results: results && rollout.score !== null,
  };
}
