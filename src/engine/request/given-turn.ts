import { itemAt } from '../../core/lists/at.ts';
import type { Message } from '../common/message.ts';
import type { RolloutParts } from './parts.ts';
import type { Rendering } from './renderer.ts';
import type { SimulatedUser } from './simulated-user.ts';
import type { CallRecord } from './tool-calls.ts';
import { runCalls } from './tool-turn.ts';

/** Runs the calls of a turn, and adds their results. @returns whether this ends the rollout */
export async function toolTurn(parts: RolloutParts, calls: CallRecord[], signal: AbortSignal): Promise<boolean> {
  const { conversation, limits, notes, options, rules, tools } = parts;
  const { messages } = conversation;
  const turn = {
    tools,
    limits,
    rules,
    now: notes.now,
    warn: (message: string) => notes.warn('tool', message),
    onResult: (call: CallRecord) => options.onEvent?.({ kind: 'result', call }),
  };
  const { run, answers } = await runCalls(calls, itemAt(messages, itemAt(calls, 0).turn), turn, signal);
  for (const [position, call] of run.entries()) {
    call.result_turn = messages.length + position;
    if (call.metrics === null) continue;
    const known = notes.metrics[call.name];
    if (known === undefined) notes.metrics[call.name] = [call.metrics];
    else known.push(call.metrics);
  }
  return !addGiven(parts, answers, true);
}

export interface SpokenTo {
  /** The last turn as sampled. */
  spoken: string;
  /** Nothing is sampled after it, so its answer is not shown. */
  isLast: boolean;
}

/** Asks the simulated user, or the environment, for its answer. @returns whether this ends the rollout */
export async function userTurn(
  parts: RolloutParts,
  user: SimulatedUser,
  { spoken, isLast }: SpokenTo,
  signal: AbortSignal,
): Promise<boolean> {
  const { conversation, notes, rules } = parts;
  const turn = conversation.messages.length - 1;
  const word = await user.respond(conversation.messages, spoken, signal);
  if (word.score !== null) notes.turnScores.push({ turn, score: word.score });
  if (word.warning !== undefined) notes.warn('tool', word.warning);
  if (isLast || (word.terminate && word.text === '' && !word.messages?.length)) {
    if (word.terminate) notes.end('SUCCEEDED', null);
    return word.terminate;
  }
  const given = word.messages ? [...word.messages] : [{ role: 'user', content: word.text }];
  const fits = addGiven(parts, given, rules.checksUserLength);
  if (fits && word.terminate) notes.end('SUCCEEDED', null);
  return !fits || word.terminate;
}

/** @returns false if the messages do not fit response_length or the window: their tokens are then left out, as in verl */
function addGiven(parts: RolloutParts, messages: readonly Message[], isChecked: boolean): boolean {
  const { conversation, count, notes } = parts;
  const rendering = conversation.addGiven(messages, (one) => !isChecked || hasRoom(parts, one));
  if (rendering === null) {
    notes.finishReason = 'length';
    notes.end('MAX_CONTEXT_LIMIT_REACHED', 'context_full');
    return false;
  }
  count.given(rendering);
  notes.userTurns++;
  return true;
}

function hasRoom({ conversation, limits, options, rules, window }: RolloutParts, { ids }: Rendering): boolean {
  const { transcript } = conversation;
  if (!options.model.exact || !transcript.ids || !ids) return true;
  const room = window.size ?? limits.max_model_len ?? Number.POSITIVE_INFINITY;
  if (transcript.responseTokens! + ids.length >= limits.max_response_length) return false;
  return rules.version !== null || transcript.ids.length + ids.length < room;
}
