import { isJsonObject, type JsonObject, type JsonValue, objectIn, stringIn } from '../json/value.ts';
import { type FoundMessage, type MessageCall, messageFormat } from './build.ts';
import { contentText } from './content-text.ts';
import { type Format, NO_TRAINING } from './format.ts';
import { chatMessage } from './openai-message.ts';
import { objectsOf, recordedReward } from './values.ts';

/**
 * A result of the Berkeley Function Calling Leaderboard (`bfcl_eval`), of one turn or of several with its
 * `inference_log`, or a line of its score files, which repeats the result with the verdict.
 */
export const bfcl: Format = messageFormat({
  name: 'bfcl',
  ...NO_TRAINING,
  basis: 'documentation',
  mapping: {
    turns: 'inference_log (or prompt.question), else result alone',
    calls: 'assistant content that is a list of {name: arguments}, else model_response_decoded',
    score: 'valid of a score file',
  },
  detects: (record) =>
    typeof record.id === 'string' &&
    ((record.result !== undefined &&
      (record.inference_log !== undefined ||
        record.input_token_count !== undefined ||
        record.latency !== undefined ||
        whyFailed(record) !== null)) ||
      (record.valid !== undefined && record.test_category !== undefined)),
  find(record) {
    const prompt = objectIn(record.prompt);
    const log = logMessages(record.inference_log, '/inference_log');
    const asked = log.some(({ role }) => role === 'user') ? [] : questionMessages(prompt.question, '/prompt/question');
    const isReplied = log.some(({ role }) => role === 'assistant');
    const key = ['result', 'model_result_raw', 'model_result'].find((one) => record[one] !== undefined) ?? 'result';
    const failure = whyFailed(record);
    const replies = isReplied || failure !== null ? [] : resultMessages(record[key], `/${key}`);
    const messages = [...asked, ...log, ...replies];
    return {
      known: new Set(['inference_log', 'result', 'model_result', 'model_result_raw', 'prompt']),
      messages,
      // Its calls of one turn are compared with the expected ones.
      runsNoCalls: log.length === 0,
      hasCallsApart: true,
      ...(failure === null
        ? {}
        : { ended: { how: 'aborted', evidence: failure.slice(0, 60) }, firstReply: messages.length }),
      score: recordedReward(record.valid),
      uid: stringIn(record.id),
      group: stringIn(record.id),
      groundTruth: record.possible_answer,
      tools: prompt.function,
    };
  },
});

/** The error that the model's server answered with, written in place of the result; null if it answered. */
const whyFailed = ({ result }: JsonObject): string | null =>
  typeof result === 'string' && result.startsWith('Error during inference:') ? result : null;

/** Turns of a task: a list of messages, or a list of such lists. */
function questionMessages(value: JsonValue | undefined, at: string): FoundMessage[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((one, i) =>
    Array.isArray(one)
      ? questionMessages(one, `${at}/${i}`)
      : isJsonObject(one)
        ? [chatMessage(one, `${at}/${i}`)]
        : [],
  );
}

/**
 * The log: messages, lists of them, or a turn as `{begin_of_turn_query, step_0: […], step_1: […]}`; states and notes of
 * the handler are not messages.
 */
function logMessages(value: JsonValue | undefined, at: string): FoundMessage[] {
  if (Array.isArray(value)) return value.flatMap((one, i) => logMessages(one, `${at}/${i}`));
  if (!isJsonObject(value)) return [];
  if (value.role !== undefined) return logMessage(value, at);
  return Object.entries(value).flatMap(([key, steps]) => {
    const found = logMessages(steps, `${at}/${key}`);
    const decoded = objectsOf(steps).find((one) => one.model_response_decoded !== undefined)?.model_response_decoded;
    const reply = found.find(({ role }) => role === 'assistant');
    if (reply !== undefined && reply.calls === undefined && Array.isArray(decoded))
      reply.calls = decoded.flatMap((call) => (typeof call === 'string' ? [writtenCall(call)] : decodedCalls(call)));
    return found;
  });
}

function logMessage(message: JsonObject, at: string): FoundMessage[] {
  if (!['system', 'user', 'assistant', 'tool'].includes(String(message.role))) return [];
  return message.role === 'assistant' ? resultMessages(message.content, `${at}/content`) : [chatMessage(message, at)];
}

/** A reply: a text, or calls as `[{name: arguments}]`; a list of these for several turns. */
function resultMessages(value: JsonValue | undefined, at: string): FoundMessage[] {
  if (typeof value === 'string') return [{ role: 'assistant', texts: [{ pointer: at, text: value }] }];
  if (!Array.isArray(value))
    return isJsonObject(value) ? [{ role: 'assistant', texts: [], calls: decodedCalls(value) }] : [];
  if (value.length > 0 && value.every((one) => isJsonObject(one)))
    return [{ role: 'assistant', texts: [], calls: value.flatMap(decodedCalls) }];
  return value.flatMap((one, i) => resultMessages(one, `${at}/${i}`));
}

const decodedCalls = (value: JsonValue): MessageCall[] =>
  isJsonObject(value) ? Object.entries(value).map(([name, args]) => ({ id: null, name, arguments: args })) : [];

/** `cd(folder='document')`, as a person would write it. */
const writtenCall = (text: string): MessageCall => ({
  id: null,
  name: /^[\w.]+/.exec(text)?.[0] ?? null,
  arguments: { call: contentText(text) },
  raw: text,
});
