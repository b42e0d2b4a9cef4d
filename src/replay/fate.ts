import { SUCCESS, wilson } from './spread.ts';

/** The branches that succeed, of those made anew from a turn. */
export interface TurnFate {
  turn: number;
  /** Branches with a score. */
  branches: number;
  succeeded: number;
  /** null without a score. */
  share: number | null;
  /** The interval of 95 % for the true share (Wilson). */
  low: number;
  high: number;
}

export function fateOf(turn: number, scores: readonly number[], success: number = SUCCESS): TurnFate {
  const succeeded = scores.filter((score) => score >= success).length;
  const share = scores.length === 0 ? null : succeeded / scores.length;
  return { turn, branches: scores.length, succeeded, share, ...wilson(succeeded, scores.length) };
}
