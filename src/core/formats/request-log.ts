import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { foundKey, goesOn, type TracedCall } from './call-histories.ts';
import { type Format, NO_TRAINING, type Session } from './format.ts';
import { rolloutOfCalls } from './model-calls.ts';
import { payloadOf } from './payload.ts';
import { traceSeconds } from './spans.ts';
import { idOf, numberOf, objectsOf, parsed } from './values.ts';

const PAIRS = [
  ['request', 'response'],
  ['request_body', 'response_body'],
  ['input', 'output'],
  ['req', 'resp'],
  ['kwargs', 'response'],
] as const;

/** The request and the response of a line; null if it holds none. */
function requestPair(
  record: JsonObject,
): { request: JsonObject; response: JsonValue; at: readonly [string, string] } | null {
  for (const [one, two] of PAIRS) {
    const request = loggedBody(record[one]);
    if (request === null || !isRequest(request)) continue;
    const response = record[two] ?? record.error;
    if (response === undefined) continue;
    return { request, response: loggedBody(response) ?? response, at: [`/${one}`, `/${two}`] };
  }
  // LiteLLM logs the request's own keys beside its response.
  const response = loggedBody(record.response);
  const isReply = response !== null && (Array.isArray(response.choices) || Array.isArray(response.content));
  return isReply && Array.isArray(record.messages) ? { request: record, response, at: ['', '/response'] } : null;
}

function loggedBody(value: JsonValue | undefined): JsonObject | null {
  const held = typeof value === 'string' && /^\s*\{/.test(value) ? parsed(value) : value;
  if (!isJsonObject(held)) return null;
  const inner = typeof held.body === 'string' ? parsed(held.body) : held.body;
  return isJsonObject(inner) ? inner : held;
}

/** A request to a model, in any of the three protocols or Gemini's. */
const isRequest = (one: JsonObject): boolean =>
  Array.isArray(one.messages) ||
  Array.isArray(one.contents) ||
  ((Array.isArray(one.input) || typeof one.input === 'string') && one.model !== undefined);

/** A log of requests and responses, a pair a line: rollouts are distinguished by their histories. */
export const requestLog: Session = {
  name: 'request-log',
  isEvent: (record) => requestPair(record) !== null && !NAMED.some((key) => record[key] !== undefined),
  keyOf: () => null,
  keysOf(events) {
    const groups: { name: string; calls: TracedCall[]; own: string | null }[] = [];
    return events.map((event, at) => {
      const call = tracedCall(event, '');
      if (call === null) return groups.at(-1)?.name ?? 'lost';
      const own = ownId(event);
      const found =
        own === null
          ? (groups.findLast((group) => group.own === null && goesOn(group.calls, [call])) ??
            groups.findLast((group) => group.own === null && isRetry(group.calls, call)))
          : groups.find((group) => group.own === own);
      if (found !== undefined) {
        found.calls.push(call);
        return found.name;
      }
      groups.push({ name: `rollout ${at}`, calls: [call], own });
      return `rollout ${at}`;
    });
  },
};

/** Keys of other formats whose records hold a request and a response as well. */
const NAMED = [
  'run_type',
  'op_name',
  'traceId',
  'custom_id',
  'ground_truth',
  'reward',
  'score',
  'metrics',
  'trajectory',
];

const ownId = (event: JsonObject): string | null =>
  idOf(event.rollout_id ?? event.session_id ?? event.sessionId ?? event.conversation_id ?? event.task_id ?? null);

/** The same request after failures alone. */
function isRetry(calls: readonly TracedCall[], call: TracedCall): boolean {
  const [first] = calls;
  if (first === undefined || calls.some(({ output }) => output.messages.length > 0)) return false;
  return keysAt(first) === keysAt(call);
}

const keysAt = ({ input }: TracedCall): string => input.messages.map(foundKey).join();

function tracedCall(event: JsonObject, at: string): TracedCall | null {
  const pair = requestPair(event);
  if (pair === null) return null;
  const { request, response } = pair;
  const input = payloadOf(request, `${at}${pair.at[0]}`, 'user');
  const output = payloadOf(response, `${at}${pair.at[1]}`, 'assistant');
  const start = traceSeconds(
    event.start_time ?? event.startTime ?? event.started_at ?? event.timestamp ?? event.created_at ?? event.time,
  );
  const took = numberOf(event.duration ?? event.latency ?? event.response_time);
  const end =
    traceSeconds(event.end_time ?? event.endTime ?? event.ended_at ?? event.completed_at) ??
    (start !== null && took !== null ? start + took : null);
  const error = callError(event, response);
  return { input, output: error === null ? output : { messages: [] }, start, end, error, agent: null };
}

function callError(event: JsonObject, response: JsonValue): string | null {
  const held = isJsonObject(response) ? (response.error ?? null) : null;
  const own = event.error ?? null;
  const said = [held, own]
    .map((one) => (isJsonObject(one) ? idOf(one.message ?? one.type ?? null) : idOf(one)))
    .find((one) => one !== null && one !== '');
  const status = numberOf(event.status ?? event.status_code ?? null);
  if (said === undefined && (status === null || status < 400)) return null;
  return [status === null || status < 400 ? null : `status ${status}`, said ?? null]
    .filter((word) => word !== null)
    .join(': ');
}

export const requestLogFormat: Format = {
  name: 'request-log',
  ...NO_TRAINING,
  basis: 'files',
  mapping: {
    turns: 'request and response of each line (or input and output), joined where a request repeats a reply',
    errors: 'error of the response, or its status',
    times: 'timestamp and duration, if recorded',
  },
  detects: (record) => record.session_of === requestLog.name,
  read(record, context) {
    const events = objectsOf(record.events);
    const calls = events.flatMap((event, at) => tracedCall(event, `/events/${at}`) ?? []);
    const statuses = events.map(({ status }) => status ?? null).filter((one) => one !== null);
    return rolloutOfCalls(
      {
        format: 'request-log',
        record,
        calls,
        runs: [],
        uid: events.map(ownId).find((id) => id !== null) ?? null,
        extras: statuses.length === 0 ? {} : { statuses },
        problems: [],
        moments: calls.flatMap(({ start, end }) => [start, end]).filter((one) => one !== null),
      },
      context,
    );
  },
};
