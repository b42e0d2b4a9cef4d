import { hashOf } from '../json/fingerprint.ts';
import { printJson } from '../json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue, listIn, objectIn } from '../json/value.ts';
import type { Context } from '../rollout/rollout.ts';
import { buildRollout, type FoundMessage, messageFormat } from './build.ts';
import type { Format } from './format.ts';
import { idTurns } from './id-turns.ts';
import { chatMessage } from './openai-message.ts';
import { textRollout } from './text-rollout.ts';
import { SAMPLED_END, splitSequence } from './token-lists.ts';
import { idOf, idsOf, namedNumbers, numberOf, numbersOf, objectsOf, parsed } from './values.ts';

/**
 * ART's group (`art/utils/trajectory_logging.py`): trajectories of one prompt. Messages that are a Choice were sampled,
 * all others were given.
 */
export const artGroup: Format = {
  name: 'art-group',
  basis: 'files',
  mapping: { rollouts: 'trajectories[]' },
  detects: (record) => objectsOf(record.trajectories).some((one) => Array.isArray(one.messages_and_choices)),
  split(record) {
    const { trajectories, ...rest } = record;
    const key = hashOf(printJson(record));
    return objectsOf(trajectories).map((one, at) => ({ ...one, art_group: { ...rest, key, position: at } }));
  },
  read: (record, context) => art.read(record, context),
};

/**
 * One trajectory of ART, from its JSONL and YAML (`messages_and_choices`), or a row of its parquet (`messages` with
 * `trainable`).
 */
export const art: Format = messageFormat({
  name: 'art',
  basis: 'files',
  mapping: {
    turns: 'messages_and_choices[], or messages[]',
    mask: 'an item with `message` is a Choice, hence trained; else `trainable`',
    score: 'reward',
    'named rewards': 'metrics',
    contexts: 'additional_histories[]',
  },
  detects: (record) =>
    Array.isArray(record.messages_and_choices) ||
    (Array.isArray(record.messages) &&
      objectsOf(record.messages).some((one) => one.trainable !== undefined) &&
      record.reward !== undefined),
  find(record) {
    const field = Array.isArray(record.messages_and_choices) ? 'messages_and_choices' : 'messages';
    const reasons: string[] = [];
    const contexts: Context[] = [{ kind: 'main', name: null, after: null }];
    const read = (list: JsonValue | undefined, at: string, place: number): FoundMessage[] =>
      objectsOf(list).map((item, i) => {
        const isChoice = isJsonObject(item.message);
        const message = isChoice ? objectIn(item.message) : item;
        const reason = idOf(item.finish_reason);
        if (isChoice && reason !== null) reasons.push(reason);
        const trained = isChoice || item.trainable === true;
        return { ...chatMessage(message, `${at}/${i}${isChoice ? '/message' : ''}`), trained, context: place };
      });
    const messages = read(record[field], `/${field}`, 0);
    for (const [i, history] of objectsOf(record.additional_histories).entries()) {
      contexts.push({ kind: 'branch', name: null, after: null });
      messages.push(
        ...read(
          history.messages_and_choices ?? history.messages,
          `/additional_histories/${i}/messages_and_choices`,
          i + 1,
        ),
      );
    }
    const group = objectIn(record.art_group);
    const metadata = objectIn(record.metadata);
    const metrics = typeof record.metrics === 'string' ? parsed(record.metrics) : record.metrics;
    const reason = reasons.at(-1);
    return {
      known: new Set(['messages_and_choices', 'messages', 'additional_histories', 'reward', 'tools', 'metrics']),
      messages,
      hasCallsApart: true,
      contexts,
      score: numberOf(record.reward),
      named: namedNumbers(metrics),
      group: idOf(record.group_index) ?? idOf(group.key),
      groundTruth: metadata.answer,
      tools: typeof record.tools === 'string' ? parsed(record.tools) : record.tools,
      mask: 'recorded',
      extras: {
        ...(metrics === undefined || metrics === null ? {} : { metrics }),
        ...(reason === undefined ? {} : { finish_reason: reason }),
        ...(isJsonObject(group.metadata) ? { group_metadata: group.metadata } : {}),
      },
    };
  },
});

/**
 * Atropos' group (`atroposlib/envs/base.py`): columns of one prompt's rollouts. A mask of −100 is not trained; else it
 * repeats the token.
 */
export const atroposGroup: Format = {
  name: 'atropos-group',
  isStepless: true,
  basis: 'files',
  mapping: { rollouts: 'each place of tokens, masks, scores, messages' },
  detects: ({ tokens, masks, scores }) => Array.isArray(tokens) && Array.isArray(masks) && Array.isArray(scores),
  split(record) {
    const count = listIn(record.tokens).length;
    // A line is a group, whatever the prompts of other lines.
    const group = hashOf(printJson(record));
    return Array.from({ length: count }, (_, at): JsonObject => {
      const one: JsonObject = { atropos_position: at, atropos_group: group };
      for (const [key, value] of Object.entries(record))
        one[key] = Array.isArray(value) && value.length === count ? (value[at] ?? null) : value;
      return one;
    });
  },
  read: (record, context) => atropos.read(record, context),
};

const ATROPOS = new Set(
  'tokens masks scores messages inference_logprobs ref_logprobs advantages atropos_position atropos_group'.split(' '),
);

