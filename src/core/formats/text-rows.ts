import { isJsonObject, type JsonObject, type JsonValue, objectIn, stringIn } from '../json/value.ts';
import type { Rollout } from '../rollout/rollout.ts';
import { buildRollout, messageFormat } from './build.ts';
import type { Format, ReadContext } from './format.ts';
import { given } from './given.ts';
import { chatMessage } from './openai-message.ts';
import { textRollout } from './text-rollout.ts';
import { SAMPLED_END } from './token-lists.ts';
import { idOf, namedNumbers, numberOf, numbersOf, objectsOf, parsed } from './values.ts';

const isText = (value: JsonValue | undefined): value is string => typeof value === 'string';
const set = (keys: string): ReadonlySet<string> => new Set(keys.split(' '));

/**
 * SkyRL's evaluations (`skyrl/train/utils/trainer_utils.py`): texts with their special tokens; the score is a number,
 * or one per token.
 */
export const skyrl: Format = {
  name: 'skyrl',
  basis: 'files',
  mapping: {
    prompt: 'input_prompt',
    response: 'output_response',
    score: 'score (the sum if there is one per token)',
    ended: 'stop_reason',
  },
  detects: (record) => isText(record.input_prompt) && isText(record.output_response),
  read(record, context) {
    const list = numbersOf(record.score);
    const score = list === null ? numberOf(record.score) : list.reduce<number>((sum, one) => sum + (one ?? 0), 0);
    const env = objectIn(record.env_extras);
    const spec = objectIn(env.reward_spec);
    return textRollout(
      {
        format: 'skyrl',
        record,
        end: SAMPLED_END,
        known: list === null ? set('input_prompt output_response score') : set('input_prompt output_response'),
        prompt: stringIn(record.input_prompt),
        response: stringIn(record.output_response),
        promptField: 'input_prompt',
        responseField: 'output_response',
        score,
        groundTruth: spec.ground_truth ?? env.ground_truth ?? env.answer,
      },
      context,
    );
  },
};

/**
 * AReaL's dump (`areal/infra/workflow_executor.py`). Its prompt ends where the number of remaining tokens equals the
 * number of trained ones. With alternating turns that border is inside the conversation, and it is unknown which of the
 * model's earlier text was trained.
 */
export const areal: Format = {
  name: 'areal',
  basis: 'files',
  mapping: {
    prompt: 'prompt',
    response: 'completion',
    score: 'reward',
    step: 'tail_version (the policy version)',
    group: 'task_id',
  },
  detects: (record) => isText(record.prompt) && isText(record.completion) && record.head_version !== undefined,
  read(record, context) {
    const [prompt, completion] = [stringIn(record.prompt), stringIn(record.completion)];
    const rollout = textRollout(
      {
        format: 'areal',
        record,
        end: SAMPLED_END,
        known: set('prompt completion reward task_id'),
        // One text, cut at a place that is not a border.
        isWhole: true,
        prompt: '',
        response: prompt + completion,
        promptField: '',
        responseField: [
          { pointer: 'prompt', length: prompt.length },
          { pointer: 'completion', length: completion.length },
        ],
        score: numberOf(record.reward),
        step: numberOf(record.tail_version),
        group: idOf(record.task_id),
      },
      context,
    );
    return context.validation ? rollout : withUnknownHead(rollout);
  },
};

/** The model's text before the border: the record does not say whether it was trained. */
function withUnknownHead(rollout: Rollout): Rollout {
  const { turns, spans } = rollout;
  const own = spans.filter(({ field }) => field === 'completion');
  for (const span of spans) if (span.field === 'prompt' && span.trained === true) span.trained = null;
  for (const turn of turns)
    if (turn.trained === true && !own.some((span) => span.turn === turn.index && span.trained === true))
      turn.trained = null;
  const first = turns.findIndex(({ role }) => role === 'assistant');
  return { ...rollout, responseTurn: first === -1 ? turns.length : first };
}

/**
 * Agent Lightning (`agentlightning/verl/rollout_adapter.py`): the last call of a rollout; its prompt contains the
 * earlier turns.
 */
export const agentLightning: Format = {
  name: 'agent-lightning',
  quickKeys: { score: 'reward', step: 'step' },
  basis: 'files',
  mapping: { prompt: 'prompt', response: 'response', score: 'reward', uid: 'rollout_id' },
  detects: (record) => isText(record.rollout_id) && isText(record.prompt) && isText(record.response),
  read: (record, context) =>
    textRollout(
      {
        format: 'agent-lightning',
        record,
        end: SAMPLED_END,
        known: set('rollout_id reward prompt response step'),
        prompt: stringIn(record.prompt),
        response: stringIn(record.response),
        promptField: 'prompt',
        responseField: 'response',
        score: numberOf(record.reward),
        step: numberOf(record.step),
        uid: idOf(record.rollout_id),
      },
      context,
    ),
};

/** Reward columns of TRL are named after their functions. */
const REWARD = /reward|score|accuracy|format/i;

/**
 * TRL's completions (`trl/trainer/grpo_trainer.py`): texts without special tokens, or messages; one column per reward
 * function, then the data set's columns, then the advantage. The rollout's score is `reward`, else the correctness
 * reward, else the first.
 */
export const trl: Format = {
  name: 'trl',
  basis: 'files',
  mapping: {
    prompt: 'prompt',
    response: 'completion',
    score: 'reward, else accuracy_reward, else the first reward column',
    advantage: 'advantage',
  },
  detects: (record) =>
    isTextOrList(record.prompt) &&
    isTextOrList(record.completion) &&
    record.step !== undefined &&
    (record.advantage !== undefined || Object.keys(record).some((key) => REWARD.test(key))),
  read: (record, context) => promptAndReply('trl', ['prompt', 'completion'], record, context),
};

