import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../json/value.ts';
import { endedByReason } from '../rollout/ended.ts';
import { type TimeSpan, timesOf } from '../rollout/times.ts';
import { resultText } from './any-message.ts';
import { resultMessage } from './blocks.ts';
import { type FoundMessage, messageFormat } from './build.ts';
import { type Format, NO_TRAINING, type Session } from './format.ts';
import { summed } from './langchain.ts';
import { traceSeconds } from './spans.ts';
import { idOf, numberOf, objectsOf, parsed } from './values.ts';

/** Rows of opencode's tables session, message and part. */
export const opencodeRows: Session = {
  name: 'opencode',
  isEvent: (record) => record.opencode !== undefined,
  keyOf: (event) => idOf(event.session_id ?? event.id ?? null),
};

const isOpencode = (one: JsonObject): boolean =>
  isJsonObject(one.info) && typeof one.info.role === 'string' && Array.isArray(one.parts);

/** Sessions of opencode: `opencode export`, and its database. */
export const opencode: Format = messageFormat({
  name: 'opencode',
  ...NO_TRAINING,
  basis: 'files',
  mapping: {
    turns: 'messages[].parts: text, reasoning, tool',
    'results of tools': 'state.output or state.error of a tool part',
    ended: 'finish of the last reply',
    times: 'time of messages and of tool parts',
  },
  detects: (record) =>
    record.session_of === opencodeRows.name ||
    (Array.isArray(record.messages) &&
      record.messages.length > 0 &&
      record.messages.every((one) => isJsonObject(one) && isOpencode(one))),
  find(record) {
    const { info, list } =
      record.session_of === opencodeRows.name
        ? fromRows(objectsOf(record.events))
        : { info: objectIn(record.info), list: objectsOf(record.messages) };
    const messages: FoundMessage[] = [];
    const spans: { span: Omit<TimeSpan, 'turn'>; turn: number }[] = [];
    const moments: number[] = [];
    const errors: JsonValue[] = [];
    let system = '';
    for (const [i, one] of list.entries()) {
      const about = objectIn(one.info);
      const at = `/messages/${i}`;
      const time = objectIn(about.time);
      const [from, to] = [traceSeconds(time.created), traceSeconds(time.completed)];
      for (const moment of [from, to]) if (moment !== null) moments.push(moment);
      const said = typeof about.system === 'string' ? about.system : '';
      if (said !== '' && said !== system)
        messages.push({ role: 'system', trained: false, texts: [{ pointer: `${at}/info/system`, text: said }] });
      system = said || system;
      if (isJsonObject(about.error)) errors.push(about.error);
      const turn = messages.length;
      const found = messagesOfParts(
        about.role === 'user' ? 'user' : 'assistant',
        objectsOf(one.parts),
        `${at}/parts`,
        spans,
        turn,
      );
      messages.push(...found);
      if (about.role === 'assistant' && from !== null && to !== null && !found.some(({ role }) => role === 'tool'))
        spans.push({ span: { kind: 'model', start: from, end: to }, turn });
    }
    const replies = list.map(({ info: one }) => objectIn(one)).filter(({ role }) => role === 'assistant');
    const finish = idOf(replies.at(-1)?.finish ?? null);
    const start = moments.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY);
    const times =
      moments.length === 0
        ? null
        : timesOf(
            start,
            moments.reduce((most, at) => Math.max(most, at), start) - start,
            spans.map(({ span, turn }) => ({ ...span, start: span.start - start, end: span.end - start, turn })),
          );
    const models = [...new Set(replies.flatMap(({ modelID: id }) => idOf(id ?? null) ?? []))];
    return {
      known: new Set(['session_of', 'events', 'info', 'messages']),
      messages,
      hasCallsApart: true,
      uid: idOf(info.id ?? null),
      status: errors.length > 0 ? 'error' : null,
      ended: finish === null ? null : endedByReason('finish', finish),
      extras: {
        ...shortOf(info),
        ...(models.length === 0 ? {} : { model: models.length === 1 ? models[0] : models }),
        ...summed(
          replies.flatMap(({ tokens, cost }) =>
            isJsonObject(tokens)
              ? [{ input: numberOf(tokens.input), output: numberOf(tokens.output), cost: numberOf(cost) }]
              : [],
          ),
        ),
        ...(errors.length > 0 ? { errors } : {}),
      },
      times,
    };
  },
});

const ABOUT = ['title', 'agent', 'directory', 'version', 'parentID', 'parent_id', 'slug'];

const shortOf = (info: JsonObject): JsonObject =>
  Object.fromEntries(ABOUT.flatMap((key) => (typeof info[key] === 'string' ? [[key, info[key]]] : [])));

/** A reply is one turn; its tools' results come behind it. */
function messagesOfParts(
  role: string,
  parts: readonly JsonObject[],
  at: string,
  spans: { span: Omit<TimeSpan, 'turn'>; turn: number }[],
  turn: number,
): FoundMessage[] {
  const reply: FoundMessage = { role, texts: [], ...(role === 'user' ? { trained: false } : {}) };
  const results: FoundMessage[] = [];
  for (const [i, part] of parts.entries()) {
    const place = `${at}/${i}`;
    if ((part.type === 'text' || part.type === 'reasoning') && typeof part.text === 'string')
      reply.texts.push({
        pointer: `${place}/text`,
        text: part.text,
        ...(part.type === 'reasoning' ? { isThought: true } : {}),
      });
    else if (part.type === 'subtask' && typeof part.prompt === 'string')
      reply.texts.push({ pointer: `${place}/prompt`, text: part.prompt });
    else if (part.type === 'file')
      reply.texts.push({ pointer: `${place}/url`, text: `[file ${idOf(part.filename ?? part.mime ?? null) ?? ''}]` });
    else if (part.type === 'tool') {
      const state = objectIn(part.state);
      const id = idOf(part.callID ?? part.id ?? null);
      reply.calls = [...(reply.calls ?? []), { id, name: idOf(part.tool ?? null), arguments: state.input ?? {} }];
      const held = state.output ?? state.error;
      if (held === undefined || held === null) continue;
      const time = objectIn(state.time);
      const [from, to] = [traceSeconds(time.start), traceSeconds(time.end)];
      if (from !== null && to !== null)
        spans.push({ span: { kind: 'tool', start: from, end: to }, turn: turn + 1 + results.length });
      results.push(
        resultMessage(
          id,
          `${place}/state/output`,
          resultText(held),
          state.status === 'error' ? { isFailure: true, evidence: 'status error' } : undefined,
        ),
      );
    }
  }
  return [reply, ...results];
}

/** Rows name their table; `data` is the JSON that an export shows. */
function fromRows(rows: readonly JsonObject[]): { info: JsonObject; list: JsonObject[] } {
  const info = rows.find(({ opencode: table }) => table === 'session') ?? {};
  const inner = ({ data }: JsonObject): JsonObject => {
    const value = typeof data === 'string' ? parsed(data) : data;
    return objectIn(value);
  };
  const parts = new Map<string, JsonObject[]>();
  for (const row of rows) {
    if (row.opencode !== 'part') continue;
    const id = idOf(row.message_id ?? null) ?? '';
    parts.set(id, [...(parts.get(id) ?? []), inner(row)]);
  }
  const list = rows
    .filter(({ opencode: table }) => table === 'message')
    .map((row) => ({ info: inner(row), parts: parts.get(idOf(row.id ?? null) ?? '') ?? [] }));
  return { info, list };
}
