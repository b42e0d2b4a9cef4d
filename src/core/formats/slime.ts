import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../json/value.ts';
import { reportedFinding } from '../rollout/checks.ts';
import type { Finding } from '../rollout/finding.ts';
import type { Rollout, RolloutTokens } from '../rollout/rollout.ts';
import { buildRollout, messageFormat } from './build.ts';
import type { Format, ReadContext } from './format.ts';
import { given } from './given.ts';
import { idTurns } from './id-turns.ts';
import { chatMessage } from './openai-message.ts';
import { slimeTimes } from './span-times.ts';
import { textRollout } from './text-rollout.ts';
import { runsOf, SAMPLED_END } from './token-lists.ts';
import { idOf, idsOf, namedNumbers, numberOf, numbersOf, objectsOf } from './values.ts';

const KNOWN = new Set(
  'prompt response tokens loss_mask rollout_log_probs teacher_log_probs reward label status group_index'.split(' '),
);

/** Values that the trainer computed for the response's tokens, by its names (`train_data` of slime and miles). */
const TRAINER = [
  'log_probs',
  'ref_log_probs',
  'advantages',
  'returns',
  'entropy',
  'ref_entropy',
  'teacher_log_probs',
  'values',
];

/**
 * A sample of slime's or miles' `rollout_data/N.pt` (`slime/utils/types.py`, `Sample.to_dict`), with the trainer's
 * values (`train`) and the messages that miles keeps in `trajectory/N.jsonl` (`messages`), if those files exist.
 */
export const slime: Format = {
  name: 'slime',
  basis: 'files',
  mapping: {
    turns: 'sample.messages, else sample.prompt and sample.response',
    score: 'sample.reward (of an object: reward, score, acc or accuracy)',
    step: 'rollout_id',
    group: 'sample.group_index',
    mask: 'sample.loss_mask, over the response',
    tokens: 'sample.tokens; the last response_length are the response',
    'log probabilities': 'sample.rollout_log_probs',
    'per token': `train.${TRAINER.join(', ')}`,
  },
  detects: ({ sample }) =>
    isJsonObject(sample) &&
    sample.loss_masks === undefined &&
    (sample.response !== undefined || sample.response_length !== undefined) &&
    sample.tokens !== undefined,
  times: slimeTimes,
  read(record, context) {
    const rollout = readSample(record, context);
    const findings = leftOutOf(record, rollout);
    return findings.length === 0 ? rollout : { ...rollout, findings: [...rollout.findings, ...findings] };
  },
};

function readSample(record: JsonObject, context: ReadContext): Rollout {
  const sample = objectIn(record.sample);
  const train = objectIn(record.train);
  const tokens = sampleTokens(sample, train);
  const response = typeof sample.response === 'string' ? sample.response : '';
  const named = isJsonObject(sample.reward) ? namedNumbers(sample.reward) : null;
  const common = {
    format: 'slime',
    record: sample,
    known: KNOWN,
    score: isJsonObject(sample.reward) ? mainOf(named) : numberOf(sample.reward),
    named,
    step: numberOf(record.rollout_id),
    uid: idOf(sample.index),
    group: idOf(sample.group_index),
    status:
      idOf(sample.status)
        ?.replace(/^Status\./, '')
        .toLowerCase() ?? null,
    groundTruth: sample.label,
    tokens,
    mask: 'recorded' as const,
    advantage: numberOf(Array.isArray(train.advantages) ? null : train.advantages),
  };
  const own = objectsOf(record.messages);
  if (own.length > 0) {
    const prompt = objectsOf(sample.prompt).length;
    const messages = own.map((message, at) => {
      const one = chatMessage(message, `/messages/${at}`);
      return at < prompt ? given(one) : one;
    });
    return buildRollout({ ...common, messages, hasCallsApart: own.some((one) => one.tool_calls) }, context);
  }
  const prompt = Array.isArray(sample.prompt)
    ? objectsOf(sample.prompt).map((message, at) => given(chatMessage(message, `/sample/prompt/${at}`)))
    : null;
  if (response === '' && tokens !== null && tokens.responseIds.length > 0) {
    const text = typeof sample.prompt === 'string' ? sample.prompt : '';
    const head = prompt ?? [{ role: 'prompt', trained: false, texts: [{ pointer: '/sample/prompt', text }] }];
    const replies = idTurns({ ...tokens, promptIds: null }, '/sample/tokens');
    return buildRollout({ ...common, messages: [...head, ...replies], firstReply: head.length }, context);
  }
  return textRollout(
    {
      ...common,
      end: SAMPLED_END,
      prompt: typeof sample.prompt === 'string' ? sample.prompt : '',
      ...(prompt === null ? {} : { promptMessages: prompt }),
      response,
      promptField: '/sample/prompt',
      responseField: '/sample/response',
      tools: isJsonObject(sample.metadata) ? (sample.metadata.tools ?? undefined) : undefined,
    },
    context,
  );
}

