import { printJson } from '../json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue, objectIn, stringIn } from '../json/value.ts';
import { anyMessages, isForeign } from './any-message.ts';
import { withResults } from './blocks.ts';
import { type FoundMessage, messageFormat } from './build.ts';
import { condensedContexts, isReasoningItem, layClineCalls, layCondensed, thoughtsBefore } from './cline.ts';
import type { Format } from './format.ts';
import { given } from './given.ts';
import { chatMessage, roleOfMessage } from './openai-message.ts';
import { withTaggedResults } from './tagged-results.ts';
import { idOf, namedNumbers, numberOf, objectsOf, parsed, recordedReward } from './values.ts';
import { layXmlCalls } from './xml-calls.ts';

const FIELDS = [
  'messages',
  'conversations',
  'conversation',
  'dialog',
  'dialogue',
  'chat',
  'traj',
  'trajectory',
  'history',
  'chosen',
];

/** A list of chat messages, as it is or as a JSON text; in one, whatever has a role is a message. */
function chatList(value: JsonValue | undefined): JsonObject[] {
  const list = objectsOf(typeof value === 'string' && value.trimStart().startsWith('[') ? parsed(value) : value);
  return list.some(isChatMessage) ? list.filter((one) => isChatMessage(one) || typeof one.role === 'string') : [];
}

/** One message of OpenAI's or ShareGPT's shape. */
export const isChatMessage = (one: JsonObject): boolean =>
  isReasoningItem(one) ||
  (typeof one.role === 'string' &&
    (one.content !== undefined ||
      one.tool_calls !== undefined ||
      one.function_call !== undefined ||
      one.text !== undefined ||
      one.parts !== undefined)) ||
  (typeof one.from === 'string' && one.value !== undefined);

const fieldOf = (record: JsonObject): string | undefined => FIELDS.find((field) => chatList(record[field]).length > 0);

/**
 * Whether a message is trained on, if it says so: `weight` of OpenAI's fine-tuning, `loss` of AgentTuning, `train` of
 * Axolotl. Else null.
 */
function trainedBy({ weight, loss, train, role, from }: JsonObject): boolean | null {
  if (roleOfMessage(role ?? from) !== 'assistant') return null;
  const said = weight ?? loss ?? train;
  return typeof said === 'boolean' ? said : said === 0 || said === 1 ? said === 1 : null;
}

/** A reply beside the messages that ask for it. */
const REPLIES =
  'response completion generation output model_response model_output policy_response generated_text reply'.split(' ');

/** The reply in a column of its own, as a text, a message or messages; none if the messages end with one. */
function replyBeside(
  record: JsonObject,
  last: FoundMessage | undefined,
): { key: string; messages: FoundMessage[] } | null {
  if (last === undefined || last.role === 'assistant' || (last.calls ?? []).length > 0) return null;
  for (const key of REPLIES) {
    const value = record[key];
    if (typeof value === 'string' && value !== '' && chatList(value).length === 0)
      return { key, messages: [{ role: 'assistant', texts: [{ pointer: `/${key}`, text: value }] }] };
    if (isJsonObject(value) && isChatMessage(value)) return { key, messages: [chatMessage(value, `/${key}`)] };
    const list = chatList(value);
    if (list.length > 0) return { key, messages: list.map((message, at) => chatMessage(message, `/${key}/${at}`)) };
  }
  return null;
}

/** Keys beside messages that only a model run produces. */
const SAMPLED =
  'rewards step model usage finish_reason stop_reason logprobs advantage sampling_params temperature'.split(' ');

/**
 * Chat messages of OpenAI's API or ShareGPT, as data sets and tools write them; of a pair, `chosen` is the rollout and
 * `rejected` a rejected history.
 */