export const atropos: Format = {
  name: 'atropos',
  isStepless: true,
  basis: 'files',
  mapping: {
    turns: 'messages',
    mask: 'masks (−100 = not trained)',
    tokens: 'tokens',
    score: 'scores',
    'log probabilities': 'inference_logprobs',
    advantage: 'advantages',
  },
  detects: (record) => record.atropos_position !== undefined,
  read(record, context) {
    const ids = idsOf(record.tokens);
    const masks = numbersOf(record.masks);
    const mask = masks?.map((one) => (one === null || one === -100 ? 0 : 1)) ?? null;
    const tokens =
      ids === null || mask === null || mask.length !== ids.length
        ? null
        : splitSequence(ids, mask, {
            logprobs: numbersOf(record.inference_logprobs),
            ref_logprobs: numbersOf(record.ref_logprobs),
            advantages: numbersOf(record.advantages),
            token_scores: numbersOf(record.token_scores),
          });
    const list = objectsOf(record.messages);
    const messages = list.map((message, at): FoundMessage => {
      const one = chatMessage(message, `/messages/${at}`);
      return { ...one, reward: numberOf(message.reward) };
    });
    const common = {
      format: 'atropos',
      record,
      known: ATROPOS,
      group: idOf(record.atropos_group),
      score: numberOf(record.scores),
      advantage: numberOf(Array.isArray(record.advantages) ? null : record.advantages),
      tokens,
      mask: 'recorded' as const,
    };
    if (typeof record.messages === 'string')
      return textRollout(
        {
          ...common,
          end: SAMPLED_END,
          isWhole: true,
          prompt: '',
          response: record.messages,
          promptField: '',
          responseField: '/messages',
        },
        context,
      );
    // An environment may keep only the tokens.
    return buildRollout(
      { ...common, messages: list.length > 0 || tokens === null ? messages : idTurns(tokens, '/tokens') },
      context,
    );
  },
};

/** ROLL writes a step as columns of equal length on one line (`roll/pipeline/rlvr/utils.py`, `agentic/utils.py`). */
export const rollStep: Format = {
  name: 'roll-step',
  basis: 'files',
  mapping: { rollouts: 'each place of responses and scores, or of trajectory_data' },
  detects: ({ responses, scores, trajectory_data }) =>
    (Array.isArray(responses) && Array.isArray(scores)) || Array.isArray(trajectory_data),
  split(record) {
    const lead = listIn(Array.isArray(record.trajectory_data) ? record.trajectory_data : record.responses);
    const rows = Array.from({ length: lead.length }, (_, at): JsonObject => {
      const one: JsonObject = { roll_position: at };
      for (const [key, value] of Object.entries(record))
        one[key] = Array.isArray(value) && value.length === lead.length ? (value[at] ?? null) : value;
      return one;
    });
    // In an agentic step, all rows of a trajectory but the last are empty, unless they were dropped earlier.
    return Array.isArray(record.trajectory_data) ? rows.filter((row) => row.trajectory_data !== null) : rows;
  },
  read: (record, context) => roll.read(record, context),
};

export const roll: Format = {
  name: 'roll',
  basis: 'files',
  mapping: {
    turns: 'prompt and responses, or messages (a JSON text)',
    score: 'scores, or reward_info.episode_reward of trajectory_data',
    step: 'global_step',
    'reward of a turn': 'reward_info.step_rewards',
    group: 'id, or env_info.group_id',
  },
  detects: (record) => record.roll_position !== undefined,
  read(record, context) {
    const data = typeof record.trajectory_data === 'string' ? parsed(record.trajectory_data) : record.trajectory_data;
    if (isJsonObject(data)) return readAgentic(record, data, context);
    const score = numberOf(record.scores);
    return textRollout(
      {
        format: 'roll',
        record,
        known: new Set(['prompt', 'responses', 'scores', 'global_step', 'ground_truth', 'roll_position', 'id']),
        prompt: typeof record.prompt === 'string' ? record.prompt : '',
        response: typeof record.responses === 'string' ? record.responses : '',
        promptField: 'prompt',
        responseField: 'responses',
        // NaN means that the reward worker returned nothing.
        score: score === null || Number.isNaN(score) ? null : score,
        step: numberOf(record.global_step),
        group: idOf(record.id),
        groundTruth: record.ground_truth,
      },
      context,
    );
  },
};

function readAgentic(
  record: JsonObject,
  data: JsonObject,
  context: Parameters<Format['read']>[1],
): ReturnType<Format['read']> {
  const held = typeof record.messages === 'string' ? parsed(record.messages) : record.messages;
  const lists = Array.isArray(held) ? (held.every(Array.isArray) ? held : [held]) : [];
  const contexts: Context[] = lists.map((_, at) => ({ kind: at === 0 ? 'main' : 'branch', name: null, after: null }));
  const messages = lists.flatMap((list, place) =>
    objectsOf(list).map(
      (message, at): FoundMessage => ({ ...chatMessage(message, `/messages/${place}/${at}`), context: place }),
    ),
  );
  const reward = objectIn(data.reward_info);
  const steps = numbersOf(reward.step_rewards);
  const replies = messages.filter(({ role }) => role === 'assistant');
  if (steps?.length === replies.length) for (const [at, reply] of replies.entries()) reply.reward = steps[at] ?? null;
  const env = objectIn(data.env_info);
  const failure = objectIn(data.failure_info);
  const tools = typeof record.tools === 'string' ? parsed(record.tools) : record.tools;
  return buildRollout(
    {
      format: 'roll',
      record,
      known: new Set(['trajectory_data', 'messages', 'tools', 'global_step', 'roll_position']),
      messages,
      hasCallsApart: messages.some(({ calls }) => calls !== undefined),
      contexts,
      score: numberOf(reward.episode_reward),
      step: numberOf(record.global_step) ?? numberOf(data.current_step),
      uid: idOf(data.trajectory_id),
      group: env.group_id === undefined ? null : `${idOf(env.tag) ?? ''}/${idOf(env.group_id) ?? ''}`,
      tools,
      extras: { ...data, ...(typeof failure.stop_reason === 'string' ? { stop_reason: failure.stop_reason } : {}) },
    },
    context,
  );
}
