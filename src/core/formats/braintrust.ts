import { isJsonObject, type JsonObject, objectIn } from '../json/value.ts';
import { callUsage, payloadOf } from './payload.ts';
import { plainSpan, type TracedSpan, type Tracer, toolOutput, tracerFormat, tracerSession } from './tracer.ts';
import { idOf, namedNumbers, objectsOf } from './values.ts';

/** Logs and experiments of Braintrust: a span a row, as its API and its exports give them. */
const braintrustTracer: Tracer = {
  name: 'braintrust',
  basis: 'documentation',
  mapping: {
    turns: 'input and output of spans of the type llm',
    'results of tools': 'the history, else output of spans of the type tool or function',
    'named rewards': 'scores of the root',
    'ground truth': 'expected of the root',
    uid: 'root_span_id',
    times: 'metrics.start, metrics.end',
  },
  isEvent: (record) =>
    record.root_span_id !== undefined && record.span_id !== undefined && record.span_parents !== undefined,
  keyOf: ({ root_span_id: root }) => idOf(root ?? null),
  eventIdOf: ({ span_id: id }) => idOf(id ?? null),
  spansOf: (events) => events.map((event, at) => tracedRow(event, `/events/${at}`)),
  aboutOf(events) {
    const root = events.find(({ span_id: id, root_span_id: top }) => id === top) ?? {};
    const scores = events.map(({ scores: held }) => namedNumbers(held)).filter((one) => one !== null);
    return {
      named: scores.length === 0 ? null : Object.assign({}, ...scores.reverse()),
      ...(root.expected === undefined || root.expected === null ? {} : { groundTruth: root.expected }),
      extras: {
        ...(isJsonObject(root.metadata) ? { metadata: root.metadata } : {}),
        ...(Array.isArray(root.tags) ? { tags: root.tags } : {}),
      },
    };
  },
};

export const braintrust = tracerSession(braintrustTracer);
export const braintrustFormat = tracerFormat(braintrustTracer);

function tracedRow(row: JsonObject, at: string): TracedSpan {
  const [about, metrics, metadata] = ['span_attributes', 'metrics', 'metadata'].map((key) => objectIn(row[key]));
  const parents = Array.isArray(row.span_parents) ? row.span_parents : [];
  const error = errorOf(row);
  const span = plainSpan(at, {
    trace: row.root_span_id,
    id: row.span_id,
    parent: parents[0],
    name: about?.name,
    start: metrics?.start,
    end: metrics?.end,
    error: error,
  });
  if (about?.type === 'llm')
    return {
      span,
      kind: 'model',
      call: () => {
        const input = payloadOf(row.input, `${at}/input`, 'user');
        const output = payloadOf(row.output, `${at}/output`, 'assistant');
        const usage = callUsage(metrics) ?? output.usage;
        const model = idOf(metadata?.model ?? null);
        const tools = metadata?.tools;
        return {
          input: { ...input, ...(objectsOf(tools).length > 0 && tools !== undefined ? { tools } : {}) },
          output: {
            ...(error === null ? output : { messages: [] }),
            ...(usage === undefined ? {} : { usage }),
            ...(model === null ? {} : { model }),
          },
        };
      },
    };
  if (about?.type !== 'tool' && about?.type !== 'function') return { span, kind: 'other' };
  return {
    span,
    kind: 'tool',
    run: () => ({
      // Any traced function of the program has this type.
      ...(about.type === 'function' ? { isGuess: true as const } : {}),
      input: row.input,
      result: toolOutput(row.output, `${at}/output`),
    }),
  };
}

function errorOf({ error }: JsonObject): string | null {
  if (error === undefined || error === null || error === '') return null;
  return idOf(isJsonObject(error) ? (error.message ?? error.name ?? null) : error) ?? 'it failed';
}
