import type { BranchDifference, ReplayOutcome } from '../../../replay/index.ts';
import type { WorldOutcome } from '../../../replay/worlds/replay-world.ts';

/** The outcome so far of running a call again, and the work in progress. */
export interface CallReplay {
  underway: Underway | null;
  /** The last outcome with the recorded arguments; null if it never ran. */
  standing: ReplayOutcome | null;
  /** Outcomes with arguments that the user edited, oldest first. */
  edits: readonly ReplayOutcome[];
  /** The outcome reported by others; nothing here proves it. */
  reported: readonly { by: string; outcome: ReplayOutcome }[];
}

export type Underway =
  | { kind: 'queued' }
  /** It runs before that call because they share state. */
  | { kind: 'before'; turn: number }
  /** `since` in ms since the epoch. */
  | { kind: 'running'; since: number; attempt: number; of: number; edited: boolean };

/** A call of a rollout in its world, and the work in progress. */
export interface WorldReplay {
  turn: number;
  resultTurn: number | null;
  /** The name of the image. */
  image: string;
  /** `since` in ms since the epoch. */
  underway: { since: number; edited: boolean } | null;
  outcome: WorldOutcome | null;
  /** Outcomes of commands that the user edited, oldest first. */
  edits: readonly { text: string; outcome: WorldOutcome }[];
}

/** A turn that a live model or a tool has said. */
export interface SpokenTurn {
  role: string;
  text: string;
  calls: readonly { name: string; text: string }[];
}

/** A branch of the rollout, as far as it has come. */
export interface BranchView {
  uid: string;
  /** The branch's number within the rollout; two concurrent forks count from the same number. */
  branch: number;
  /** The first turn that differs from the original. */
  turn: number;
  model: string;
  /** null while it runs. */
  status: string | null;
  score: number | null;
  /** The reward function, or why there was none. */
  judged: string | null;
  error: string | null;
  turns: readonly SpokenTurn[];
  difference: BranchDifference | null;
  /** The changes that its tools made in its container, a line each. */
  changed: readonly string[];
  /** How the prefix was made; null if unknown. */
  prefix: string | null;
  /** A turn was edited first. */
  isEdited: boolean;
  /** Made in this session rather than found in the journal. */
  isNew: boolean;
}

/** A rollout's re-computed score. */
export interface RescoreView {
  status: string;
  recorded: number | null;
  score: number | null;
  reward: string | null;
  reason: string | null;
}

/** Everything that was run again for one rollout. */
export interface RolloutReplay {
  calls: ReadonlyMap<number, CallReplay>;
  /** Calls of its world, by number. */
  world: ReadonlyMap<number, WorldReplay>;
  branches: readonly BranchView[];
  rescored: RescoreView | null;
  /** ms since the epoch, for work in progress. */
  now: number;
}

export const NOTHING_RUN: RolloutReplay = { calls: new Map(), world: new Map(), branches: [], rescored: null, now: 0 };
