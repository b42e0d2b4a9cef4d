import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../json/value.ts';
import { outcomeIn, type RecordedOutcome } from '../rollout/outcome.ts';
import type { Context } from '../rollout/rollout.ts';
import { resultMessage } from './blocks.ts';
import { type FoundMessage, type MessageCall, type MessageText, messageFormat } from './build.ts';
import { contentText } from './content-text.ts';
import { type Format, NO_TRAINING, type Session } from './format.ts';
import { lostMessage } from './lost-line.ts';
import { roleOfMessage } from './openai-message.ts';
import { idOf, namedNumbers, numberOf, objectsOf } from './values.ts';

/** Actions that run nothing. */
const NO_CALL = new Set([
  'message',
  'system',
  'finish',
  'recall',
  'null',
  'change_agent_state',
  'condensation',
  'reject',
]);

/** Events of OpenHands (`openhands/events/serialization`): actions with an observation each, of a saved trajectory (an array) or of a line of `output.jsonl`. */
export const openHands: Format = messageFormat({
  name: 'openhands',
  ...NO_TRAINING,
  basis: 'files',
  mapping: {
    turns:
      'history[], or the array of events: actions of the agent, messages of the user; of newer evaluations the events of its SDK',
    calls: 'actions that run something',
    score: 'success, or test_result.report.resolved',
    status: 'error',
  },
  detects: (record) =>
    record.session_of === 'openhands' ||
    (Array.isArray(record.history) &&
      record.history.some((one) =>
        isJsonObject(one)
          ? isEvent(one) || openHandsSdk.isEvent(one)
          : Array.isArray(one) && isJsonObject(one[0] ?? null) && isEvent(objectIn(one[0])),
      )),
  find(record) {
    const isSession = record.session_of === 'openhands';
    const field = isSession ? 'events' : 'history';
    const list = (Array.isArray(record[field]) ? record[field] : []).flat().filter(isJsonObject);
    const result = objectIn(record.test_result);
    const report = isJsonObject(result.report) ? result.report : objectIn(record.report);
    const success = record.success ?? report.resolved ?? record.resolved;
    return {
      known: new Set(['history', 'events', 'session_of', 'instruction']),
      ...eventHistory(list, field),
      hasCallsApart: true,
      score: typeof success === 'boolean' ? Number(success) : numberOf(success),
      uid: idOf(record.instance_id),
      status: idOf(record.error),
      named: namedNumbers(report),
    };
  },
});

/** The messages of events. A condensation replaces some with a summary, which begins another history. */
function eventHistory(events: readonly JsonObject[], field: string): { messages: FoundMessage[]; contexts: Context[] } {
  const messages: FoundMessage[] = [];
  const contexts: Context[] = [{ kind: 'main', name: null, after: null }];
  for (const [at, event] of events.entries()) {
    const place = `/${field}/${at}`;
    const lost = lostMessage(event, place);
    if (lost !== null) messages.push({ ...lost, context: contexts.length - 1 });
    const isSdk = openHandsSdk.isEvent(event);
    const args = objectIn(event.args);
    if (event.kind === 'Condensation' || event.action === 'condensation') {
      contexts.push({ kind: 'compaction', name: null, after: messages.length === 0 ? null : messages.length - 1 });
      const pointer = isSdk ? `${place}/summary` : `${place}/args/summary`;
      const text = contentText(isSdk ? event.summary : args.summary);
      if (text !== '')
        messages.push({ role: 'user', trained: false, context: contexts.length - 1, texts: [{ pointer, text }] });
      continue;
    }
    const found = isSdk ? sdkMessage(event, place) : messageOf(event, place, at === 0);
    messages.push(...found.map((message) => ({ ...message, context: contexts.length - 1 })));
  }
  return { messages, contexts };
}

/** An event of the array, or of the history. */
export const isOpenHandsEvent = (one: JsonObject): boolean =>
  isEvent(one) && (one.source !== undefined || one.id !== undefined);

