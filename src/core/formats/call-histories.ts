import { isJsonObject, type JsonValue } from '../json/value.ts';
import type { Context } from '../rollout/rollout.ts';
import type { FoundMessage } from './build.ts';
import type { Payload } from './payload.ts';
import { parsed } from './values.ts';

/** A request to a model and its answer, as a tracer or a log recorded them. */
export interface TracedCall {
  input: Payload;
  output: Payload;
  /** Seconds since 1970. */
  start: number | null;
  end: number | null;
  error: string | null;
  /** The agent that asked, if spans name it. */
  agent: string | null;
  /** Only the id of the answer is recorded, or nothing: the turn exists and its content is unknown. */
  unknownReply?: { id: string; pointer: string };
}

/** A message in the histories of a trace. */
interface CallNode {
  key: string;
  calls: string;
  message: FoundMessage;
  isReply: boolean;
  context: number;
  at: number;
  children: CallNode[];
}

/** The identity of a message: role, text without blanks, calls, and the call that a result answers. Reasoning is not sent back. */
export function foundKey(message: FoundMessage): string {
  const said = message.texts.filter(({ isThought }) => !isThought).map(({ text }) => text);
  return JSON.stringify([
    message.role,
    said.join('').replaceAll(/\s+/g, ''),
    callsKey(message),
    message.role === 'tool' ? (message.answers ?? '') : '',
  ]);
}

const callsKey = ({ calls }: FoundMessage): string =>
  JSON.stringify((calls ?? []).map(({ name, arguments: args }) => [name, argumentsKey(args)]));

/** Arguments that were parsed and printed again are equal. */
export function argumentsKey(args: JsonValue | undefined): string {
  const value = typeof args === 'string' ? (parsed(args) ?? args.trim()) : (args ?? null);
  return JSON.stringify(withSortedKeys(value));
}

function withSortedKeys(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withSortedKeys);
  if (typeof value === 'bigint') return String(value);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, one]) => [key, withSortedKeys(one)]),
  );
}

const idsKey = ({ calls }: FoundMessage): string =>
  (calls ?? [])
    .map(({ id }) => id ?? '')
    .join(' ')
    .trim();
const saidText = ({ texts }: FoundMessage): string => texts.map(({ text }) => text).join('');

/** Whether a later trace repeats a reply of an earlier one, and so continues its conversation. */
export function goesOn(earlier: readonly TracedCall[], later: readonly TracedCall[]): boolean {
  const replies = new Set(earlier.flatMap(({ output }) => output.messages.filter(hasContent).map(foundKey)));
  return later.some(({ input }) => input.messages.some((one) => hasContent(one) && replies.has(foundKey(one))));
}

/** A reply with content: an empty one is like any other. */
const hasContent = (message: FoundMessage): boolean =>
  message.role === 'assistant' && (saidText(message) !== '' || (message.calls ?? []).length > 0);

/** The histories of a rollout; they share their beginnings. */
export class Histories {
  readonly messages: FoundMessage[] = [];
  readonly contexts: Context[] = [];
  readonly #roots: CallNode[] = [];
  #last: CallNode | null = null;

  get isEmpty(): boolean {
    return this.messages.length === 0;
  }

  /** @returns the turn of the reply, or null */
  add({ input, output, agent, unknownReply, error }: TracedCall): number | null {
    const { known, last } = input.messages.length === 0 ? { known: 0, last: this.#last } : this.#place(input);
    let open = last;
    let context = this.#contextFor(input.messages, known, last, agent);
    for (const message of input.messages.slice(known)) {
      open = this.#lay(open, message, context, false);
      context = open.context;
    }
    const replies =
      output.messages.length > 0 || unknownReply === undefined || error !== null
        ? output.messages
        : [
            {
              role: 'assistant',
              texts: [{ pointer: unknownReply.pointer, text: `[the reply ${unknownReply.id} is not recorded here]` }],
              isLost: true as const,
            },
          ];
    let turn: number | null = null;
    for (const message of replies) {
      open = this.#lay(open, message, context, message.role === 'assistant');
      if (message.role === 'assistant') turn = open.at;
    }
    this.#last = open;
    return turn;
  }

  #lay(parent: CallNode | null, message: FoundMessage, context: number, isReply: boolean): CallNode {
    const at = this.messages.length;
    const said: FoundMessage = { ...message, context, ...(isReply ? {} : { trained: false }) };
    this.messages.push(said);
    const node: CallNode = {
      key: foundKey(message),
      calls: idsKey(message),
      message: said,
      isReply,
      context,
      at,
      children: [],
    };
    (parent === null ? this.#roots : parent.children).push(node);
    return node;
  }

  /** How much of a history is known; among equal siblings the newest counts. */
  #place({ messages, isCut }: Payload): { known: number; last: CallNode | null } {
    let level = this.#roots;
    let last: CallNode | null = null;
    for (const [at, message] of messages.entries()) {
      const isEdge = isCut === true && at === messages.length - 1;
      const next = level.findLast((node) => isSameMessage(node, message, isEdge));
      if (next === undefined) return { known: at, last };
      next.message.texts = withThoughts(next.message, message);
      last = next;
      level = next.children;
    }
    return { known: messages.length, last };
  }

  /** The context that goes on behind `last`, or a new one. */
  #contextFor(input: readonly FoundMessage[], known: number, last: CallNode | null, agent: string | null): number {
    if (this.contexts.length === 0) {
      this.contexts.push({ kind: 'main', name: agent, after: null });
      return 0;
    }
    if (last !== null && last.children.length === 0) return last.context;
    const startsOver = input.slice(0, known).every(({ role }) => role === 'system');
    const kind = !startsOver ? 'branch' : this.#isOtherAgent(input, agent) ? 'subagent' : 'compaction';
    const after = startsOver ? (this.#last?.at ?? null) : (last?.at ?? null);
    this.contexts.push({ kind, name: agent, after });
    return this.contexts.length - 1;
  }

  /** Another system prompt or name, or a call of the last history still waits for its result. */
  #isOtherAgent(input: readonly FoundMessage[], agent: string | null): boolean {
    const main = this.contexts[0];
    if (agent !== null && main !== undefined && main.name !== null && main.name !== agent) return true;
    const system = (list: readonly FoundMessage[]): string =>
      list
        .filter(({ role }) => role === 'system')
        .map(saidText)
        .join('\n');
    if (system(input) !== system(this.messages.filter(({ context }) => (context ?? 0) === 0))) return true;
    return (this.#last?.message.calls?.length ?? 0) > 0;
  }
}

function isSameMessage(node: CallNode, message: FoundMessage, isEdge: boolean): boolean {
  if (node.message.role !== message.role) return false;
  if (node.key === foundKey(message)) return true;
  if (node.isReply) {
    // SDKs send a reply back with other words around its calls.
    const ids = idsKey(message);
    if (ids !== '' && ids === node.calls) return true;
    if (node.message.isLost) return true;
  }
  if (message.role === 'tool' && message.answers && node.message.answers === message.answers)
    return isEdge || sameStart(node, message);
  return isEdge && sameStart(node, message);
}

/** Tracers that lose the reasoning of a reply may hold it in the history of the next request. */
function withThoughts(reply: FoundMessage, repeated: FoundMessage): FoundMessage['texts'] {
  if (reply.role !== 'assistant' || reply.texts.some(({ isThought }) => isThought)) return reply.texts;
  return [...repeated.texts.filter(({ isThought }) => isThought), ...reply.texts];
}

const sameStart = (node: CallNode, message: FoundMessage): boolean =>
  saidText(node.message).startsWith(saidText(message));
