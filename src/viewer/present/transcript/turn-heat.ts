import { itemAt, lastItem, numberInAt } from '../../../core/lists/at.ts';
import type { Rollout } from '../../../core/rollout/rollout.ts';
import { isEndToken, SURPRISING, type TokenText } from '../../../core/rollout/token-table.ts';
import type { Range } from './block.ts';

/** Higher bars are less likely tokens, so no colour is needed. */
const BARS = ['·', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/** Cells of a turn's strip. */
const WIDTH = 16;

/** How sure the model was of a turn. */
export interface TurnHeat {
  /** The least likely token of each part of the turn; higher bars are less likely, so no colour is needed. */
  strip: string;
  /** Tokens with a chance of less than 5 %. */
  surprising: number;
  /** Their positions in the turn's text, in order; empty without a tokenizer. */
  places: readonly TokenPlace[];
}

interface TokenPlace {
  start: number;
  end: number;
}

interface Sampled {
  id: number;
  logprob: number | null;
}

/** The heat of each sampled turn, if log probabilities were recorded and the number of sampled token runs equals the number of turns. */
export function heatByTurn(rollout: Rollout, tokenizer: TokenText | null = null): ReadonlyMap<number, TurnHeat> {
  const { tokens, turns, contexts } = rollout;
  const heats = new Map<number, TurnHeat>();
  if (tokens?.logprobs == null || (contexts?.length ?? 1) > 1) return heats;
  const runs: Sampled[][] = [];
  for (const [at, bit] of tokens.mask.entries()) {
    if (bit === 0) continue;
    if (at === 0 || tokens.mask[at - 1] === 0) runs.push([]);
    lastItem(runs).push({ id: tokens.responseIds[at] ?? -1, logprob: tokens.logprobs[at] ?? null });
  }
  const sampled = turns.filter(
    ({ trained, role }) => trained === true && (role === 'assistant' || role === 'function_call'),
  );
  if (runs.length !== sampled.length) return heats;
  for (const [i, turn] of sampled.entries()) {
    const known = itemAt(runs, i).flatMap(({ logprob }) => logprob ?? []);
    if (known.length > 0)
      heats.set(turn.index, {
        ...heatOf(known),
        places: tokenizer === null ? [] : tokenPlaces(turn.text, itemAt(runs, i), tokenizer),
      });
  }
  return heats;
}

function heatOf(logprobs: readonly number[]): Omit<TurnHeat, 'places'> {
  const cells = Math.min(WIDTH, logprobs.length);
  let strip = '';
  for (let cell = 0; cell < cells; cell++) {
    const from = Math.floor((cell * logprobs.length) / cells);
    const to = Math.floor(((cell + 1) * logprobs.length) / cells);
    let least = 0;
    for (let at = from; at < to; at++) least = Math.min(least, numberInAt(logprobs, at));
    strip += chanceBar(least);
  }
  return { strip, surprising: logprobs.filter((value) => value < SURPRISING).length };
}

/** The tokens can be located only if their text equals the turn's, apart from special tokens. */
function tokenPlaces(text: string, run: readonly Sampled[], tokenizer: TokenText): TokenPlace[] {
  const pieces = tokenizer.pieces(run.map(({ id }) => id));
  const own = text.trim();
  for (const isShown of [() => true, (piece: string) => !isEndToken(piece)]) {
    const at = own === '' ? -1 : pieces.filter(isShown).join('').indexOf(own);
    if (at === -1) continue;
    const places: TokenPlace[] = [];
    let end = text.indexOf(own) - at;
    for (const [i, piece] of pieces.entries()) {
      if (!isShown(piece)) continue;
      const start = Math.max(0, end);
      end += piece.length;
      const last = Math.min(end, text.length);
      if ((itemAt(run, i).logprob ?? 0) < SURPRISING && last > start) places.push({ start, end: last });
    }
    return places;
  }
  return [];
}

/** The unlikely tokens in from..to of a turn's text, as ranges of the shown text. */
export function heatRanges(
  text: string,
  from: number,
  to: number,
  places: readonly TokenPlace[],
  shown: (piece: string) => string,
): Range[] {
  const ranges: Range[] = [];
  if (places.length === 0) return ranges;
  let out = '';
  let at = from;
  for (const { start, end } of places) {
    if (start < at || end > to) continue;
    out += shown(text.slice(at, start));
    const first = out.length;
    out += shown(text.slice(start, end));
    if (out.length > first) ranges.push({ start: first, end: out.length, style: 'unlikely' });
    at = end;
  }
  out += shown(text.slice(at, to));
  // The pieces must render exactly like the whole.
  return out === shown(text.slice(from, to)) ? ranges : [];
}

/** The bar of a log probability. */
export const chanceBar = (logprob: number): string =>
  itemAt(BARS, Math.max(0, Math.min(BARS.length - 1, Math.round(-logprob))));