const isEvent = (one: JsonObject): boolean =>
  (typeof one.action === 'string' &&
    (isJsonObject(one.args) ||
      one.source !== undefined ||
      one.content !== undefined ||
      one.command !== undefined ||
      one.thought !== undefined)) ||
  (typeof one.observation === 'string' && (one.content !== undefined || isJsonObject(one.extras)));

/** The outcome of an observation: its kind, its flag, and the shell's report on the command. */
function observedOutcome(event: JsonObject): RecordedOutcome | undefined {
  if (event.observation === 'error') return { isFailure: true, evidence: 'observation error' };
  const extras = objectIn(event.extras);
  const { metadata } = extras;
  return shellOutcome(extras, metadata) ?? outcomeIn({ success: event.success ?? null }, extras, metadata);
}

/** The exit code -1 means that the command is still running, and was not ended. */
const shellOutcome = (...places: (JsonValue | undefined)[]): RecordedOutcome | undefined =>
  places.some((place) => isJsonObject(place) && (place.exit_code === -1 || place.exitCode === -1))
    ? (outcomeIn(...places.map(withoutExit)) ?? { isFailure: false, evidence: 'exit code -1: it still runs' })
    : undefined;

const withoutExit = (place: JsonValue | undefined): JsonValue =>
  isJsonObject(place) ? { ...place, exit_code: null, exitCode: null } : null;

function sdkOutcome(event: JsonObject, held: JsonObject): RecordedOutcome | undefined {
  if (event.kind === 'AgentErrorEvent') return { isFailure: true, evidence: 'AgentErrorEvent' };
  if (event.kind === 'UserRejectObservation')
    return { isFailure: true, evidence: 'UserRejectObservation', kind: 'rejected' };
  const { metadata } = held;
  return shellOutcome(held, metadata) ?? outcomeIn(held, metadata);
}

function messageOf(event: JsonObject, place: string, isFirst: boolean): FoundMessage[] {
  const args = isJsonObject(event.args) ? event.args : event;
  const within = isJsonObject(event.args) ? `${place}/args` : place;
  const meta = objectIn(event.tool_call_metadata);
  const id = idOf(meta.tool_call_id) ?? null;
  if (typeof event.observation === 'string') {
    // Notes of the program itself (its state, the workspace) answer no call.
    const isNote = ['agent_state_changed', 'recall', 'null', 'condense', 'success'].includes(event.observation);
    if (isNote && event.observation !== 'success') return [];
    return [resultMessage(id, `${place}/content`, contentText(event.content), observedOutcome(event))];
  }
  const { action } = event;
  if (typeof action !== 'string' || ['recall', 'change_agent_state', 'null', 'condensation'].includes(action))
    return [];
  const source = idOf(event.source);
  const texts = textsOf(event, args, within, place);
  if (action === 'system') return [{ role: 'system', trained: false, texts }];
  const isUser = source === 'user' || (source === null && isFirst && action === 'message');
  if (isUser) return [{ role: 'user', trained: false, texts }];
  // A thought is a call only if the model made it with a tool.
  const isCall = !NO_CALL.has(action) && (action !== 'think' || id !== null);
  const call = isCall ? actionCall(action, args, meta, id) : null;
  return [
    {
      role: source === 'environment' ? 'environment' : 'assistant',
      texts,
      ...(call === null ? {} : { calls: [call] }),
    },
  ];
}

function textsOf(event: JsonObject, args: JsonObject, within: string, place: string): MessageText[] {
  const texts: MessageText[] = [];
  const add = (pointer: string, value: JsonValue | undefined) => {
    if (typeof value === 'string' && value !== '' && texts.every(({ text }) => text !== value))
      texts.push({ pointer, text: value });
  };
  add(`${within}/thought`, args.thought);
  const isSaying = ['message', 'system', 'finish', 'think'].includes(String(event.action));
  if (isSaying) for (const key of ['content', 'final_thought']) add(`${within}/${key}`, args[key]);
  if (texts.length === 0 && isSaying) add(`${place}/message`, event.message);
  return texts;
}

