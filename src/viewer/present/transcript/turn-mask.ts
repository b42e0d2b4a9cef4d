import { itemAt } from '../../../core/lists/at.ts';
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
export function partlyTrained(rollout: Rollout): ReadonlyMap<number, readonly MaskPiece[]> {
  const byTurn = new Map<number, Span[]>();
  for (const span of rollout.spans) {
    if (span.kind !== 'text') continue;
    const known = byTurn.get(span.turn);
    if (known === undefined) byTurn.set(span.turn, [span]);
    else known.push(span);
  }
  const masks = new Map<number, MaskPiece[]>();
  for (const [turn, spans] of byTurn) {
    if (spans.every(({ trained }) => trained === itemAt(spans, 0).trained)) continue;
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
