import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { type Ended, endedByReason } from '../rollout/ended.ts';
import type { Context, Rollout } from '../rollout/rollout.ts';
import { type TimeSpan, timesOf } from '../rollout/times.ts';
import { buildRollout, type FoundMessage } from './build.ts';
import type { ReadContext } from './format.ts';
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

/** A tool that ran, as a tracer recorded it. */
export interface TracedRun {
  /** Any function of the program: a tool only if a model asked for it. */
  isGuess?: true;
  id: string | null;
  name: string | null;
  input: JsonValue | undefined;
  result: { pointer: string; text: string } | null;
  error: string | null;
  start: number | null;
  end: number | null;
}

/** All that a trace says of one rollout. */
export interface TraceParts {
  format: string;
  record: JsonObject;
  calls: readonly TracedCall[];
  runs: readonly TracedRun[];
  uid: string | null;
  group?: string | null;
  status?: string | null;
  score?: number | null;
  named?: Record<string, number | null> | null;
  groundTruth?: JsonValue | undefined;
  extras: JsonObject;
  /** Damage that a reader of the rollout should know of. */
  problems: readonly string[];
  /** All recorded moments, seconds since 1970: they bound the duration. */
  moments: readonly number[];
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

/**
 * Calls of models as one rollout: each repeats the history so far, so that histories are joined by their beginnings into a tree. A message
 * is laid once, results that only a tool's span holds are added behind their calls, and failures of tools are noted.
 */
export function rolloutOfCalls(parts: TraceParts, context: ReadContext): Rollout {
  const histories = new Histories();
  const problems = [...parts.problems];
  const spans: { span: Omit<TimeSpan, 'turn'>; turn: number | null }[] = [];
  const calls = inOrder(parts.calls);
  let withoutInput = 0;
  for (const call of calls) {
    if (call.input.messages.length === 0 && !histories.isEmpty) withoutInput++;
    const turn = histories.add(call);
    if (call.start !== null && call.end !== null)
      spans.push({ span: { kind: 'model', start: call.start, end: call.end }, turn });
  }
  if (withoutInput > 0)
    problems.push(
      `the input of ${countText(withoutInput, 'call')} is not recorded: their place in the history is unknown`,
    );
  const cut = calls.filter(({ input, output }) => input.isCut || output.isCut).length;
  if (cut > 0) problems.push(`the tracer cut off contents of ${countText(cut, 'call')}`);
  const { messages, contexts } = histories;
  const left = layRuns(messages, contexts, parts.runs, spans);
  const errors = calls.flatMap(({ error }) => (error === null ? [] : [error]));
  const last = calls.at(-1);
  const start = parts.moments.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY);
  const wall = parts.moments.reduce((most, at) => Math.max(most, at), Number.NEGATIVE_INFINITY) - start;
  const times = Number.isFinite(start)
    ? timesOf(
        start,
        wall,
        spans.map(({ span, turn }) => ({ ...span, start: span.start - start, end: span.end - start, turn })),
      )
    : null;
  return buildRollout(
    {
      format: parts.format,
      record: parts.record,
      known: new Set(Object.keys(parts.record)),
      messages,
      hasCallsApart: true,
      contexts: contexts.length === 0 ? [{ kind: 'main', name: null, after: null }] : contexts,
      uid: parts.uid,
      group: parts.group ?? null,
      score: parts.score ?? null,
      named: parts.named ?? null,
      groundTruth: parts.groundTruth,
      status: parts.status ?? (errors.length > 0 ? 'error' : null),
      tools: calls.findLast(({ input }) => input.tools !== undefined)?.input.tools,
      ended: endedBy(last),
      extras: {
        ...parts.extras,
        ...aboutCalls(calls),
        ...(errors.length > 0 ? { errors } : {}),
        ...(left.length > 0 ? { tool_runs: left } : {}),
        ...(problems.length > 0 ? { problems } : {}),
      },
      times,
    },
    context,
  );
}

const countText = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;

/** Contents that the tracer cut off say nothing about how the model ended. */
function endedBy(last: TracedCall | undefined): Ended | null {
  if (last === undefined) return null;
  if (last.error !== null) return { how: 'aborted', evidence: `the last call failed: ${last.error.slice(0, 60)}` };
  const finish = last.output.finish === undefined ? null : endedByReason('finish', last.output.finish);
  return finish ?? (last.output.isCut ? { how: 'unknown', evidence: 'the tracer cut off the last answer' } : null);
}

function aboutCalls(calls: readonly TracedCall[]): JsonObject {
  const models = [...new Set(calls.flatMap(({ input, output }) => output.model ?? input.model ?? []))];
  const settings = calls.find(({ input }) => Object.keys(input.settings ?? {}).length > 0)?.input.settings;
  const sum = (key: 'input' | 'output' | 'cost'): number | null => {
    const known = calls.flatMap(({ output, input }) => (output.usage ?? input.usage)?.[key] ?? []);
    return known.length === 0 ? null : known.reduce((all, one) => all + one, 0);
  };
  const [input, output, cost] = [sum('input'), sum('output'), sum('cost')];
  return {
    ...(models.length > 0 ? { model: models.length === 1 ? models[0] : models } : {}),
    ...(settings === undefined ? {} : { settings }),
    requests: calls.length,
    ...(input === null && output === null ? {} : { usage: { input_tokens: input, output_tokens: output } }),
    ...(cost === null || cost === 0 ? {} : { cost }),
  };
}