export const chatMessages: Format = messageFormat({
  name: 'messages',
  basis: 'files',
  mapping: {
    turns: `${FIELDS.join(', or ')}; a reply beside them: ${REPLIES.join(', or ')}`,
    mask: 'weight, loss or train of a message',
    score: 'reward, else score',
    contexts: 'rejected',
    tools: 'tools',
  },
  detects: (record) => fieldOf(record) !== undefined,
  find(record) {
    const field = fieldOf(record) as string;
    const own = chatList(record[field]);
    // A pair may hold only the replies, beside the prompt as text or messages.
    const isReplyAlone = field === 'chosen' && own[0]?.role === 'assistant';
    const first = isReplyAlone && typeof record.prompt === 'string' ? [record.prompt] : [];
    const asked = isReplyAlone && Array.isArray(record.prompt) ? chatList(record.prompt) : [];
    const thoughts = thoughtsBefore(own, `/${field}`);
    const laid = layCondensed(own, (message, at) => {
      if (isReasoningItem(message)) return [];
      const trained = trainedBy(message);
      const found = (isForeign(message) ? anyMessages : withResults)(message, `/${field}/${at}`);
      return found.map((one, i) => {
        if (one.role !== 'assistant') return one;
        const texts = i === 0 ? [...(thoughts.get(message) ?? []), ...one.texts] : one.texts;
        return { ...one, texts, ...(trained === null ? {} : { trained }) };
      });
    });
    const said = layClineCalls(laid);
    const messages: FoundMessage[] = [
      ...(typeof record.system === 'string' && record.system !== ''
        ? [chatMessage({ role: 'system', content: record.system }, '/system')]
        : []),
      ...first.map((text) => chatMessage({ role: 'user', content: text }, '/prompt')),
      ...asked.map((message, at) => given(chatMessage(message, `/prompt/${at}`))),
      ...withTaggedResults(said),
    ];
    layXmlCalls(messages);
    const beside = replyBeside(record, messages.at(-1));
    messages.push(...(beside?.messages ?? []));
    const hasMask = own.some((message) => trainedBy(message) !== null);
    const contexts = condensedContexts(messages);
    const rejected = field === 'chosen' ? chatList(record.rejected) : [];
    if (rejected.length > 0) {
      let shared = 0;
      while (shared < own.length && printJson(own[shared]) === printJson(rejected[shared])) shared++;
      contexts.push({
        kind: 'rejected',
        name: 'rejected',
        after: asked.length + shared === 0 ? null : asked.length + shared - 1,
      });
      for (const [at, message] of rejected.entries())
        if (at >= shared) {
          const one = chatMessage(message, `/rejected/${at}`);
          messages.push({ ...one, context: contexts.length - 1, trained: one.role === 'assistant' ? null : false });
        }
    }
    const tools = typeof record.tools === 'string' ? parsed(record.tools) : record.tools;
    const score = recordedReward(record.reward ?? record.score ?? record.resolved);
    return {
      isUnsampled: score === null && !SAMPLED.some((key) => record[key] !== undefined),
      known: new Set([
        field,
        'tools',
        'step',
        'reward',
        'system',
        ...(rejected.length > 0 ? ['rejected'] : []),
        ...(beside === null ? [] : [beside.key]),
      ]),
      messages,
      hasCallsApart: own.some((one) => one.tool_calls !== undefined && one.tool_calls !== null),
      contexts,
      ...(hasMask ? { mask: 'recorded' as const } : {}),
      score,
      step: numberOf(record.step),
      named: namedNumbers(record.rewards),
      uid: idOf(record.id),
      groundTruth: record.answer ?? record.ground_truth ?? record.solution,
      tools,
    };
  },
});

