import { printJson } from '../json/print.ts';
import { isJsonObject, type JsonObject } from '../json/value.ts';
import { anyMessages } from './any-message.ts';
import { buildRollout, type FoundMessage } from './build.ts';
import { type Format, NO_TRAINING, type Session } from './format.ts';
import { lostMessage } from './lost-line.ts';
import { sessionTimes } from './recorded-times.ts';
import { idOf, objectsOf } from './values.ts';

const isHubMessage = (record: JsonObject): boolean =>
  record.type === 'message' && isJsonObject(record.message) && typeof record.message.role === 'string';

/** The Hub's Session Trace Simple Format: a head with its harness, then one message per line. */
export const sts: Session = {
  name: 'sts',
  isEvent: (record) => record.type === 'session' && typeof record.harness === 'string' && record.id !== undefined,
  keyOf: (event) => (event.type === 'session' ? idOf(event.id ?? null) : null),
};

/** Factory's Droid: a head of the type session_start, then messages in Anthropic's blocks. */
export const droid: Session = {
  name: 'droid',
  isEvent: (record) => record.type === 'session_start' && record.id !== undefined,
  keyOf: (event) => (event.type === 'session_start' ? idOf(event.id ?? null) : null),
};

/** Goose's JSONL: a head with its working directory, then one message per line with requests and responses of tools as blocks. */
export const goose: Session = {
  name: 'goose',
  isEvent: (record) =>
    (record.working_dir !== undefined &&
      record.role === undefined &&
      (record.description !== undefined || record.message_count !== undefined)) ||
    isGooseRow(record),
  keyOf: (event) => idOf(event.session_id ?? null),
};

/** A row of the table `messages` of Goose's database. */
const isGooseRow = (record: JsonObject): boolean =>
  record.content_json !== undefined && typeof record.role === 'string';

/** A session format of lines with a head, and messages in any dialect. */
function messageLines(
  session: Session,
  mapping: Readonly<Record<string, string>>,
  basis: NonNullable<Format['basis']>,
): Format {
  return {
    name: session.name,
    ...NO_TRAINING,
    basis,
    mapping,
    detects: (record) => record.session_of === session.name,
    times: sessionTimes,
    read(record, context) {
      const events = objectsOf(record.events);
      const messages: FoundMessage[] = [];
      let head: JsonObject = {};
      for (const [i, event] of events.entries()) {
        const at = `/events/${i}`;
        const lost = lostMessage(event, at);
        if (lost !== null) messages.push(lost);
        else if (isHubMessage(event) && isJsonObject(event.message))
          messages.push(...anyMessages(event.message, `${at}/message`));
        else if (isGooseRow(event))
          messages.push(...anyMessages({ role: event.role ?? 'user', content: parsedField(event.content_json) }, at));
        else if (typeof event.role === 'string') messages.push(...saidIn(event, at));
        else if (Object.keys(head).length === 0) head = event;
      }
      const models = [
        ...new Set(events.flatMap(({ message }) => (isJsonObject(message) ? (idOf(message.model ?? null) ?? []) : []))),
      ];
      return buildRollout(
        {
          format: session.name,
          record,
          known: new Set(['session_of', 'events']),
          messages,
          hasCallsApart: true,
          uid: idOf(head.id ?? events[0]?.session_id ?? null),
          extras: {
            ...(Object.keys(head).length > 0 ? { session: head } : {}),
            ...(models.length === 0 ? {} : { model: models.length === 1 ? models[0] : models }),
          },
        },
        context,
      );
    },
  };
}

/** A line of somebody who says nothing in words is shown as it is. */
function saidIn(event: JsonObject, at: string): FoundMessage[] {
  const said = anyMessages(event, at);
  const { role: _, ...rest } = event;
  if (said.some(({ texts, calls }) => texts.length > 0 || calls !== undefined)) return said;
  const isEmpty = ['content', 'text'].some((key) => rest[key] !== undefined);
  return isEmpty ? said : said.map((one) => ({ ...one, texts: [{ pointer: at, text: printJson(rest) }] }));
}

const parsedField = (value: JsonObject[string] | undefined): JsonObject[string] => {
  if (typeof value !== 'string') return value ?? null;
  try {
    return JSON.parse(value) as JsonObject[string];
  } catch {
    return value;
  }
};

const ROLES = /^(?:system|developer|user|human|assistant|ai|model|tool|function)$/i;
/** A whole rollout, or a row of a data set that happens to have a role. */
const WHOLE = /^(?:messages|prompt|response|completion|score|reward|input|output|label|conversations?)$/i;

/** A log of one conversation, as loops of agents write it: a message on each line. */
export const messageLog: Session = {
  name: 'message-lines',
  isOfLines: true,
  isEvent: (record) =>
    typeof record.role === 'string' &&
    ROLES.test(record.role) &&
    (typeof record.content === 'string' ||
      Array.isArray(record.content) ||
      Array.isArray(record.tool_calls) ||
      typeof record.text === 'string') &&
    !Object.keys(record).some((key) => WHOLE.test(key)),
  keyOf: (event) => idOf(event.session_id ?? event.conversation_id ?? null),
};

export const messageLogFormat = messageLines(
  messageLog,
  { turns: 'each line: role, and content or text', calls: 'tool_calls, answered by tool_call_id' },
  'files',
);

export const stsFormat = messageLines(
  sts,
  { turns: 'message of each line', reasoning: 'reasoningContent', calls: 'toolCalls, answered by toolCallId' },
  'documentation',
);
export const droidFormat = messageLines(
  droid,
  { turns: 'message of each line', calls: 'tool_use blocks' },
  'documentation',
);
export const gooseFormat = messageLines(
  goose,
  { turns: 'each line, or rows of the table messages', calls: 'toolRequest blocks, answered by toolResponse blocks' },
  'documentation',
);
