import type { JsonObject } from '../../core/json/value.ts';
import { itemAt } from '../../core/lists/at.ts';
import type { Message } from '../common/message.ts';
import type { Generation } from '../model/model.ts';
import type { LoopRules } from './rules.ts';
import type { CallRecord } from './tool-calls.ts';
import type { ToolGrammar } from './tool-grammar.ts';

/** A sampled turn as a message, and its calls, not run yet. */
export interface ReadTurn {
  message: Message;
  calls: CallRecord[];
}

export interface TurnPlace {
  /** Index of the message. */
  turn: number;
  /** The calls of earlier turns. */
  earlier: readonly CallRecord[];
  /** Without tools, nothing is parsed as a call. */
  schemas: readonly JsonObject[];
  rules: LoopRules;
}

/** Uses the server's parsed calls, else those written in the text. A turn truncated by its length is not searched for calls. */
export function readTurn(
  generation: Generation,
  grammar: ToolGrammar,
  { turn, earlier, schemas, rules }: TurnPlace,
): ReadTurn {
  const { text, reasoning, finishReason, toolCalls: native } = generation;
  const message: Message = { role: 'assistant', content: text };
  if (reasoning) message.reasoning_content = reasoning;
  const isCut = finishReason === 'length' ? !rules.readsCutTurns : finishReason === 'content_filter';
  if (isCut) return { message, calls: [] };
  if (schemas.length === 0)
    return { message: native.length > 0 ? { ...message, tool_calls: native } : message, calls: [] };
  const written = native.length > 0 ? null : grammar.read(text, schemas);
  const found: readonly { name: string; arguments: string; raw: string; error: string | null }[] =
    written?.calls
      .filter(({ error }) => error === null || rules.answersEveryCall)
      .map((call) => (rules.version === null ? call : { ...call, arguments: call.verlArguments })) ??
    native.map(({ function: fn }) => ({ name: fn.name, arguments: fn.arguments, raw: fn.arguments, error: null }));
  if (found.length === 0) return { message, calls: [] };
  // Some servers number the calls of every turn from 0, or omit ids; results are matched by id, so each must be unique.
  const ids = new Set(earlier.map(({ id }) => id));
  const idOf = (given: string | undefined, position: number): string => {
    let id = given && !ids.has(given) ? given : `call_${earlier.length + position}`;
    while (ids.has(id)) id = `${id}_`;
    ids.add(id);
    return id;
  };
  const calls = found.map(
    ({ name, raw, error }, position): CallRecord => ({
      index: earlier.length + position,
      turn,
      id: idOf(native[position]?.id, position),
      name,
      arguments: null,
      raw,
      error,
      fault: error === null ? null : 'model',
      result: null,
      result_turn: null,
      reward: null,
      metrics: null,
      started: null,
      duration: null,
      waited: null,
    }),
  );
  if (written) message.content = written.content;
  message.tool_calls = calls.map(({ id, name }, position) => ({
    id,
    type: 'function',
    function: { name, arguments: itemAt(found, position).arguments },
  }));
  return { message, calls };
}
