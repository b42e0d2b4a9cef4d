import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../json/value.ts';
import type { Context } from '../rollout/rollout.ts';
import { type FoundMessage, messageFormat } from './build.ts';
import { type Format, NO_TRAINING } from './format.ts';
import { chatMessage } from './openai-message.ts';
import { inspectTimes } from './recorded-times.ts';
import { idOf, numberOf, objectsOf } from './values.ts';

/** Inspect's log as one JSON file (`inspect_ai/log/_log.py`): a sample for each input and epoch. */
export const inspectLog: Format = {
  name: 'inspect-log',
  ...NO_TRAINING,
  basis: 'files',
  mapping: { rollouts: 'samples[]' },
  detects: (record) =>
    isJsonObject(record.eval) &&
    record.version !== undefined &&
    (Array.isArray(record.samples) || record.plan !== undefined || record.results !== undefined),
  split(record) {
    const { samples, version, status, error, eval: spec, plan } = record;
    const log = {
      version: version ?? null,
      status: status ?? null,
      error: error ?? null,
      eval: spec ?? null,
      plan: plan ?? null,
    };
    return objectsOf(samples).map((sample) => ({ eval_log: log, ...sample }));
  },
  read: (record, context) => inspectSample.read({ messages: [], ...record }, context),
};

const KNOWN = new Set('messages target events events_data attachments store eval_log'.split(' '));
/** Inspect's letters for correct, incorrect, partial, no answer (`inspect_ai/scorer/_metric.py`, `value_to_float`). */
const LETTERS: Record<string, number> = { C: 1, I: 0, P: 0.5, N: 0 };

/**
 * One sample of Inspect, from a log or a member of an `.eval`. Texts stored as attachments are restored
 * (`attachment://`).
 */
export const inspectSample: Format = messageFormat({
  name: 'inspect',
  ...NO_TRAINING,
  basis: 'files',
  mapping: {
    turns: 'messages',
    score: 'scores: the value of the first scorer, if it is one (C = 1, I = 0, P = 0.5)',
    'named rewards': 'scores, or score',
    ended: 'limit, else output.choices[0].stop_reason',
    group: 'id',
    'ground truth': 'target',
  },
  detects: (record) =>
    record.epoch !== undefined &&
    record.id !== undefined &&
    (record.input !== undefined || record.messages !== undefined || record.target !== undefined),
  times: inspectTimes,
  find(record) {
    const attachments = objectIn(record.attachments);
    const list = objectsOf(record.messages).map((message) => objectIn(attached(message, attachments)));
    const messages = list.map((message, at): FoundMessage => {
      const one = chatMessage(message, `/messages/${at}`);
      const error = isJsonObject(message.error) ? message.error.message : undefined;
      if (typeof error === 'string' && one.texts.every(({ text }) => !text.includes(error)))
        one.texts.push({ pointer: `/messages/${at}/error/message`, text: error });
      // The source of a message is recorded: an example in the input was not sampled.
      return one.role === 'assistant' && message.source === 'input' ? { ...one, trained: false } : one;
    });
    const output = objectIn(record.output);
    const choice = objectsOf(output.choices)[0] ?? {};
    const limit = isJsonObject(record.limit) ? idOf(record.limit.type) : null;
    const reason = idOf(choice.stop_reason);
    const scores = scoresOf(record);
    const log = objectIn(record.eval_log);
    const failure = failureIn(record) ?? (Object.keys(scores).length > 0 ? null : failureOfLog(log));
    const spec = objectIn(log.eval);
    const events = Array.isArray(record.events) ? record.events.length : 0;
    return {
      known: KNOWN,
      messages,
      hasCallsApart: true,
      contexts: contextsOf(record),
      score: isOneOfSeveral(record) ? null : (Object.values(scores)[0] ?? null),
      named: Object.keys(scores).length > 0 ? scores : null,
      uid: idOf(record.uuid),
      group: idOf(record.id),
      groundTruth: record.target,
      ...(limit === null
        ? failure === null
          ? {}
          : { ended: { how: 'aborted', evidence: failure } as const }
        : {
            ended: {
              how: /time|working|cost|operator|custom/.test(limit) ? 'aborted' : 'length',
              evidence: `limit ${limit}`,
            } as const,
          }),
      extras: {
        ...(reason === null ? {} : { finish_reason: reason }),
        ...(events > 0 ? { events: `${events} events` } : {}),
        ...(spec.task === undefined ? {} : { task: spec.task }),
        ...(spec.model === undefined ? {} : { model: spec.model }),
        ...(log.status === undefined || log.status === null ? {} : { log_status: log.status }),
      },
    };
  },
});

const failureIn = ({ error }: JsonObject): string | null => {
  const message = isJsonObject(error) ? idOf(error.message) : null;
  return message === null ? null : `error ${message.slice(0, 60)}`;
};

/** How a log ended that failed as a whole: its samples that were never scored ended with it. */
const failureOfLog = (log: JsonObject): string | null =>
  log.status === 'error'
    ? `of the log: ${failureIn(log) ?? 'error'}`
    : log.status === 'cancelled'
      ? 'log cancelled'
      : null;

/** A compaction reported by the events cut the history in `messages`. */
function contextsOf(record: JsonObject): Context[] {
  const cuts = objectsOf(record.events).filter(({ event }) => event === 'compaction');
  return [
    { kind: 'main', name: null, after: null },
    ...cuts.map((): Context => ({ kind: 'compaction', name: null, after: null })),
  ];
}

const scorersOf = (record: JsonObject): JsonObject =>
  isJsonObject(record.scores) ? record.scores : isJsonObject(record.score) ? { score: record.score } : {};

/** A scorer that gives several values gives no score. */
function isOneOfSeveral(record: JsonObject): boolean {
  const first = Object.values(scorersOf(record))[0];
  const value = isJsonObject(first) ? first.value : first;
  return typeof value === 'object' && value !== null && Object.keys(value).length > 1;
}

function scoresOf(record: JsonObject): Record<string, number | null> {
  const scores = scorersOf(record);
  const named: Record<string, number | null> = {};
  for (const [name, score] of Object.entries(scores)) {
    const value = isJsonObject(score) ? score.value : score;
    if (isJsonObject(value)) for (const [key, one] of Object.entries(value)) named[`${name}.${key}`] = scoreValue(one);
    else if (Array.isArray(value)) for (const [at, one] of value.entries()) named[`${name}.${at}`] = scoreValue(one);
    else named[name] = scoreValue(value);
  }
  return named;
}

const scoreValue = (value: JsonValue | undefined): number | null =>
  typeof value === 'boolean'
    ? Number(value)
    : typeof value === 'string' && LETTERS[value] !== undefined
      ? LETTERS[value]
      : numberOf(value);

const ATTACHED = 'attachment://';

function attached(value: JsonValue, attachments: JsonObject): JsonValue {
  if (typeof value === 'string')
    return value.startsWith(ATTACHED) ? (attachments[value.slice(ATTACHED.length)] ?? value) : value;
  if (Array.isArray(value)) return value.map((one) => attached(one, attachments));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, attached(one, attachments)]));
}
