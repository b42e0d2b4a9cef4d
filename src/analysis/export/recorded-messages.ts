import { isJsonObject, type JsonObject, type JsonValue, plainJson } from '../../core/json/value.ts';
import type { Turn } from '../../core/rollout/rollout.ts';
import { argumentsText } from './arguments-text.ts';
import type { ExportMessage } from './message.ts';

export type RecordedMessage = Pick<ExportMessage, 'content' | 'reasoning' | 'calls' | 'answers' | 'name'>;

/**
 * The messages that a record holds beside its text, one per turn. They count only if they match the text: equal roles,
 * and every content, reasoning and call name occurs in the text of its turn. Else null, and the text is cut instead.
 */
export function recordedMessages(extras: JsonObject, turns: readonly Turn[]): RecordedMessage[] | null {
  const { messages } = extras;
  if (!Array.isArray(messages) || messages.length !== turns.length) return null;
  const read: RecordedMessage[] = [];
  for (const [at, turn] of turns.entries()) {
    const message = messages[at];
    if (!isJsonObject(message) || message.role !== turn.role) return null;
    const one = readMessage(message);
    if (one === null) return null;
    const pieces = [one.content, one.reasoning ?? '', ...one.calls.map(({ name }) => name)];
    if (!pieces.every((piece) => turn.text.includes(piece.trim()))) return null;
    read.push(one);
  }
  return read;
}

function readMessage(message: JsonObject): RecordedMessage | null {
  const content = message.content ?? '';
  if (typeof content !== 'string') return null;
  const reasoning = message.reasoning_content ?? message.reasoning ?? null;
  const listed = message.tool_calls ?? [];
  if (!Array.isArray(listed)) return null;
  const calls = listed.map(readCall);
  if (calls.some((call) => call === null)) return null;
  return {
    content,
    reasoning: typeof reasoning === 'string' && reasoning !== '' ? reasoning : null,
    calls: calls.filter((call) => call !== null),
    answers: typeof message.tool_call_id === 'string' ? message.tool_call_id : null,
    name: typeof message.name === 'string' ? message.name : null,
  };
}

function readCall(value: JsonValue): ExportMessage['calls'][number] | null {
  if (!isJsonObject(value)) return null;
  const call = isJsonObject(value.function) ? value.function : value;
  if (typeof call.name !== 'string') return null;
  const args = call.arguments ?? {};
  const text = typeof args === 'string' ? args : argumentsText(args);
  return {
    id: typeof value.id === 'string' ? value.id : null,
    name: call.name,
    arguments: text,
    isJson: isObjectText(text),
  };
}

function isObjectText(text: string): boolean {
  try {
    return isJsonObject(plainJson(text));
  } catch {
    return false;
  }
}
