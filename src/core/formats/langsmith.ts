import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../json/value.ts';
import { messagesOf } from './any-message.ts';
import type { FoundMessage } from './build.ts';
import { foundKey } from './call-histories.ts';
import { type CallUsage, callUsage, payloadOf } from './payload.ts';
import type { TraceSpan } from './spans.ts';
import { plainSpan, type TracedSpan, type Tracer, toolOutput, tracerFormat, tracerSession } from './tracer.ts';
import { idOf, numberOf, objectsOf, parsed } from './values.ts';

/** Runs of LangSmith, flat or as a tree: what its SDK sends, lists, and exports. */
const langsmithTracer: Tracer = {
  name: 'langsmith',
  basis: 'files',
  mapping: {
    turns: 'inputs and outputs of runs of the type llm',
    'results of tools': 'the history, else outputs of runs of the type tool',
    'named rewards': 'feedback_stats: the averages',
    uid: 'trace_id',
    times: 'start_time, end_time',
  },
  isEvent: (record) =>
    typeof record.run_type === 'string' &&
    (record.inputs !== undefined || record.outputs !== undefined) &&
    (record.trace_id !== undefined ||
      record.dotted_order !== undefined ||
      record.parent_run_id !== undefined ||
      record.id !== undefined),
  eventsOf: flattened,
  keyOf: ({ trace_id, dotted_order, id }) =>
    idOf(trace_id ?? (typeof dotted_order === 'string' ? rootOf(dotted_order) : id) ?? null),
  eventIdOf: ({ id }) => idOf(id ?? null),
  conversationOf(event) {
    const { thread_id: thread, session_id: session, conversation_id: conversation } = metadataOf(event);
    const id = idOf(thread ?? conversation ?? session ?? null);
    return id === null ? null : { id, isCertain: false };
  },
  spansOf(events) {
    const traced = events.map((event, at) => tracedRun(event, `/events/${at}`));
    const asked = events.filter((event) => event.run_type === 'llm');
    // LangGraph keeps the messages with the graph; its model runs have the prompt as one text.
    if (asked.some(({ inputs }) => isJsonObject(inputs) && Array.isArray(inputs.messages))) return traced;
    const tops = topsWithMessages(events);
    if (tops.size === 0) return traced;
    return traced.map((one, at) => {
      const event = events[at] ?? {};
      if (event.run_type === 'llm') return { span: one.span, kind: 'other' };
      return tops.has(event) ? graphRun(event, one.span, asked) : one;
    });
  },
  aboutOf(events) {
    const root = events.find((event) => (event.parent_run_id ?? null) === null) ?? events[0] ?? {};
    const stats = objectIn(root.feedback_stats);
    const named = Object.entries(stats).flatMap(([name, one]): [string, number][] => {
      const score = isJsonObject(one) ? numberOf(one.avg) : null;
      return score === null ? [] : [[name, score]];
    });
    const thread = metadataOf(root).thread_id;
    return {
      named: named.length === 0 ? null : Object.fromEntries(named),
      groundTruth: root.reference_outputs ?? undefined,
      extras: {
        ...(typeof thread === 'string' ? { conversation: thread } : {}),
        ...(Array.isArray(root.tags) && root.tags.length > 0 ? { tags: root.tags } : {}),
        ...(typeof root.session_name === 'string' ? { project: root.session_name } : {}),
      },
    };
  },
};

export const langsmith = tracerSession(langsmithTracer);
export const langsmithFormat = tracerFormat(langsmithTracer);

/** Deeper trees than this are loops of a broken writer. */
const DEPTH = 200;