/** The trainer's values that are not shown beside the tokens, because they cannot be matched. */
function leftOutOf({ train, sample }: JsonObject, { tokens }: Rollout): Finding[] {
  if (!isJsonObject(train) || !isJsonObject(sample)) return [];
  if (typeof train.left_out === 'string')
    return [reportedFinding('mask_length', `the trainer's values are not shown: ${train.left_out}`)];
  const length = tokens?.mask.length ?? 0;
  const uneven = TRAINER.flatMap((key) => {
    const list = numbersOf(train[key]);
    return list === null || list.length === length ? [] : [`${key} has ${list.length}`];
  });
  if (uneven.length === 0) return [];
  return [
    reportedFinding('mask_length', `the trainer's values are not shown: ${uneven.join(', ')} for ${length} tokens`),
  ];
}

/** A row of `train_data/N.pt` alone: ids, mask and the trainer's values; its text is in `rollout_data`. */
export const slimeTrain: Format = {
  name: 'slime-train',
  basis: 'files',
  mapping: {
    score: 'sample.rewards (as the trainer saw it)',
    mask: 'sample.loss_masks',
    tokens: 'sample.tokens',
    step: 'rollout_id',
  },
  detects: ({ sample }) => isJsonObject(sample) && sample.loss_masks !== undefined && sample.tokens !== undefined,
  read(record, context) {
    const sample = objectIn(record.sample);
    const tokens = sampleTokens(
      {
        tokens: sample.tokens ?? [],
        loss_mask: sample.loss_masks ?? [],
        rollout_log_probs: sample.rollout_log_probs ?? null,
      },
      sample,
    );
    const messages = tokens === null ? [] : idTurns(tokens, '/sample/tokens');
    return buildRollout(
      {
        format: 'slime-train',
        record: sample,
        known: new Set(['tokens', 'loss_masks', 'rewards', 'rollout_log_probs', ...TRAINER]),
        messages,
        score: numberOf(sample.rewards),
        step: numberOf(record.rollout_id),
        uid: idOf(sample.sample_index ?? sample.sample_indices),
        tokens,
        mask: 'recorded',
      },
      context,
    );
  },
};

/**
 * The response is the last `mask.length` tokens; a list of another length is left out rather than attached to the wrong
 * ones.
 */
function sampleTokens(sample: JsonObject, train: JsonObject): RolloutTokens | null {
  const ids = idsOf(sample.tokens);
  if (ids === null) return null;
  const length = numberOf(sample.response_length);
  const mask = idsOf(sample.loss_mask) ?? (length === null || length === 0 ? [] : new Array<number>(length).fill(1));
  const from = ids.length - mask.length;
  if (from < 0) return null;
  const fitting = (value: JsonValue | undefined) => {
    const list = numbersOf(value);
    return list !== null && list.length === mask.length && mask.length > 0 ? list : null;
  };
  const more: Record<string, (number | null)[]> = {};
  for (const key of TRAINER) {
    const list = fitting(train[key] ?? sample[key]);
    if (list !== null) more[key] = list;
  }
  const versions = versionsOf(sample.weight_versions, mask);
  if (versions !== null) more.weight_versions = versions;
  return {
    promptIds: ids.slice(0, from),
    responseIds: ids.slice(from),
    mask,
    logprobs: fitting(sample.rollout_log_probs),
    ...(Object.keys(more).length > 0 ? { more } : {}),
  };
}