/**
 * Columns with the question and the answer of a row. A prompt `input` must be messages: text beside `output` is verl's.
 */
function textFields(record: JsonObject): readonly [string, string] | null {
  const asked = isTextOrList(record.prompt) ? 'prompt' : Array.isArray(record.input) ? 'input' : null;
  const reply = REPLIES.find((key) => isTextOrList(record[key]));
  return asked === null || reply === undefined || !isTextOrList(record[asked]) ? null : [asked, reply];
}

const REPLIES = ['completion', 'response', 'generation', 'output'];

/** A prompt and its answer in a row: data sets of replies, and undocumented writers. */
export const promptAndReplyRow: Format = {
  name: 'prompt-response',
  basis: 'documentation',
  mapping: {
    prompt: 'prompt, or messages in input',
    response: REPLIES.join(', or '),
    score: 'reward, else score',
  },
  detects: (record) => textFields(record) !== null,
  read: (record, context) =>
    promptAndReply('prompt-response', textFields(record) ?? ['prompt', 'completion'], record, context),
};

const REPLIES_ALONE = [...REPLIES, 'policy_response', 'model_response', 'model_output'];
/** A column with such a name may hold the question, and only the user knows whether it does. */
const ASKS = /prompt|question|instruction|input|query|problem|context|messages|conversation/i;

const replyAlone = (record: JsonObject): string | undefined =>
  numberOf(record.reward ?? record.score) === null ||
  Object.keys(record).some((key) => ASKS.test(key) && isTextOrList(record[key]))
    ? undefined
    : REPLIES_ALONE.find((key) => isText(record[key]));

/** A scored answer whose question its writer keeps in another file (NeMo-Gym's verifiers with judges). */
export const scoredReply: Format = messageFormat({
  name: 'scored-reply',
  basis: 'files',
  mapping: { response: REPLIES_ALONE.join(', or '), score: 'reward, else score', 'named rewards': 'reward_…' },
  detects: (record) => replyAlone(record) !== undefined,
  find(record) {
    const reply = replyAlone(record) ?? 'response';
    const text = isText(record[reply]) ? record[reply] : '';
    const parts = Object.entries(record).filter(([key]) => key.startsWith('reward_'));
    return {
      known: new Set([reply, 'reward', 'step', ...(record.reward === undefined ? ['score'] : [])]),
      messages: [{ role: 'assistant', texts: [{ pointer: `/${reply}`, text }] }],
      score: numberOf(record.reward ?? record.score),
      step: numberOf(record.step),
      named: namedNumbers(Object.fromEntries(parts)),
      groundTruth: record.answer ?? record.ground_truth ?? record.solution,
    };
  },
});

const isTextOrList = (value: JsonValue | undefined): boolean =>
  isText(value) || (Array.isArray(value) && value.some(isJsonObject));

function promptAndReply(
  format: string,
  [asked, reply]: readonly [string, string],
  record: JsonObject,
  context: ReadContext,
): Rollout {
  const rewards = format === 'trl' ? REWARD : /^(?:reward|score)$/;
  const columns = Object.keys(record).filter(
    (key) => rewards.test(key) && (record[key] === null || numberOf(record[key]) !== null),
  );
  const named = namedNumbers(Object.fromEntries(columns.map((key) => [key, numberOf(record[key])])));
  const main = ['reward', 'accuracy_reward', 'correctness_reward'].find((key) => columns.includes(key)) ?? columns[0];
  const value = main === undefined ? null : numberOf(record[main]);
  const common = {
    format,
    record,
    known: new Set([asked, reply, 'advantage', 'step']),
    // A reward function that returned None is NaN in a column of floats: no score.
    score: value !== null && Number.isNaN(value) ? null : value,
    step: numberOf(record.step),
    advantage: numberOf(record.advantage),
    named,
    groundTruth: record.answer ?? record.ground_truth ?? record.solution,
    isUnsampled: format === 'prompt-response' && value === null && record.step === undefined,
  };
  const response = record[reply];
  const prompt = record[asked];
  if (isText(prompt) && isText(response))
    return textRollout({ ...common, prompt, response, promptField: asked, responseField: reply }, context);
  const messages = [asked, reply].flatMap((field) => {
    const value = record[field];
    const list = isText(value)
      ? (parsed(value) ?? [{ role: field === asked ? 'user' : 'assistant', content: value }])
      : value;
    return objectsOf(list).map((message, at) => {
      const one = chatMessage(message, `/${field}/${at}`);
      return field === asked ? given(one) : one;
    });
  });
  return buildRollout({ ...common, messages }, context);
}

/**
 * RLLoggingBoard (github.com/HarderThenHarder/RLLoggingBoard): a prompt, a response, and lists of numbers for the
 * response's tokens, which are stored as texts.
 */
export const rlLoggingBoard: Format = {
  name: 'rlloggingboard',
  quickKeys: { score: 'reward', step: 'step' },
  basis: 'files',
  mapping: { prompt: 'prompt', response: 'response', score: 'reward', step: 'step' },
  detects: (record) =>
    isText(record.prompt) &&
    isText(record.response) &&
    (record.response_tokens !== undefined ||
      record.ref_response !== undefined ||
      (record.step !== undefined && record.reward !== undefined)),
  read: (record, context) =>
    textRollout(
      {
        format: 'rlloggingboard',
        record,
        known: set('prompt response reward step'),
        prompt: stringIn(record.prompt),
        response: stringIn(record.response),
        promptField: 'prompt',
        responseField: 'response',
        score: numberOf(record.reward),
        step: numberOf(record.step),
        groundTruth: record.ground_truth ?? record.label,
      },
      context,
    ),
};
