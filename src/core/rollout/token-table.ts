import { finished } from '../async/finished.ts';
import type { TurnEnds } from './compared.ts';
import type { Trained } from './loss-mask.ts';
import type { Rollout, RolloutTokens } from './rollout.ts';

/** A user's tokenizer, as needed by a view of tokens. */
export interface TokenText {
  /** The text of each id; '' if it continues a character that an earlier one began. */
  pieces(ids: readonly number[]): string[];
  ids(text: string): number[];
}

export interface TokenRow {
  /** Its index in prompt and response together. */
  index: number;
  id: number;
  /** null without a tokenizer. */
  text: string | null;
  trained: Trained;
  /** In column order. */
  values: (number | null)[];
}

/** Consecutive tokens with the same mask: written by the policy, or given to it. */
export interface TokenRun {
  first: number;
  last: number;
  isPrompt: boolean;
  trained: Trained;
}

/** All tokens of one history. */
export interface TokenTable {
  /** recorded, or made from the text by the user's tokenizer: then they may differ from the sampled ones. */
  from: 'recorded' | 'tokenizer';
  columns: string[];
  rows: TokenRow[];
  runs: TokenRun[];
}

const PLACEHOLDER = -1;

/** Recorded ids, never re-rendered; without them, the ids from the tokenizer. null without both. */
export function tokenTable(rollout: Rollout, tokenizer: TokenText | null): TokenTable | null {
  return finished(tabulating(rollout, tokenizer));
}

/** Tokens between two pauses. */
const SHARE = 5000;

/** The same, with pauses if there are many. */
export function* tabulating(rollout: Rollout, tokenizer: TokenText | null): Generator<void, TokenTable | null> {
  if (rollout.tokens !== undefined) return yield* recorded(rollout.tokens, rollout.rewards.advantage, tokenizer);
  return tokenizer === null ? null : yield* encodedTokens(rollout, tokenizer);
}

function* recorded(
  tokens: RolloutTokens,
  advantage: number | null,
  tokenizer: TokenText | null,
): Generator<void, TokenTable> {
  const { promptIds, promptLogprobs = [], responseIds, mask, logprobs, more = {} } = tokens;
  const lists = new Map<string, readonly (number | null)[]>();
  if (logprobs !== null) lists.set('logprob', logprobs);
  for (const [name, values] of Object.entries(more)) lists.set(SHORT[name] ?? name, values);
  // A value common to all sampled tokens is shown once, above the tokens.
  if (lists.get('advantage')?.every((value) => value === null || value === advantage)) lists.delete('advantage');
  const trainer = lists.get('trainer');
  if (logprobs !== null && trainer !== undefined && !lists.has('mismatch'))
    lists.set(
      'mismatch',
      mask.map((_, i) => difference(trainer[i], logprobs[i])),
    );
  const given = promptIds ?? [];
  const ids = [...given, ...responseIds];
  const texts = tokenizer?.pieces(ids) ?? null;
  const columns = [...lists];
  const rows: TokenRow[] = [];
  for (const [index, id] of ids.entries()) {
    const at = index - given.length;
    if (index % SHARE === 0) yield;
    rows.push({
      index,
      id,
      text: id === PLACEHOLDER ? null : (texts?.[index] ?? null),
      trained: at >= 0 && mask[at] !== undefined ? mask[at] !== 0 : at >= 0 ? null : false,
      values: columns.map(([name, values]) =>
        at >= 0 ? (values[at] ?? null) : name === 'logprob' ? (promptLogprobs[index] ?? null) : null,
      ),
    });
  }
  yield;
  return { from: 'recorded', columns: [...lists.keys()], rows, runs: tokenRuns(rows, given.length) };
}

/** The view's names for recorded values. */
const SHORT: Readonly<Record<string, string>> = {
  advantages: 'advantage',
  trainer_logprobs: 'trainer',
  prev_logprobs: 'trainer',
  train_log_probs: 'trainer',
  old_log_probs: 'trainer',
  ref_log_prob: 'reference',
  token_level_rewards: 'reward',
  token_level_scores: 'score',
  rm_scores: 'score',
  ref_logprobs: 'reference',
  ref_log_probs: 'reference',
  mismatch_kl: 'mismatch',
  weight_versions: 'policy',
};

