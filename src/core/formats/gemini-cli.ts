import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { outcomeIn } from '../rollout/outcome.ts';
import { outcomeOfResponse, responseText, resultMessage } from './blocks.ts';
import { type FoundMessage, messageFormat } from './build.ts';
import { contentText } from './content-text.ts';
import { type Format, NO_TRAINING, type Session } from './format.ts';
import { lostMessage } from './lost-line.ts';
import { sessionTimes } from './recorded-times.ts';
import { idOf, objectsOf } from './values.ts';

const GEMINI = new Set(['user', 'gemini', 'info', 'error', 'warning', 'model']);

/** Gemini CLI's chats as lines: a line that repeats an earlier id is a later version of it. */
export const gemini: Session = {
  name: 'gemini-cli',
  isEvent: (record) =>
    (record.sessionId !== undefined && record.projectHash !== undefined && !Array.isArray(record.messages)) ||
    (typeof record.type === 'string' &&
      GEMINI.has(record.type) &&
      record.id !== undefined &&
      record.message === undefined &&
      record.uuid === undefined),
  keyOf: () => null,
};

export const geminiFormat: Format = messageFormat({
  name: 'gemini-cli',
  ...NO_TRAINING,
  basis: 'files',
  mapping: {
    turns: 'messages[], or the lines, of the types user and gemini',
    calls: 'toolCalls[], with their results',
    reasoning: 'thoughts[]',
  },
  detects: (record) =>
    record.session_of === gemini.name ||
    (Array.isArray(record.messages) &&
      record.sessionId !== undefined &&
      (record.projectHash !== undefined || record.startTime !== undefined)),
  times: sessionTimes,
  find(record) {
    const field = record.session_of === gemini.name ? 'events' : 'messages';
    const newest = new Map<string, { one: JsonObject; at: number }>();
    for (const [at, one] of objectsOf(record[field]).entries()) newest.set(idOf(one.id) ?? `at ${at}`, { one, at });
    const messages = [...newest.values()].flatMap(({ one, at }) => geminiMessages(one, `/${field}/${at}`));
    const head = objectsOf(record.events).find((one) => one.sessionId !== undefined) ?? record;
    return {
      known: new Set(['session_of', 'events', 'messages']),
      messages,
      hasCallsApart: true,
      uid: idOf(head.sessionId),
    };
  },
});

function geminiMessages(one: JsonObject, place: string): FoundMessage[] {
  const lost = lostMessage(one, place);
  if (lost !== null) return [lost];
  const type = idOf(one.type) ?? idOf(one.role) ?? '';
  if (type === 'user')
    return [{ role: 'user', trained: false, texts: [{ pointer: `${place}/content`, text: geminiText(one) }] }];
  if (type !== 'gemini' && type !== 'model') return [];
  const thoughts = objectsOf(one.thoughts).map((thought, i) => ({
    pointer: `${place}/thoughts/${i}/description`,
    text: [idOf(thought.subject), contentText(thought.description)]
      .filter((word) => word !== null && word !== '')
      .join(': '),
    isThought: true,
  }));
  const made = objectsOf(one.toolCalls);
  const calls = made.map(({ id, name, args }) => ({ id: idOf(id), name: idOf(name), arguments: args }));
  const results = made.flatMap((call, i): FoundMessage[] => {
    // The model saw the response; the displayed text may be cut or redrawn.
    const text = resultText(call.result ?? undefined) || contentText(call.resultDisplay);
    if (call.result === undefined && call.resultDisplay === undefined) return [];
    return [
      resultMessage(
        idOf(call.id),
        `${place}/toolCalls/${i}/result`,
        text,
        outcomeIn({ status: call.status ?? null }) ?? resultOutcome(call.result),
      ),
    ];
  });
  const reply: FoundMessage = {
    role: 'assistant',
    texts: [...thoughts, { pointer: `${place}/content`, text: geminiText(one) }],
    ...(calls.length > 0 ? { calls } : {}),
  };
  return [reply, ...results];
}

const geminiText = (one: JsonObject): string => contentText(one.content ?? one.parts ?? one.text);

const resultOutcome = (value: JsonValue | undefined) =>
  objectsOf(Array.isArray(value) ? value : [value ?? null])
    .map(({ functionResponse: answer }) => (isJsonObject(answer) ? outcomeOfResponse(answer.response) : undefined))
    .find((outcome) => outcome !== undefined);

/** Results are parts of Gemini's API: `[{functionResponse: {response: {output}}}]`. */
function resultText(value: JsonValue | undefined): string {
  const parts = objectsOf(Array.isArray(value) ? value : value === undefined ? [] : [value]);
  const texts = parts.map(({ functionResponse: answer, ...part }) =>
    isJsonObject(answer) ? responseText(answer.response) : contentText(part),
  );
  return texts.join('\n');
}