/** The call as the model made it is in the response kept by OpenHands; else the action with its arguments. */
function actionCall(action: string, args: JsonObject, meta: JsonObject, id: string | null): MessageCall {
  const response = objectIn(meta.model_response);
  const made = objectsOf(response.choices)
    .flatMap((choice) => (isJsonObject(choice.message) ? objectsOf(choice.message.tool_calls) : []))
    .find((call) => idOf(call.id) === id);
  const fn = isJsonObject(made?.function) ? made.function : null;
  if (fn !== null) return { id, name: idOf(fn.name), arguments: fn.arguments };
  const { thought: _thought, ...rest } = args;
  const own = Object.fromEntries(
    Object.entries(rest).filter(([key]) => !['action', 'id', 'timestamp', 'source', 'message'].includes(key)),
  );
  return { id, name: idOf(meta.function_name) ?? action, arguments: own };
}

/**
 * Events of OpenHands' agent SDK, one per line, or each in a file of `events/` beside the conversation's
 * `base_state.json`.
 */
export const openHandsSdk: Session = {
  name: 'openhands-sdk',
  isEvent: (record) =>
    typeof record.kind === 'string' && /Event$|^Condensation/.test(record.kind) && record.source !== undefined,
  keyOf: () => null,
};

export const openHandsSdkFormat: Format = messageFormat({
  name: 'openhands-sdk',
  ...NO_TRAINING,
  basis: 'files',
  mapping: {
    turns: 'MessageEvent and ActionEvent of the agent, ObservationEvent, AgentErrorEvent',
    calls: 'tool_call of an ActionEvent',
    contexts: 'Condensation',
  },
  detects: (record) => record.session_of === openHandsSdk.name,
  find: (record) => ({
    known: new Set(['events', 'session_of']),
    ...eventHistory(objectsOf(record.events), 'events'),
    hasCallsApart: true,
    uid: idOf(record.id),
    status: idOf(record.execution_status ?? record.agent_status),
  }),
});

function sdkMessage(event: JsonObject, place: string): FoundMessage[] {
  const reasoning: MessageText[] =
    typeof event.reasoning_content === 'string' && event.reasoning_content !== ''
      ? [{ pointer: `${place}/reasoning_content`, text: event.reasoning_content, isThought: true }]
      : [];
  switch (event.kind) {
    case 'SystemPromptEvent':
      return [
        {
          role: 'system',
          trained: false,
          texts: [{ pointer: `${place}/system_prompt`, text: contentText(event.system_prompt) }],
        },
      ];
    case 'MessageEvent': {
      const message = objectIn(event.llm_message);
      const role = event.source === 'agent' ? 'assistant' : roleOfMessage(message.role ?? event.source);
      return [
        {
          role,
          texts: [...reasoning, { pointer: `${place}/llm_message/content`, text: contentText(message.content) }],
        },
      ];
    }
    case 'ActionEvent': {
      const call = objectIn(event.tool_call);
      const fn = isJsonObject(call.function) ? call.function : call;
      const made: MessageCall = {
        id: idOf(event.tool_call_id ?? call.id),
        name: idOf(event.tool_name ?? fn.name),
        arguments: fn.arguments ?? event.action,
      };
      const texts = [...reasoning, { pointer: `${place}/thought`, text: contentText(event.thought) }];
      return [{ role: event.source === 'agent' ? 'assistant' : roleOfMessage(event.source), texts, calls: [made] }];
    }
    case 'ObservationEvent':
    case 'UserRejectObservation':
    case 'AgentErrorEvent': {
      const held = isJsonObject(event.observation) ? event.observation : event;
      const text = contentText(held.content ?? held.output ?? held.error ?? event.error ?? event.rejection_reason);
      return [resultMessage(idOf(event.tool_call_id), `${place}/observation/content`, text, sdkOutcome(event, held))];
    }
    default:
      return [];
  }
}