const difference = (a: number | null | undefined, b: number | null | undefined): number | null =>
  typeof a === 'number' && typeof b === 'number' ? a - b : null;

function* encodedTokens(
  { texts, spans, turns, responseTurn }: Rollout,
  tokenizer: TokenText,
): Generator<void, TokenTable> {
  const rows: TokenRow[] = [];
  let prompt = 0;
  for (const { field, start, end, turn, trained } of spans) {
    const ids = tokenizer.ids((texts[field] ?? '').slice(start, end));
    const pieces = tokenizer.pieces(ids);
    for (const [i, id] of ids.entries())
      rows.push({ index: rows.length, id, text: pieces[i] ?? null, trained, values: [] });
    if (turn < responseTurn || turn >= turns.length) prompt = rows.length;
    yield;
  }
  return { from: 'tokenizer', columns: [], rows, runs: tokenRuns(rows, prompt) };
}

function tokenRuns(rows: readonly TokenRow[], prompt: number): TokenRun[] {
  const runs: TokenRun[] = [];
  for (const { index, trained } of rows) {
    const last = runs.at(-1);
    const isPrompt = index < prompt;
    if (last !== undefined && last.trained === trained && last.isPrompt === isPrompt) last.last = index;
    else runs.push({ first: index, last: index, isPrompt, trained });
  }
  return runs;
}

/** A token that was sampled with a probability below 0.05. */
export const SURPRISING = Math.log(0.05);

/**
 * Indices of tokens sampled with a lower probability, in prompt and response together; null if no ids were recorded.
 */
export function surprisingTokens({ tokens }: Pick<Rollout, 'tokens'>): number[] | null {
  if (tokens === undefined) return null;
  const { promptIds, mask, logprobs } = tokens;
  const first = promptIds?.length ?? 0;
  return (logprobs ?? []).flatMap((value, at) =>
    value !== null && value < SURPRISING && mask[at] !== 0 ? [first + at] : [],
  );
}

export const isSurprising = ({ columns }: TokenTable, { values }: TokenRow): boolean =>
  (values[columns.indexOf('logprob')] ?? 0) < SURPRISING;

/**
 * The first place at which the recorded ids differ from the tokenizer's ids for their text: the text, encoded again,
 * would be trained on as different tokens. null without a difference, or if a placeholder replaces the ids.
 */
export function driftOf(
  { rows, from }: TokenTable,
  tokenizer: TokenText,
): { row: TokenRow; instead: number | null } | null {
  if (from !== 'recorded' || rows.some(({ id }) => id === PLACEHOLDER)) return null;
  const again = tokenizer.ids(rows.map(({ text }) => text ?? '').join(''));
  const row = rows.find(({ id }, i) => again[i] !== id);
  return row === undefined ? null : { row, instead: again[row.index] ?? null };
}

/** A token that ends a turn, in special-token form. */
const END_TOKEN = /^(?:<[|｜/]?[^\s<>]{1,40}>|\[e~\[|<turn\|>)$/;

export const isEndToken = (text: string): boolean => END_TOKEN.test(text);

/** The end tokens of sampled turns: the last token of a trained run, or the first of the masked run after it. */
export function endsOf({ rows, runs }: TokenTable): TurnEnds {
  const isEnd = (at: number): boolean => isEndToken(rows[at]?.text ?? '');
  const ends: TurnEnds = { turns: 0, trained: 0, masked: 0 };
  for (const { trained, isPrompt, last } of runs) {
    if (trained !== true || isPrompt) continue;
    ends.turns++;
    if (isEnd(last)) ends.trained++;
    else if (isEnd(last + 1) && rows[last + 1]?.trained === false) ends.masked++;
  }
  return ends;
}
