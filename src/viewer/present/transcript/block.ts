import type { Trained } from '../../../core/rollout/loss-mask.ts';
import type { Piece } from '../line.ts';
import type { Style } from '../theme.ts';
import type { CodeLanguage } from './code-language.ts';

/** A styled part of a block's text; `trained` if the mask differs inside the block. */
export interface Range {
  start: number;
  end: number;
  style: Style;
  trained?: Trained;
}

/** A remark about a text that is not part of it: a check's finding, a call's outcome. */
export interface Note {
  /** UTF-16 offset into the block's text; the note goes to the line that contains it. */
  at: number;
  /** Sanitised, one line. */
  text: string;
  style: Style;
  /**
   * edge: whole, at the right edge of the line; behind: directly after the line, cut to fit. Without room, both go below. spare: after the
   * line, only if there is room.
   */
  place: 'edge' | 'behind' | 'spare';
  /** Draws the finding's sign in the gutter of the line. */
  sign: boolean;
}

/**
 * A piece of a transcript, laid out independently: a role line, a paragraph of text, a call's code, a folded part. Blocks are built
 * once per record and fold state, wrapped once per width, and rendered line by line when visible.
 */
export interface Block {
  /** The part of the rollout it shows, the same whether folded or not; scroll positions refer to it. */
  id: string;
  /** The turn it belongs to; null outside all turns (the rollout's score). */
  turn: number | null;
  /** Sanitised; wrapped at the width left over by gutter and indent. */
  text: string;
  style: Style;
  /** Draws the gutter: a bar beside trained text, a broken one if unknown. */
  trained: Trained;
  /** Cells before the text, after the gutter. */
  indent: number;
  /** In order, without overlap. If any has `trained`, the gutter bar appears beside lines with trained text. */
  ranges?: readonly Range[];
  /** Its text is code of this language. */
  code?: CodeLanguage;
  /** Prose is read continuously, so it is wrapped at a comfortable width. */
  isProse?: true;
  /** A field's name, shown at the left of the first line, within the indent. */
  label?: string;
  /** The role line of its turn. */
  header?: boolean;
  /** Replaces folded text, or heads text that can be folded. */
  fold?: 'closed' | 'open';
  /** Shown at the right edge of the first line. */
  right?: readonly Piece[];
  /** Ordered by offset. */
  notes?: readonly Note[];
  /** Draws the finding's sign in the gutter of the first line. */
  sign?: Style;
  /** If it has more lines than the limit, only the head and the tail are laid out. */
  clip?: boolean;
}