/** The policy's version of each sampled token: one for all, or one per run of sampled tokens. */
function versionsOf(value: JsonValue | undefined, mask: readonly number[]): (number | null)[] | null {
  const versions = Array.isArray(value) ? value.map((one) => numberOf(one)) : [];
  const runs = runsOf(mask).filter(({ trained }) => trained).length;
  const isOne = new Set(versions).size === 1;
  if (versions.length === 0 || (!isOne && versions.length !== runs)) return null;
  let run = -1;
  return mask.map((bit, at) => {
    if (bit === 0) return null;
    if (at === 0 || mask[at - 1] === 0) run++;
    return (isOne ? versions[0] : versions[run]) ?? null;
  });
}

function mainOf(named: Record<string, number | null> | null): number | null {
  const key = ['reward', 'score', 'acc', 'accuracy'].find((name) => named?.[name] !== undefined);
  return key === undefined ? null : (named?.[key] ?? null);
}

/** miles' `trajectory/N.jsonl` alone: the messages of samples that have any; the ids are in `rollout_data`. */
export const milesTrajectory: Format = messageFormat({
  name: 'miles-trajectory',
  basis: 'files',
  mapping: { turns: 'messages', score: 'reward', group: 'group_index', uid: 'sample_index' },
  detects: (record) => Array.isArray(record.messages) && record.sample_index !== undefined,
  find(record) {
    const prompt = objectsOf(record.prompt).length;
    const messages = objectsOf(record.messages).map((message, at) => {
      const one = chatMessage(message, `/messages/${at}`);
      return at < prompt ? given(one) : one;
    });
    return {
      known: new Set(['messages', 'prompt', 'reward', 'group_index', 'status', 'tools']),
      messages,
      score: numberOf(record.reward),
      uid: idOf(record.sample_index),
      group: idOf(record.group_index),
      status: idOf(record.status),
      tools: record.tools,
    };
  },
});

/** miles' `dashboard_columns/rollout_N.parquet` alone: per-token columns of the same samples. */
export const milesColumns: Format = messageFormat({
  name: 'miles-columns',
  basis: 'files',
  mapping: { mask: 'loss_mask', uid: 'sample_index', 'per token': 'every other list of that length' },
  detects: (record) =>
    record.sample_index !== undefined &&
    Array.isArray(record.loss_mask) &&
    record.messages === undefined &&
    record.response === undefined,
  find(record) {
    const mask = idsOf(record.loss_mask) ?? [];
    const all = idsOf(record.tokens ?? record.token_ids);
    const ids = all === null || all.length < mask.length ? null : all.slice(all.length - mask.length);
    const more: Record<string, (number | null)[]> = {};
    for (const [key, value] of Object.entries(record)) {
      const list = numbersOf(value);
      if (key !== 'loss_mask' && key !== 'tokens' && list !== null && list.length === mask.length && mask.length > 0)
        more[key] = list;
    }
    const { rollout_log_probs: logprobs = null, ...others } = more;
    const promptIds = all === null || ids === null ? null : all.slice(0, all.length - mask.length);
    const tokens: RolloutTokens = { promptIds, responseIds: ids ?? mask.map(() => -1), mask, logprobs, more: others };
    return {
      known: new Set(['loss_mask', 'tokens', ...Object.keys(more)]),
      messages: idTurns(tokens, '/loss_mask'),
      step: numberOf(record.rollout_id),
      uid: idOf(record.sample_index),
      mask: 'recorded',
      tokens: ids === null ? null : tokens,
    };
  },
});
