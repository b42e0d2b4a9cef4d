import { finished } from '../../../core/async/finished.ts';
import { orTrained, type Trained } from '../../../core/rollout/loss-mask.ts';
import type { Rollout, Span } from '../../../core/rollout/rollout.ts';
import { sanitise } from '../../../core/text/sanitise.ts';
import type { Style } from '../theme.ts';
import type { Range } from './block.ts';

/** A piece of a turn's text that is trained, not trained or unknown; UTF-16 offsets into `Turn.text`. */
export interface MaskPiece {
  start: number;
  end: number;
  trained: Trained;
}

/** By turn, for partly trained turns only: if the prompt begins the answer, its start is masked. */
export const partlyTrained = (rollout: Rollout): Masks => finished(findingMasks(rollout));

export type Masks = ReadonlyMap<number, readonly MaskPiece[]>;

const known = new WeakMap<Rollout, Masks>();
/** Spans examined between two pauses. */
const SHARE = 5000;

/** The same with pauses, found once for a rollout. */
export function* findingMasks(rollout: Rollout): Generator<void, Masks> {
  const before = known.get(rollout);
  if (before !== undefined) return before;
  const masks = masksOf(rollout, yield* spansOfPartlyTrained(rollout));
  known.set(rollout, masks);
  return masks;
}

/** The text spans of turns of which not all are trained alike. */
function* spansOfPartlyTrained({ spans }: Rollout): Generator<void, ReadonlyMap<number, Span[]>> {
  const first = new Map<number, Trained>();
  const byTurn = new Map<number, Span[]>();
  for (const [i, { kind, turn, trained }] of spans.entries()) {
    if (i % SHARE === SHARE - 1) yield;
    if (kind !== 'text' || byTurn.has(turn)) continue;
    if (!first.has(turn)) first.set(turn, trained);
    else if (first.get(turn) !== trained) byTurn.set(turn, []);
  }
  if (byTurn.size === 0) return byTurn;
  for (const [i, span] of spans.entries()) {
    if (i % SHARE === SHARE - 1) yield;
    if (span.kind === 'text') byTurn.get(span.turn)?.push(span);
  }
  return byTurn;
}

function masksOf(rollout: Rollout, byTurn: ReadonlyMap<number, readonly Span[]>): Masks {
  const masks = new Map<number, MaskPiece[]>();
  for (const [turn, spans] of byTurn) {
    const text = rollout.turns[turn]?.text;
    // Offsets can be carried over only if the spans' text equals the turn's.
    if (text !== spans.map(({ field, start, end }) => rollout.texts[field]?.slice(start, end) ?? '').join('')) continue;
    let at = 0;
    masks.set(
      turn,
      spans.map(({ start, end, trained }) => {
        const from = at;
        at += end - start;
        return { start: from, end: at, trained };
      }),
    );
  }
  return masks;
}

/** The mask of start..end: trained if any of it is. */
export const trainedWithin = (pieces: readonly MaskPiece[], start: number, end: number): Trained =>
  pieces.reduce<Trained>(
    (trained, piece) => (piece.start < end && piece.end > start ? orTrained(trained, piece.trained) : trained),
    false,
  );

/** start..end of a turn's text, sanitised piece by piece, so that the mask's ranges fit the shown text. */
export function maskedText(
  text: string,
  start: number,
  end: number,
  pieces: readonly MaskPiece[],
  style: Style,
  shown: (piece: string) => string = sanitise,
): { text: string; ranges: Range[] } {
  let out = '';
  const ranges: Range[] = [];
  for (const piece of pieces) {
    const [from, to] = [Math.max(start, piece.start), Math.min(end, piece.end)];
    if (from >= to) continue;
    const at = out.length;
    out += shown(text.slice(from, to));
    ranges.push({
      start: at,
      end: out.length,
      style: piece.trained === null ? 'unknown' : style,
      trained: piece.trained,
    });
  }
  return { text: out, ranges };
}
