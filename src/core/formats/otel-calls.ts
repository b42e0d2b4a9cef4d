import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { anyMessages, resultText } from './any-message.ts';
import type { TracedCall } from './call-histories.ts';
import type { TracedRun } from './model-calls.ts';
import { type CallUsage, callUsage, type Payload, payloadOf } from './payload.ts';
import { attribute, firstAttribute, parsedWord, type SpanEvent, type SpanTree, type TraceSpan } from './spans.ts';
import { idOf, namedNumbers, numberOf, objectsOf, parsed } from './values.ts';

const INPUTS = [
  'gen_ai.input.messages',
  'llm.input_messages',
  'langfuse.observation.input',
  'ai.prompt.messages',
  'gen_ai.prompt',
  'mlflow.chat.messages',
  'mlflow.spanInputs',
  'gcp.vertex.agent.llm_request',
  'request_data',
  'input.value',
  'traceloop.entity.input',
  'ai.prompt',
  'gen_ai.input',
];
const OUTPUTS = [
  'gen_ai.output.messages',
  'llm.output_messages',
  'langfuse.observation.output',
  'gen_ai.completion',
  'mlflow.spanOutputs',
  'gcp.vertex.agent.llm_response',
  'response_data',
  'output.value',
  'traceloop.entity.output',
  'gen_ai.output',
];
const TOOLS = ['gen_ai.tool.definitions', 'llm.tools', 'llm.request.functions', 'mlflow.chat.tools', 'ai.prompt.tools'];

/**
 * The length at which a tracer cut its values; null if it did not. Several end there, none is longer, and what begins as JSON there has no
 * end.
 */