/** A single-text prompt beside its expected answer; a text alone does not identify a known data set. */
function questionKey(record: JsonObject): string | null {
  const truths = ['answer', 'ground_truth', 'solution', 'reward_model', 'data_source', 'extra_info'];
  if (!truths.some((key) => record[key] !== undefined)) return null;
  return (
    ['prompt', 'question', 'problem'].find((key) => typeof record[key] === 'string' && !/^\s*\[/.test(record[key])) ??
    null
  );
}

/** A data set's row: a prompt of messages, without a model's answer (verl's and others' parquet). */
export const promptRow: Format = messageFormat({
  name: 'prompts',
  basis: 'files',
  mapping: { turns: 'prompt', 'ground truth': 'reward_model.ground_truth, else answer' },
  detects: (record) =>
    (chatList(record.prompt).length > 0 || questionKey(record) !== null) &&
    record.completion === undefined &&
    record.response === undefined &&
    record.output === undefined,
  find(record) {
    const model = objectIn(record.reward_model);
    const question = questionKey(record);
    const asked = question === null ? chatList(record.prompt) : [];
    const messages: FoundMessage[] = asked.map(
      (message, at): FoundMessage => ({ ...chatMessage(message, `/prompt/${at}`), trained: false }),
    );
    if (question !== null)
      messages.push({
        role: 'user',
        trained: false,
        texts: [{ pointer: `/${question}`, text: stringIn(record[question]) }],
      });
    return {
      isUnsampled: true,
      known: new Set(['prompt', ...(question === null ? [] : [question])]),
      messages,
      firstReply: messages.length,
      groundTruth: model.ground_truth ?? record.answer,
      isValidation: true,
    };
  },
});

/** Trackio's traces (`trackio/sqlite_storage.py`), where verl, TRL, ROLL and slime log rollouts: rows of its SQLite file or of the parquet made from it. */
export const trackio: Format = messageFormat({
  name: 'trackio',
  basis: 'files',
  mapping: {
    turns: 'messages',
    score: 'metadata.reward',
    'named rewards': 'other numbers of metadata',
    step: 'step',
    group: 'metadata.group',
  },
  detects: (record) =>
    record.messages !== undefined &&
    record.metadata !== undefined &&
    record.run_name !== undefined &&
    record.key !== undefined,
  find(record) {
    const held = typeof record.metadata === 'string' ? parsed(record.metadata) : record.metadata;
    const metadata = objectIn(held);
    const reward = numberOf(metadata.reward);
    return {
      known: new Set('messages metadata search_text step log_id space_id'.split(' ')),
      messages: chatList(record.messages).map((message, at) => chatMessage(message, `/messages/${at}`)),
      hasCallsApart: true,
      score: reward === null || Number.isNaN(reward) ? null : reward,
      step: numberOf(record.step),
      uid: idOf(record.id),
      group: idOf(metadata.group),
      status: idOf(metadata.status),
      groundTruth: metadata.answer ?? metadata.ground_truth,
      tools: metadata.tools,
      extras: metadata,
    };
  },
});

/** A model call recorded by rLLM's gateway (`traces(trace_id, data, created_at)`): the request and the response. */
export const rllmGateway: Format = messageFormat({
  name: 'rllm-gateway',
  basis: 'documentation',
  mapping: {
    turns: 'data.messages (or data.input.messages), then the reply in data.response or data.output',
    tokens: 'data.prompt_token_ids and completion_token_ids',
  },
  detects: (record) => record.trace_id !== undefined && record.data !== undefined && record.created_at !== undefined,
  find(record) {
    const held = typeof record.data === 'string' ? parsed(record.data) : record.data;
    const data = objectIn(held);
    const input = isJsonObject(data.input) ? data.input : isJsonObject(data.request) ? data.request : data;
    const messages = chatList(input.messages).map(
      (message, at): FoundMessage => ({ ...chatMessage(message, `/data/messages/${at}`), trained: false }),
    );
    const output = isJsonObject(data.response) ? data.response : objectIn(data.output);
    const choice = objectsOf(output.choices)[0];
    const reply = isJsonObject(choice?.message)
      ? choice.message
      : isJsonObject(output.message)
        ? output.message
        : output;
    if (isChatMessage(reply)) messages.push({ ...chatMessage(reply, '/data/response'), role: 'assistant' });
    return {
      known: new Set(['data']),
      messages,
      hasCallsApart: true,
      uid: idOf(record.trace_id),
      score: numberOf(data.reward),
      extras: Object.fromEntries(
        Object.entries(data).filter(([, value]) => typeof value !== 'object' || value === null),
      ),
    };
  },
});