/** A run and those below it, as a flat list. */
function flattened(run: JsonObject): JsonObject[] {
  const found: JsonObject[] = [];
  const open: { run: JsonObject; parent: JsonObject | null; depth: number }[] = [{ run, parent: null, depth: 0 }];
  while (open.length > 0) {
    const { run: one, parent, depth } = open.pop()!;
    const { child_runs: children, ...own } = one;
    found.push({
      ...own,
      ...(own.parent_run_id === undefined && parent !== null ? { parent_run_id: parent.id ?? null } : {}),
      ...(own.trace_id === undefined && parent !== null ? { trace_id: parent.trace_id ?? parent.id ?? null } : {}),
    });
    const self = found.at(-1) ?? null;
    if (depth < DEPTH)
      for (const child of objectsOf(children).reverse()) open.push({ run: child, parent: self, depth: depth + 1 });
  }
  return found;
}

/** `20261123T043517663612Z01a2….2026…`: the id of the first run. */
const rootOf = (order: string): string => order.split('.')[0]?.replace(/^\d+T\d+Z/, '') ?? order;

/** The runs with messages below no other such run: the graph, or its parts where an export left it out. */
function topsWithMessages(events: readonly JsonObject[]): Set<JsonObject> {
  const byId = new Map(events.map((event) => [idOf(event.id ?? null) ?? '', event]));
  const holds = (event: JsonObject) => event.run_type !== 'llm' && event.run_type !== 'tool' && hasMessages(event);
  return new Set(
    events.filter((event) => {
      const seen = new Set([event]);
      for (let one = byId.get(parentId(event)); one !== undefined && !seen.has(one); one = byId.get(parentId(one))) {
        if (holds(one)) return false;
        seen.add(one);
      }
      return holds(event);
    }),
  );
}

const parentId = ({ parent_run_id: parent }: JsonObject): string => idOf(parent ?? null) ?? '';

const hasMessages = ({ inputs, outputs }: JsonObject): boolean =>
  [inputs, outputs].some((held) => isJsonObject(held) && Array.isArray(held.messages));

/** A graph as one request: its outputs repeat its inputs, followed by all replies and results. */
function graphRun(run: JsonObject, span: TraceSpan, asked: readonly JsonObject[]): TracedSpan {
  return {
    span,
    kind: 'model',
    call: () => {
      const input = payloadOf(run.inputs, `${span.at}/inputs`, 'user');
      const output = conversationOf(run.outputs, `${span.at}/outputs`);
      const keys = input.messages.map(foundKey);
      const isRepeated = keys.every((key, at) => output[at] !== undefined && foundKey(output[at]) === key);
      const usages = asked.flatMap((one) => runUsage(one, objectIn(one.outputs)) ?? []);
      const held = usages.length > 0 ? usages : messageUsages(run.outputs);
      const sum = (key: 'input' | 'output' | 'cost') =>
        held.reduce<number | null>((all, one) => (one[key] === null ? all : (all ?? 0) + one[key]), null);
      const models = asked.flatMap(
        (one) => idOf(metadataOf(one).ls_model_name ?? parametersOf(one).model ?? null) ?? [],
      );
      const tools = asked.map((one) => parametersOf(one).tools).find((one) => one !== undefined && one !== null);
      return {
        input: { ...input, ...(tools === undefined ? {} : { tools }) },
        output: {
          messages: isRepeated ? output.slice(keys.length) : output,
          ...(held.length === 0 ? {} : { usage: { input: sum('input'), output: sum('output'), cost: sum('cost') } }),
          ...(models[0] === undefined ? {} : { model: models[0] }),
          ...lastFinish(run.outputs),
        },
        // The graph's time is that of its tools as well.
        start: null,
        end: null,
      };
    },
  };
}

const parametersOf = ({ extra }: JsonObject): JsonObject => objectIn(objectIn(extra).invocation_params);

const conversationOf = (value: JsonValue | undefined, at: string): FoundMessage[] =>
  isJsonObject(value) && Array.isArray(value.messages) ? messagesOf(objectsOf(value.messages), `${at}/messages`) : [];

const heldMessages = (value: JsonValue | undefined): JsonObject[] =>
  (isJsonObject(value) ? objectsOf(value.messages) : []).map((one) =>
    isJsonObject(one.kwargs) ? one.kwargs : isJsonObject(one.data) ? one.data : one,
  );

