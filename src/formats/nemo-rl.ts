import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import type { RolloutTokens } from '../rollout/rollout.ts';
import { buildRollout, chatMessage, idsOf, numbersOf, objectsOf } from './build.ts';
import type { Format } from './format.ts';
import { idOf, numberOf } from './scalars.ts';
import { textRollout } from './texts.ts';
import { SAMPLED_END, splitSequence } from './token-lists.ts';

const KNOWN = new Set(
  'content rewards input_lengths token_ids token_loss_mask sample_loss_mask advantages generation_logprobs prev_logprobs'.split(
    ' ',
  ),
);

/**
 * NeMo-RL's `train_data_stepN.jsonl` and `val_data_stepN.jsonl` (`nemo_rl/algorithms/grpo.py`): each value is a slice of one of its batch; padding
 * stands behind `input_lengths`. Texts of the turns are as they went to the tokenizer, headers and all.
 */
export const nemoRl: Format = {
  name: 'nemo-rl',
  quickKeys: null,
  basis: 'files',
  mapping: {
    turns: 'content[0]',
    score: 'rewards[0]',
    tokens: 'token_ids[0] up to input_lengths[0]',
    mask: 'token_loss_mask[0]',
    'log probabilities': 'generation_logprobs[0]',
    advantage: 'advantages[0]',
  },
  detects: (record) =>
    (Array.isArray(record.content) || typeof record.content === 'string') &&
    (record.token_loss_mask !== undefined || record.rewards !== undefined),
  read(record, context) {
    const isSliced = [record.rewards, record.input_lengths, record.sample_loss_mask].some(Array.isArray);
    const one = (key: string): JsonValue | undefined => {
      const value = record[key];
      return isSliced && Array.isArray(value) ? value[0] : value;
    };
    const content = one('content');
    const tokens = tokensOf(one);
    const common = {
      format: 'nemo-rl',
      record,
      known: KNOWN,
      score: numberOf(one('rewards')),
      uid: null,
      tokens,
      extras: extrasOf(record, one),
      ...(record.token_loss_mask === undefined ? {} : { mask: 'recorded' as const }),
    };
    const place = isSliced && Array.isArray(record.content) ? '/content/0' : '/content';
    const list = Array.isArray(content) ? content : [content ?? ''];
    if (list.some(isJsonObject)) {
      const messages = objectsOf(list).map((message, at) => chatMessage(message, `${place}/${at}`));
      return buildRollout({ ...common, messages }, context);
    }
    const texts = list.map((text) => (typeof text === 'string' ? text : ''));
    const at = Array.isArray(content) ? (i: number) => `${place}/${i}` : () => place;
    return textRollout(
      {
        ...common,
        end: SAMPLED_END,
        prompt: texts[0] ?? '',
        response: texts.slice(1).join(''),
        promptField: at(0),
        responseField: texts.slice(1).map((text, i) => ({ pointer: at(i + 1), length: text.length })),
      },
      context,
    );
  },
};

type One = (key: string) => JsonValue | undefined;

function tokensOf(one: One): RolloutTokens | null {
  const ids = idsOf(one('token_ids'));
  const mask = idsOf(one('token_loss_mask'));
  if (ids === null || mask === null || mask.length !== ids.length) return null;
  const length = numberOf(one('input_lengths')) ?? ids.length;
  const list = (key: string) => numbersOf(one(key))?.slice(0, length) ?? null;
  return splitSequence(ids.slice(0, length), mask.slice(0, length), {
    logprobs: list('generation_logprobs'),
    prev_logprobs: list('prev_logprobs'),
    advantages: list('advantages'),
  });
}

/** Batch slices of one value each stand for it. */
function extrasOf(record: JsonObject, one: One): JsonObject {
  const extras: JsonObject = {};
  for (const [key, value] of Object.entries(record))
    if (!KNOWN.has(key) && Array.isArray(value) && value.length === 1) extras[key] = value[0] as JsonValue;
  const weight = numberOf(one('sample_loss_mask'));
  if (weight !== null) extras.sample_loss_mask = weight;
  const id = idOf(record.idx);
  if (id !== null) extras.idx = record.idx as JsonValue;
  return extras;
}