/** Calls by their time, but none before another whose reply its history holds: clocks of machines differ. */
function inOrder(calls: readonly TracedCall[]): TracedCall[] {
  const byTime = [...calls].sort((a, b) => (a.start ?? 0) - (b.start ?? 0));
  const replies = new Map<string, TracedCall | null>();
  for (const call of byTime)
    for (const message of call.output.messages) {
      const key = foundKey(message);
      replies.set(key, replies.has(key) ? null : call);
    }
  const laid = new Set<TracedCall>();
  const ordered: TracedCall[] = [];
  for (const first of byTime) {
    // Depth first without recursion: a chain may have thousands of calls.
    const stack = [{ call: first, isOpen: false }];
    const under = new Set<TracedCall>();
    while (stack.length > 0) {
      const { call, isOpen } = stack.pop()!;
      if (laid.has(call)) continue;
      if (isOpen) {
        laid.add(call);
        ordered.push(call);
        continue;
      }
      if (under.has(call)) continue;
      under.add(call);
      stack.push({ call, isOpen: true });
      for (const message of call.input.messages) {
        const before = message.role === 'assistant' ? replies.get(foundKey(message)) : undefined;
        if (before && before !== call && !laid.has(before) && !under.has(before))
          stack.push({ call: before, isOpen: false });
      }
    }
  }
  return ordered;
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
function argumentsKey(args: JsonValue | undefined): string {
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
class Histories {
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

/**
 * Lays the runs of tools onto the calls: by id, else by name and arguments in their order. @returns the runs that belong to no recorded
 * call
 */
function layRuns(
  messages: FoundMessage[],
  contexts: readonly Context[],
  runs: readonly TracedRun[],
  spans: { span: Omit<TimeSpan, 'turn'>; turn: number | null }[],
): JsonObject[] {
  const byId = new Map<string, FoundMessage>();
  const byWhat = new Map<string, { id: string | null; message: FoundMessage }[]>();
  const results = new Map<string, FoundMessage>();
  for (const message of messages) {
    for (const { id, name, arguments: args } of message.calls ?? []) {
      if (id !== null) byId.set(id, message);
      const key = `${name} ${argumentsKey(args)}`;
      byWhat.set(key, [...(byWhat.get(key) ?? []), { id, message }]);
    }
    if (message.role === 'tool' && message.answers) results.set(message.answers, message);
  }
  const left: JsonObject[] = [];
  const late: { after: FoundMessage; message: FoundMessage }[] = [];
  const at = new Map<TracedRun, FoundMessage>();
  for (const run of runs) {
    const what = byWhat.get(`${run.name} ${argumentsKey(run.input)}`)?.shift();
    const id = run.id !== null && byId.has(run.id) ? run.id : (what?.id ?? null);
    const asked = id === null ? what?.message : (byId.get(id) ?? what?.message);
    if (asked === undefined) {
      if (!run.isGuess) left.push(runJson(run));
      continue;
    }
    const known = id === null ? undefined : results.get(id);
    const outcome =
      run.error === null ? undefined : { isFailure: true, evidence: `span error ${run.error.slice(0, 80)}` };
    if (known !== undefined) {
      if (outcome !== undefined && known.outcome === undefined) known.outcome = outcome;
      at.set(run, known);
    } else if (id !== null && run.result !== null) {
      const message: FoundMessage = {
        role: 'tool',
        trained: false,
        answers: id,
        texts: [run.result],
        ...(outcome === undefined ? {} : { outcome }),
        context: asked.context ?? 0,
      };
      late.push({ after: asked, message });
      at.set(run, message);
    } else left.push(runJson(run));
  }
  for (const { after, message } of late) insertLate(messages, contexts, after, message, spans);
  const placeOf = new Map(messages.map((message, index) => [message, index]));
  for (const run of runs) {
    const message = at.get(run);
    if (run.start !== null && run.end !== null)
      spans.push({
        span: { kind: 'tool', start: run.start, end: run.end },
        turn: message === undefined ? null : (placeOf.get(message) ?? null),
      });
  }
  return left;
}

/** Behind the call and the results that are there already. */
function insertLate(
  messages: FoundMessage[],
  contexts: readonly Context[],
  after: FoundMessage,
  message: FoundMessage,
  spans: { turn: number | null }[],
): void {
  let place = messages.indexOf(after) + 1;
  while (messages[place]?.role === 'tool' && messages[place]?.context === after.context) place++;
  messages.splice(place, 0, message);
  for (const context of contexts) if (context.after !== null && context.after >= place) context.after++;
  for (const span of spans) if (span.turn !== null && span.turn >= place) span.turn++;
}

const runJson = ({ id, name, input, result, error }: TracedRun): JsonObject => ({
  ...(id === null ? {} : { id }),
  name,
  input: input ?? null,
  output: result?.text ?? null,
  ...(error === null ? {} : { error }),
});