const messageUsages = (value: JsonValue | undefined): CallUsage[] =>
  heldMessages(value).flatMap((one) => callUsage(one.usage_metadata) ?? []);

function lastFinish(value: JsonValue | undefined): { finish?: string } {
  const about = heldMessages(value).at(-1)?.response_metadata;
  const finish = isJsonObject(about) ? idOf(about.finish_reason ?? about.stop_reason ?? null) : null;
  return finish === null ? {} : { finish };
}

const metadataOf = ({ extra }: JsonObject): JsonObject => objectIn(objectIn(extra).metadata);

function tracedRun(run: JsonObject, at: string): TracedSpan {
  const span = plainSpan(at, {
    trace: langsmithTracer.keyOf(run),
    id: run.id,
    parent: run.parent_run_id,
    name: run.name,
    start: run.start_time,
    end: run.end_time,
    error: idOf(run.error ?? null) || null,
  });
  const outputs = objectIn(run.outputs);
  const inputs = objectIn(run.inputs);
  if (run.run_type === 'tool') {
    const held = outputs.output ?? outputs.result ?? (Object.keys(outputs).length > 0 ? outputs : undefined);
    const message = isJsonObject(held) ? (isJsonObject(held.kwargs) ? held.kwargs : held) : {};
    const text = message.content ?? held;
    const asked = typeof inputs.input === 'string' ? (pythonless(inputs.input) ?? inputs.input) : inputs;
    return {
      span,
      kind: 'tool',
      run: () => ({
        id: idOf(message.tool_call_id ?? null),
        input: asked,
        result: toolOutput(text, `${at}/outputs`),
        error: span.error ?? (message.status === 'error' ? 'status error' : null),
      }),
    };
  }
  if (run.run_type !== 'llm') return { span, kind: 'other' };
  return {
    span,
    kind: 'model',
    call: () => {
      const parameters = parametersOf(run);
      const input = payloadOf(inputs, `${at}/inputs`, 'user');
      const output = payloadOf(run.outputs, `${at}/outputs`, 'assistant');
      const usage = runUsage(run, outputs) ?? output.usage;
      const model = idOf(parameters.model ?? parameters.model_name ?? metadataOf(run).ls_model_name ?? null);
      const tools = parameters.tools ?? input.tools;
      const { temperature, max_tokens: most, top_p: top } = parameters;
      return {
        input: {
          ...input,
          ...(tools === undefined || tools === null ? {} : { tools }),
          settings: {
            ...input.settings,
            ...Object.fromEntries(
              Object.entries({ temperature, max_tokens: most, top_p: top }).flatMap(([key, one]) =>
                one === undefined || one === null ? [] : [[key, one]],
              ),
            ),
          },
        },
        output: { ...output, ...(usage === undefined ? {} : { usage }), ...(model === null ? {} : { model }) },
      };
    },
  };
}

/** Inputs of tools are the `str()` of a dict in some versions; only those that are JSON as well are compared. */
const pythonless = (text: string) => parsed(text) ?? parsed(text.replaceAll("'", '"'));

function runUsage(run: JsonObject, outputs: JsonObject): CallUsage | undefined {
  const own = callUsage({ ...run, total: null });
  const [list] = Array.isArray(outputs.generations) ? outputs.generations : [];
  const [first] = objectsOf(Array.isArray(list) ? list : outputs.generations);
  const message = isJsonObject(first?.message) ? first.message : {};
  const held = isJsonObject(message.kwargs) ? message.kwargs : isJsonObject(message.data) ? message.data : message;
  const usage =
    callUsage(held.usage_metadata) ??
    callUsage(outputs.usage_metadata) ??
    callUsage(isJsonObject(outputs.llm_output) ? outputs.llm_output.token_usage : undefined) ??
    own;
  return usage === null ? undefined : { ...usage, cost: numberOf(run.total_cost) ?? usage.cost };
}
