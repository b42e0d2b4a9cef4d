import { isJsonObject, type JsonObject, objectIn } from '../json/value.ts';
import { type CallUsage, callUsage, payloadOf } from './payload.ts';
import { plainSpan, type TracedSpan, type Tracer, toolOutput, tracerFormat, tracerSession } from './tracer.ts';
import { idOf, numberOf } from './values.ts';

/** Calls of W&B Weave, as its client and its exports give them: any function of the program is one. */
const weaveTracer: Tracer = {
  name: 'weave',
  basis: 'documentation',
  mapping: {
    turns: 'inputs and output of calls whose op is a model request',
    'results of tools': 'the history, else calls named like a recorded tool call',
    uid: 'trace_id',
    times: 'started_at, ended_at',
  },
  isEvent: (record) =>
    typeof record.op_name === 'string' && record.trace_id !== undefined && record.inputs !== undefined,
  keyOf: (event) => idOf(event.trace_id ?? null),
  eventIdOf: ({ id }) => idOf(id ?? null),
  conversationOf(event) {
    const id = idOf(event.thread_id ?? null);
    return id === null ? null : { id, isCertain: false };
  },
  spansOf: (events) => events.map((event, at) => tracedCall(event, `/events/${at}`)),
};

export const weave = tracerSession(weaveTracer);
export const weaveFormat = tracerFormat(weaveTracer);

/** `weave:///entity/project/op/openai.chat.completions.create:HASH` */
const opOf = (name: string): string => name.replace(/^weave:\/\/\/.*\/op\//, '').replace(/:[\w*]+$/, '');

const MODEL =
  /(?:chat|completions?|messages|responses|generate_?content|models|Chat\w+|litellm|converse)[.-](?:\w+[.-])*(?:create|stream|parse|invoke|generate_?content|a?completion|generate|complete|converse)|a?completion$|generate_content/i;

function tracedCall(call: JsonObject, at: string): TracedSpan {
  const name = opOf(idOf(call.op_name ?? null) ?? '');
  const inputs = objectIn(call.inputs);
  const span = plainSpan(at, {
    trace: call.trace_id,
    id: call.id,
    parent: call.parent_id,
    name: idOf(call.display_name ?? null) ?? name,
    start: call.started_at,
    end: call.ended_at,
    error: idOf(call.exception ?? null) || null,
  });
  const { self: _self, ...given } = inputs;
  const hasInput = ['messages', 'input', 'contents', 'prompt'].some((key) => inputs[key] !== undefined);
  if (!hasInput || !MODEL.test(name))
    return {
      span,
      // Any function is a call here; the one that a model asked for is found by its name and arguments.
      kind: 'tool',
      run: () => ({
        isGuess: true,
        name: name.split('.').at(-1) ?? name,
        input: given,
        result: toolOutput(call.output, `${at}/output`),
      }),
    };
  return {
    span,
    kind: 'model',
    call: () => {
      const input = payloadOf(inputs, `${at}/inputs`, 'user');
      const output = payloadOf(call.output, `${at}/output`, 'assistant');
      const usage = summaryUsage(call) ?? output.usage;
      return { input, output: { ...output, ...(usage === undefined ? {} : { usage }) } };
    },
  };
}

/** `summary.usage` and `summary.weave.costs` are by model. */
function summaryUsage({ summary }: JsonObject): CallUsage | undefined {
  if (!isJsonObject(summary) || !isJsonObject(summary.usage)) return undefined;
  const [first] = Object.values(summary.usage);
  const usage = callUsage(first);
  if (usage === null) return undefined;
  const costs =
    isJsonObject(summary.weave) && isJsonObject(summary.weave.costs) ? Object.values(summary.weave.costs) : [];
  const cost = costs
    .flatMap((one) =>
      isJsonObject(one) ? [numberOf(one.prompt_tokens_total_cost), numberOf(one.completion_tokens_total_cost)] : [],
    )
    .reduce<number | null>((sum, one) => (one === null ? sum : (sum ?? 0) + one), null);
  return { ...usage, cost: cost ?? usage.cost };
}
