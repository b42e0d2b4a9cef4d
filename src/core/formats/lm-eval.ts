import { isJsonObject, type JsonObject, type JsonValue, listIn, objectIn } from '../json/value.ts';
import { itemAt } from '../lists/at.ts';
import { type FoundMessage, messageFormat } from './build.ts';
import type { Format } from './format.ts';
import { given } from './given.ts';
import { chatMessage } from './openai-message.ts';
import { idOf, numberOf, objectsOf, parsed, recordedReward } from './values.ts';

/** Metrics of reply quality; of a task with several, the first of these is the score. */
const SCORES = ['exact_match', 'acc', 'acc_norm', 'pass@1', 'score', 'f1', 'em'];

/**
 * Samples of lm-evaluation-harness (`--log_samples`), one line per document and filter: the model's input and output.
 * For likelihood requests over given continuations, the likeliest is shown as a given reply, because the model wrote
 * none.
 */
export const lmEval: Format = messageFormat({
  name: 'lm-eval',
  isStepless: true,
  basis: 'documentation',
  mapping: {
    turns: 'arguments (the first of the first request), then resps',
    score: SCORES.join(', or '),
    'ground truth': 'target',
    uid: 'doc_id',
  },
  detects: ({ doc_id, resps, arguments: asked }) =>
    doc_id !== undefined && Array.isArray(resps) && (Array.isArray(asked) || isJsonObject(asked ?? undefined)),
  // A document with several requests: its metrics cover all replies together.
  split(record) {
    const replies = generated(record);
    if (replies.length < 2) return [record];
    const own = Object.keys(record).filter((key) => !SCORES.includes(key));
    const rest = Object.fromEntries(own.map((key) => [key, record[key]]));
    const metrics = Object.fromEntries(
      SCORES.flatMap((key) => (record[key] === undefined ? [] : [[key, record[key]]])),
    );
    return replies.map((reply) => ({ ...rest, resps: [[reply]], metrics_of_all: metrics }));
  },
  find(record) {
    const { doc_id, target } = record;
    const requests = requestsOf(record.arguments);
    const replies = generated(record);
    const messages = requests.length === 0 ? [] : requestPrompt(itemAt(requests, 0));
    if (replies.length > 0)
      messages.push({ role: 'assistant', texts: [{ pointer: '/resps/0/0', text: itemAt(replies, 0) }] });
    else messages.push(...likeliest(requests, record.resps));
    const known = ['doc_id', 'target', 'arguments', ...(replies.length > 0 ? ['resps'] : [])];
    const score = SCORES.map((name) => recordedReward(record[name])).find((one) => one !== null) ?? null;
    const uid = idOf(doc_id);
    return {
      known: new Set(known),
      messages,
      score,
      uid,
      group: uid,
      groundTruth: target,
      isUnsampled: replies.length === 0,
      isValidation: true,
    };
  },
});

interface Request {
  pointer: string;
  values: JsonValue[];
}

/** Lists, or `{gen_args_0: {arg_0, arg_1}}` as newer versions write them. */
function requestsOf(value: JsonValue | undefined): Request[] {
  const requests = Array.isArray(value) ? [...value.entries()] : isJsonObject(value) ? Object.entries(value) : [];
  return requests.map(([name, one]) => {
    const isObject = isJsonObject(one ?? undefined);
    const values = Array.isArray(one) ? one : isObject ? Object.values(objectIn(one)) : [one];
    return { pointer: `/arguments/${name}/${isObject ? 'arg_' : ''}`, values: listIn(values) };
  });
}

/** A text, or messages as a JSON text (`--apply_chat_template` against a server). */
function requestPrompt({ pointer, values: [prompt] }: Request): FoundMessage[] {
  const listed = typeof prompt === 'string' && prompt.trimStart().startsWith('[') ? parsed(prompt) : prompt;
  const said = objectsOf(listed).filter(({ role, content }) => typeof role === 'string' && content !== undefined);
  if (said.length > 0) return said.map((message, at) => given(chatMessage(message, `${pointer}0/${at}`)));
  return typeof prompt === 'string' && prompt !== ''
    ? [{ role: 'user', texts: [{ pointer: `${pointer}0`, text: prompt }] }]
    : [];
}

/**
 * The texts that the model wrote for the one request. Likelihoods appear as pairs instead; a text rated as a whole has
 * no second argument.
 */
function generated({ arguments: asked, resps }: JsonObject): string[] {
  const requests = requestsOf(asked);
  const [replies] = Array.isArray(resps) ? resps : [];
  if (requests.length !== 1 || itemAt(requests, 0).values.length < 2 || !Array.isArray(replies)) return [];
  return replies.filter((one) => typeof one === 'string');
}

/** The continuation with the highest likelihood among the given choices. */
function likeliest(requests: readonly Request[], resps: JsonValue | undefined): FoundMessage[] {
  const rated = (Array.isArray(resps) ? resps : []).map((one) => {
    const [pair] = Array.isArray(one) ? one : [];
    return (Array.isArray(pair) ? numberOf(pair[0]) : null) ?? Number.NEGATIVE_INFINITY;
  });
  const best = rated.indexOf(Math.max(...rated));
  const request = requests[best];
  const text = request?.values[1];
  if (request === undefined || typeof text !== 'string' || !Number.isFinite(rated[best])) return [];
  return [given({ role: 'assistant', texts: [{ pointer: `${request.pointer}1`, text }] })];
}
