import { createHash } from 'node:crypto';
import { printJson } from '../../core/json/print.ts';
import { type JsonObject, type JsonValue, objectIn, plainJson } from '../../core/json/value.ts';
import { jsonObjects, withSortedKeys } from './values.ts';

/** A message in the tree of a rollout's histories. */
export interface TreeMessage {
  id: number;
  parent: TreeMessage | null;
  key: string;
  message: JsonObject;
  /** The history that it was first part of. */
  history: number;
  /** The model wrote it in answer to a recorded request. */
  isReply: boolean;
  children: Map<string, TreeMessage[]>;
}

/**
 * The identity of a message: role, text, calls, and the call a result answers. Clients send a reply back with other keys than they received
 * (null for '', no refusal, no reasoning, cache marks), so those are ignored.
 */
export function messageKey(message: JsonObject): string {
  const parts = [String(message.role), contentText(message.content).trim(), calls(message), results(message)];
  return createHash('sha256').update(printJson(parts)).digest('hex').slice(0, 24);
}

function contentText(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content;
  return jsonObjects(content)
    .filter(
      ({ type }) =>
        type !== 'tool_use' && type !== 'tool_result' && type !== 'thinking' && type !== 'redacted_thinking',
    )
    .map((part) => (typeof part.text === 'string' ? part.text : printJson(withoutMarks(part))))
    .join('\n');
}

const withoutMarks = ({ cache_control: _mark, ...part }: JsonObject): JsonObject => part;

function calls(message: JsonObject): JsonValue[] {
  const listed = jsonObjects(message.tool_calls).map(({ function: inner }) => objectIn(inner));
  const blocks = jsonObjects(message.content)
    .filter(({ type }) => type === 'tool_use')
    .map(({ name, input }) => ({ name, arguments: input }));
  return [...listed, ...blocks].map(({ name, arguments: args }) => [name ?? null, sameArguments(args)]);
}

/** Arguments that were parsed and printed again are equal. */
function sameArguments(args: JsonValue | undefined): JsonValue {
  if (typeof args !== 'string') return withSortedKeys(args ?? null);
  try {
    return withSortedKeys(plainJson(args));
  } catch {
    return args;
  }
}

function results(message: JsonObject): JsonValue[] {
  const own = typeof message.tool_call_id === 'string' ? [message.tool_call_id] : [];
  const blocks = jsonObjects(message.content)
    .filter(({ type }) => type === 'tool_result')
    .map(({ tool_use_id, content }) => [tool_use_id ?? null, contentText(content)]);
  return [...own, ...blocks];
}

/** A place in a tree that a history reaches. */
export interface TreePlace {
  /** The last known message. */
  last: TreeMessage;
  /** Number of known messages of the history. */
  known: number;
  /** Replies of recorded requests among them. */
  replies: number;
  /** The reply that the next message repeats in the client's words, if any. */
  retold?: TreeMessage;
}

/** The best place first: more replies, then a reply that nothing follows yet, then more known messages, then the newest. */
export const byPlace = (a: TreePlace, b: TreePlace): number =>
  b.replies - a.replies ||
  Number(isOpenEnd(b.retold ?? b.last)) - Number(isOpenEnd(a.retold ?? a.last)) ||
  b.known - a.known ||
  b.last.id - a.last.id;

const isOpenEnd = ({ isReply, children }: TreeMessage): boolean => isReply && children.size === 0;

/** Places at which a client continues with its own version of a reply; else the place itself. */
function orRetold(place: TreePlace, messages: readonly JsonObject[]): TreePlace[] {
  const { last, known, replies } = place;
  const [told, next] = [messages[known], messages[known + 1]];
  // An assistant's message at the end is the beginning of an answer.
  if (told?.role !== 'assistant' || next === undefined) return [place];
  const retold = [...last.children.values()]
    .flat()
    .filter((reply) => isOpenEnd(reply) && isRetelling(told, reply.message));
  return retold.length === 0 ? [place] : retold.map((reply) => ({ last, known, replies: replies + 1, retold: reply }));
}

const isEitherEnd = (whole: string, part: string): boolean => whole.startsWith(part) || whole.endsWith(part);

/** Some agents cut a reply, drop its reasoning, or write its calls as text. */
function isRetelling(told: JsonObject, reply: JsonObject): boolean {
  const [now, then] = [told, reply].map(({ content }) => contentText(content).trim());
  if (now === undefined || then === undefined) return false;
  if (now !== '' && then !== '') return isEitherEnd(now, then) || isEitherEnd(then, now);
  const names = calls(reply).map((call) => (Array.isArray(call) ? String(call[0]) : ''));
  return names.length > 0 && (now === '' ? calls(told).length > 0 : names.every((name) => now.includes(name)));
}

/** The histories of one rollout; they share their beginnings. */
export class ConversationTree {
  readonly #roots = new Map<string, TreeMessage[]>();
  #count = 0;

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** All places where a history ends or leaves the tree. There are several only if the model gave one reply twice. */
  places(keys: readonly string[], messages: readonly JsonObject[]): TreePlace[] {
    const places: TreePlace[] = [];
    let reached: TreePlace[] = [];
    for (let known = 0; known <= keys.length; known++) {
      const key = keys[known] ?? '';
      const next = (level: ReadonlyMap<string, TreeMessage[]>, replies: number): TreePlace[] =>
        (level.get(key) ?? []).map((last) => ({ last, known: known + 1, replies: replies + Number(last.isReply) }));
      const further = known === 0 ? next(this.#roots, 0) : [];
      for (const place of reached) {
        const after = known === keys.length ? [] : next(place.last.children, place.replies);
        if (after.length === 0) places.push(...orRetold(place, messages));
        for (const one of after) further.push(one);
      }
      reached = further;
    }
    return places.sort(byPlace);
  }

  add(parent: TreeMessage | null, message: Pick<TreeMessage, 'key' | 'message' | 'history' | 'isReply'>): TreeMessage {
    const one: TreeMessage = { ...message, id: this.#count++, parent, children: new Map() };
    const level = parent === null ? this.#roots : parent.children;
    level.set(one.key, [...(level.get(one.key) ?? []), one]);
    return one;
  }
}
