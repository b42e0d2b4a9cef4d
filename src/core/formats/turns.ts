import { readAssistantText } from '../chat/assistant-parts.ts';
import type { ParsedCall } from '../chat/calls/call.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { itemAt } from '../lists/at.ts';
import { isUnclosed } from '../rollout/call-error.ts';
import type { ToolCall, Turn } from '../rollout/rollout.ts';
import { idOf, numberOf } from './values.ts';

/** A chat message's text: a string, or the texts of its parts. */
export function messageContentText(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return '';
  return value.map((part) => (isJsonObject(part) && typeof part.text === 'string' ? part.text : '')).join('');
}

/** A turn of the given text, split into thoughts and calls; calls are numbered from `firstCall`. */
export function turnOf(index: number, role: string, text: string, firstCall: number): Turn {
  const turn: Turn = {
    index,
    role,
    text,
    trained: false,
    confidence: 'marked',
    reward: null,
    toolCalls: [],
    parts: text === '' ? [] : [{ kind: 'text', start: 0, end: text.length }],
  };
  if (role !== 'assistant') return turn;
  const { parts, calls } = readAssistantText(text);
  turn.parts = parts;
  turn.toolCalls = shownCalls(calls, firstCall);
  return turn;
}

/** Calls as they appear in a text: no id, and no result yet. */
export const shownCalls = (calls: readonly ParsedCall[], first: number): ToolCall[] =>
  calls.map(({ name, arguments: args, raw, error }, position) => ({
    index: first + position,
    id: null,
    name,
    arguments: args,
    raw,
    error,
    resultTurn: null,
  }));

/**
 * Adds the recorded data of a turn's calls (id, the turn of the result, decoded arguments) to the calls in its text.
 * Recorded calls that the text does not show (another grammar) follow without a position in it. An unclosed call does
 * not count.
 */
export function layRecordedCalls(
  turn: Turn,
  recorded: readonly JsonObject[],
  firstCall: number,
  turnCount: number,
): void {
  const shown = turn.toolCalls.filter((call) => !isUnclosed(call));
  if (recorded.length > 0 && shown.length !== recorded.length) {
    turn.parts = turn.text === '' ? [] : [{ kind: 'text', start: 0, end: turn.text.length }];
    turn.toolCalls = recorded.map((record, position) => recordedCall(record, firstCall + position, turnCount));
    return;
  }
  for (const [position, record] of recorded.entries()) {
    const { id, resultTurn, reward, metrics } = recordedCall(record, 0, turnCount);
    Object.assign(itemAt(shown, position), {
      id,
      resultTurn,
      ...(reward != null && { reward }),
      ...(metrics != null && { metrics }),
    });
  }
}

function recordedCall(record: JsonObject, index: number, turnCount: number): ToolCall {
  const result = numberOf(record.result_turn);
  const isTurn = result !== null && Number.isInteger(result) && result >= 0 && result < turnCount;
  const args = record.arguments ?? null;
  return {
    index,
    id: idOf(record.id),
    name: idOf(record.name),
    arguments: args,
    raw: typeof record.raw === 'string' ? record.raw : '',
    error: args === null && typeof record.error === 'string' ? record.error : null,
    resultTurn: isTurn ? result : null,
    ...(numberOf(record.reward) !== null && { reward: numberOf(record.reward) }),
    ...(record.metrics != null && { metrics: record.metrics }),
  };
}
