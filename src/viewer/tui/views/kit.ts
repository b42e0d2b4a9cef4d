import type { ComponentType, ReactNode } from 'react';
import type { Edges, Piece } from '../../present/line.ts';

export interface FieldProps {
  id: string;
  sign: string;
  value: string;
  /** A new seed means that something other than typing set the value, with its cursor there. */
  seed: number;
  cursor: number;
}

/**
 * The building blocks of the screen's components. Ink draws them with its boxes (ink-kit.tsx); until Ink is loaded, which takes longer than
 * everything before the first frame, they are drawn as plain lines (line-kit.ts).
 */
export interface Kit {
  /** Children stacked vertically; as wide as the container unless `width` is set. */
  Stack: ComponentType<{ children: ReactNode; width?: number }>;
  /** Pieces on one line; the end is cut if it does not fit. */
  Line: ComponentType<{ pieces: readonly Piece[] }>;
  /** Something at each edge of a line. The right side stays whole; the left one is cut. */
  EdgeLine: ComponentType<Edges>;
  /** An input line, after its sign. */
  Field: ComponentType<FieldProps>;
}
