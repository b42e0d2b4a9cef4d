import type { JsonObject, JsonValue } from '../json/value.ts';
import { type Ended, endedByReason } from '../rollout/ended.ts';
import type { Context, Rollout } from '../rollout/rollout.ts';
import { type TimeSpan, timesOf } from '../rollout/times.ts';
import { buildRollout, type FoundMessage } from './build.ts';
import { argumentsKey, foundKey, Histories, type TracedCall } from './call-histories.ts';
import type { ReadContext } from './format.ts';

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