export function lengthLimit(spans: readonly TraceSpan[]): number | null {
  const texts = spans.flatMap(({ attributes }) => Object.values(attributes).filter((one) => typeof one === 'string'));
  const longest = texts.reduce((most, { length }) => Math.max(most, length), 0);
  const there = [...new Set(texts.filter(({ length }) => length === longest))];
  return there.length > 1 && there.some((one) => /^\s*[[{]/.test(one) && parsed(one) === undefined) ? longest : null;
}

/** Whether an attribute of these names ends at the limit of its tracer. */
const endsAt = ({ attributes }: TraceSpan, names: readonly string[], limit: number | null): boolean =>
  limit !== null &&
  Object.entries(attributes).some(
    ([key, value]) =>
      typeof value === 'string' &&
      value.length === limit &&
      names.some((name) => key === name || key.startsWith(`${name}.`)),
  );

export function callOfSpan(span: TraceSpan, tree: SpanTree, limit: number | null): TracedCall {
  const { attributes } = span;
  const input = sideOf(span, INPUTS, 'user');
  const output = sideOf(span, OUTPUTS, 'assistant');
  const system = firstAttribute(attributes, 'gen_ai.system_instructions', 'langfuse.observation.system');
  if (system !== undefined && !input.messages.some(({ role }) => role === 'system')) {
    const said = payloadOf(system, `${span.at}#gen_ai.system_instructions`, 'user').messages.map((one) => ({
      ...one,
      role: 'system',
    }));
    input.messages.unshift(...said);
  }
  const tools = toolsOf(firstAttribute(attributes, ...TOOLS)) ?? input.tools;
  const model = idOf(
    firstAttribute(
      attributes,
      'gen_ai.response.model',
      'gen_ai.request.model',
      'llm.model_name',
      'langfuse.observation.model.name',
      'ai.model.id',
      'mlflow.llm.model',
    ) ?? null,
  );
  const finish = finishOf(attributes) ?? output.finish;
  const usage = usageOfSpan(attributes) ?? output.usage;
  const agent = [span, ...tree.above(span)].map((one) => agentName(one)).find((name) => name !== null);
  return {
    input: {
      ...input,
      ...(endsAt(span, INPUTS, limit) ? { isCut: true } : {}),
      ...(tools === undefined ? {} : { tools }),
      settings: { ...input.settings, ...settingsOfSpan(attributes) },
    },
    output: {
      ...output,
      ...(endsAt(span, OUTPUTS, limit) ? { isCut: true } : {}),
      ...(finish === undefined ? {} : { finish }),
      ...(usage === undefined ? {} : { usage }),
      ...(model === null ? {} : { model }),
    },
    start: span.start,
    end: span.end,
    error: span.error,
    agent: agent ?? null,
  };
}

const agentName = ({ attributes }: TraceSpan): string | null =>
  idOf(firstAttribute(attributes, 'gen_ai.agent.name', 'agent.name', 'graph.node.id') ?? null);

/** Input or output of a model's span: by its attributes, or by its events and log records. */
function sideOf(span: TraceSpan, names: readonly string[], role: 'user' | 'assistant'): Payload {
  const { attributes, at } = span;
  for (const name of names) {
    const value = attribute(attributes, name);
    if (value === undefined || value === null || value === '') continue;
    const found = payloadOf(value, `${at}#${name}`, role);
    if (found.messages.length > 0) return found;
  }
  if (role === 'assistant') {
    const streamed = aiSdkReply(attributes, at);
    if (streamed.messages.length > 0) return streamed;
  }
  return eventSide(span, role);
}

/** The AI SDK writes each part of a reply as an attribute. */
function aiSdkReply(attributes: JsonObject, at: string): Payload {
  const [text, thought, calls] = ['ai.response.text', 'ai.response.reasoning', 'ai.response.toolCalls'].map((name) =>
    attribute(attributes, name),
  );
  const list = typeof calls === 'string' ? parsed(calls) : calls;
  if (typeof text !== 'string' && list === undefined) return { messages: [] };
  const content: JsonValue[] = [
    ...(typeof thought === 'string' ? [{ type: 'reasoning', text: thought }] : []),
    ...(typeof text === 'string' && text !== '' ? [{ type: 'text', text }] : []),
    ...objectsOf(list).map((one) => ({ ...one, type: 'tool-call' })),
  ];
  return { messages: anyMessages({ role: 'assistant', content }, `${at}#ai.response`) };
}

/** The messages among events: `gen_ai.user.message` and others, a choice, or the details of the operation. */
function eventSide(span: TraceSpan, role: 'user' | 'assistant'): Payload {
  const found: Payload = { messages: [] };
  const listed = typeof span.attributes.events === 'string' ? parsed(span.attributes.events) : span.attributes.events;
  const own = objectsOf(listed).map(
    (one): SpanEvent => ({ name: idOf(one['event.name'] ?? null) ?? '', attributes: {}, body: one, time: null }),
  );
  for (const [i, { name, attributes, body }] of [...span.events, ...own].entries()) {
    const at = `${span.at}/events/${i}`;
    if (/inference\.operation\.details$|^gen_ai\.content\.(?:prompt|completion)$/.test(name)) {
      const details = sideOf(
        { ...span, attributes: isJsonObject(body) ? { ...attributes, ...body } : attributes, events: [], at },
        role === 'user' ? INPUTS : OUTPUTS,
        role,
      );
      if (details.messages.length > 0) Object.assign(found, details);
      continue;
    }
    const isChoice = name === 'gen_ai.choice' || name === 'gen_ai.assistant.choice';
    const said = /^gen_ai\.(system|user|assistant|tool)\.message$/.exec(name)?.[1];
    if ((role === 'assistant') !== isChoice || (!isChoice && said === undefined)) continue;
    const held = messageOfEvent(body, attributes);
    if (isChoice && (numberOf(held.index) ?? 0) > 0) continue;
    const inner = isJsonObject(held.message) ? held.message : held;
    const messages = anyMessages({ ...inner, role: isChoice ? 'assistant' : (inner.role ?? said ?? 'user') }, at);
    found.messages.push(...messages);
    const finish = idOf(held.finish_reason ?? null);
    if (isChoice && finish !== null) found.finish = finish;
  }
  return found;
}

/** The body, else the attributes; their values may be JSON texts. */
function messageOfEvent(body: JsonValue | undefined, attributes: JsonObject): JsonObject {
  const held = isJsonObject(body) ? body : attributes;
  return Object.fromEntries(
    Object.entries(held).map(([key, value]) => {
      const inner =
        typeof value === 'string' && /^(?:message|content|tool_calls)$/.test(key) && /^\s*[[{]/.test(value)
          ? parsed(value)
          : undefined;
      const isShape = isJsonObject(inner) || (Array.isArray(inner) && inner.every(isJsonObject));
      return [key, isShape ? inner : value];
    }),
  );
}

function toolsOf(value: JsonValue | undefined): JsonValue | undefined {
  const list = typeof value === 'string' ? parsed(value) : value;
  if (!Array.isArray(list)) return undefined;
  return list.map((one) => {
    const held = typeof one === 'string' ? (parsed(one) ?? one) : one;
    const schema = isJsonObject(held) ? (attribute(held, 'tool.json_schema') ?? held) : held;
    return typeof schema === 'string' ? (parsed(schema) ?? schema) : schema;
  });
}

function finishOf(attributes: JsonObject): string | undefined {
  const value = firstAttribute(
    attributes,
    'gen_ai.response.finish_reasons',
    'llm.finish_reason',
    'ai.response.finishReason',
    'gen_ai.completion.0.finish_reason',
    'llm.response.finish_reason',
  );
  const list = typeof value === 'string' && value.startsWith('[') ? parsed(value) : value;
  return idOf(Array.isArray(list) ? (list.at(-1) ?? null) : (list ?? null)) ?? undefined;
}

function usageOfSpan(attributes: JsonObject): CallUsage | undefined {
  const number = (...names: string[]): number | null => numberOf(firstAttribute(attributes, ...names));
  const details = callUsage(
    firstAttribute(attributes, 'langfuse.observation.usage_details', 'mlflow.chat.tokenUsage') ?? null,
  );
  const input =
    number(
      'gen_ai.usage.input_tokens',
      'gen_ai.usage.prompt_tokens',
      'llm.token_count.prompt',
      'ai.usage.promptTokens',
      'ai.usage.inputTokens',
      'llm.usage.prompt_tokens',
    ) ??
    details?.input ??
    null;
  const output =
    number(
      'gen_ai.usage.output_tokens',
      'gen_ai.usage.completion_tokens',
      'llm.token_count.completion',
      'ai.usage.completionTokens',
      'ai.usage.outputTokens',
      'llm.usage.completion_tokens',
    ) ??
    details?.output ??
    null;
  const costs = firstAttribute(attributes, 'langfuse.observation.cost_details');
  const cost =
    number('gen_ai.usage.cost', 'operation.cost', 'llm.cost.total', 'gen_ai.usage.total_cost') ??
    numberOf(namedNumbers(typeof costs === 'string' ? parsed(costs) : costs)?.total);
  return input === null && output === null && cost === null ? undefined : { input, output, cost };
}

function settingsOfSpan(attributes: JsonObject): JsonObject {
  const found: JsonObject = {};
  for (const key of ['temperature', 'top_p', 'top_k', 'max_tokens', 'seed', 'stop_sequences']) {
    const value = attribute(attributes, `gen_ai.request.${key}`);
    if (value !== undefined && value !== null) found[key] = value;
  }
  const held = firstAttribute(attributes, 'llm.invocation_parameters', 'langfuse.observation.model.parameters');
  const more = typeof held === 'string' ? parsed(held) : held;
  return isJsonObject(more) ? { ...more, ...found } : found;
}

export function runOfSpan({ attributes, name, error, start, end, at, events }: TraceSpan): TracedRun {
  const said = firstAttribute(attributes, 'gen_ai.tool.name', 'tool.name', 'ai.toolCall.name', 'traceloop.entity.name');
  const input = firstAttribute(
    attributes,
    'gen_ai.tool.call.arguments',
    'tool.parameters',
    'ai.toolCall.args',
    'gcp.vertex.agent.tool_call_args',
    'mlflow.spanInputs',
    'langfuse.observation.input',
    'tool_arguments',
    'traceloop.entity.input',
    'input.value',
  );
  const result = firstAttribute(
    attributes,
    'gen_ai.tool.call.result',
    'ai.toolCall.result',
    'gcp.vertex.agent.tool_response',
    'mlflow.spanOutputs',
    'langfuse.observation.output',
    'tool_response',
    'traceloop.entity.output',
    'output.value',
  );
  const eventMessage = events.find((event) => event.name === 'gen_ai.choice')?.attributes.message;
  const held = result ?? eventMessage;
  const inner = typeof held === 'string' && /^\s*["{[]/.test(held) ? parsed(held) : held;
  return {
    id: idOf(firstAttribute(attributes, 'gen_ai.tool.call.id', 'tool.id', 'tool_call.id', 'ai.toolCall.id') ?? null),
    name:
      typeof said === 'string' ? (parsedWord(said) ?? said) : name.replace(/^(?:execute_tool|running tool:?)\s+/, ''),
    input: input ?? events.find((event) => event.name === 'gen_ai.tool.message')?.attributes.content,
    result:
      held === undefined
        ? null
        : {
            pointer: `${at}#result`,
            text: typeof inner === 'string' ? inner : typeof held === 'string' ? held : resultText(held),
          },
    error,
    start,
    end,
  };
}
