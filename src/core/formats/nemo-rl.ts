import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { itemAt } from '../lists/at.ts';
import type { Rollout, RolloutTokens } from '../rollout/rollout.ts';
import { buildRollout, type FoundMessage } from './build.ts';
import type { Format } from './format.ts';
import { chatMessage } from './openai-message.ts';
import { withTaggedResults } from './tagged-results.ts';
import { textRollout } from './text-rollout.ts';
import { runsOf, SAMPLED_END, splitSequence } from './token-lists.ts';
import { idOf, idsOf, numberOf, numbersOf, objectsOf } from './values.ts';

const KNOWN = new Set(
  'content rewards input_lengths token_ids token_loss_mask sample_loss_mask advantages generation_logprobs prev_logprobs'.split(
    ' ',
  ),
);

/**
 * NeMo-RL's `train_data_stepN.jsonl` and `val_data_stepN.jsonl` (`nemo_rl/algorithms/grpo.py`): each value is a slice
 * of one of its batch, with padding after `input_lengths`. The texts of turns are the tokenizer's input, headers
 * included.
 */
export const nemoRl: Format = {
  name: 'nemo-rl',
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
    const tokens = rowTokens(one);
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
      const said = objectsOf(list).map((message, at) => chatMessage(message, `${place}/${at}`));
      return buildRollout({ ...common, messages: withTaggedResults(said) }, context);
    }
    const texts = list.map((text) => (typeof text === 'string' ? text : ''));
    if (typeof content === 'string')
      return textRollout(
        {
          ...common,
          end: SAMPLED_END,
          isWhole: true,
          prompt: '',
          promptField: '',
          response: content,
          responseField: place,
        },
        context,
      );
    const at = (i: number) => `${place}/${i}`;
    const found = { ...common, end: SAMPLED_END, prompt: texts[0] ?? '', promptField: at(0) };
    const pieces = texts.map((text, i) => ({ text, pointer: at(i), length: text.length }));
    const rest = pieces.slice(1);
    const joined = (pieces: readonly TokenPiece[]) => ({
      response: pieces.map(({ text }) => text).join(''),
      responseField: pieces,
    });
    const whole = textRollout({ ...found, ...joined(rest) }, context);
    if (tokens === null) return whole;
    const runs = runsOf(tokens.mask);
    const shown = rest.filter(({ text }) => text !== '');
    const border = shown.length - runs.length;
    const replies = border < 0 ? [] : pieceMessages(shown.slice(border), runs);
    const isPlain = (pointer: string) => whole.spans.every((one) => one.field !== pointer || one.kind === 'text');
    if (
      replies.length > 0 &&
      replies.every(({ role, texts }) => role === 'assistant' || isPlain(itemAt(texts, 0).pointer))
    )
      return textRollout(
        {
          ...found,
          prompt: '',
          promptField: '',
          ...joined([...pieces.slice(0, 1), ...shown.slice(0, border)]),
          replies,
        },
        context,
      );
    const said = whole.turns.filter(({ role, trained }) => role === 'assistant' && trained !== false);
    return said.length === runs.filter(({ trained }) => trained).length ? whole : withUnknownReplies(whole);
  },
};

interface TokenPiece {
  text: string;
  pointer: string;
  length: number;
}

/**
 * Messages whose texts have no headers: the model's were decoded without special tokens, and the environment's have
 * none. The mask separates them.
 */
const pieceMessages = (pieces: readonly TokenPiece[], runs: readonly { trained: boolean }[]): FoundMessage[] =>
  pieces.map((one, i) =>
    itemAt(runs, i).trained
      ? { role: 'assistant', texts: [one] }
      : { role: 'environment', isResult: true, trained: false, texts: [one] },
  );

/** The tokens show that the model wrote in other places than the text suggests. */
function withUnknownReplies(rollout: Rollout): Rollout {
  for (const span of rollout.spans) if (span.trained === true) span.trained = null;
  for (const turn of rollout.turns)
    if (turn.trained === true) Object.assign(turn, { trained: null, confidence: 'unknown' });
  return rollout;
}

type One = (key: string) => JsonValue | undefined;

function rowTokens(one: One): RolloutTokens | null {
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

/** Unwraps batch slices with a single value. */
function extrasOf(record: JsonObject, one: One): JsonObject {
  const extras: JsonObject = {};
  for (const [key, value] of Object.entries(record))
    if (!KNOWN.has(key) && Array.isArray(value) && value.length === 1) extras[key] = value[0] ?? null;
  const weight = numberOf(one('sample_loss_mask'));
  if (weight !== null) extras.sample_loss_mask = weight;
  const id = idOf(record.idx);
  if (id !== null) extras.idx = record.idx ?? null;
  return extras;
}
