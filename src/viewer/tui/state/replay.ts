import type { Place } from '../../../core/dump/dump.ts';
import type { JsonValue } from '../../../core/json/value.ts';
import type { SettingTexts } from '../../../engine/collect/setting-flags.ts';
import type { CallState } from '../../../replay/index.ts';
import type { RewardChoice } from '../../../replay/reward-choice.ts';
import type { BranchView, CallReplay, RescoreView, RolloutReplay } from '../../present/replay/view.ts';
import type { Rows } from './rows.ts';

/** Settings of the branches: how many, and sampling parameters and limits by key, as typed. */
export interface ForkSettings {
  n: number;
  texts: SettingTexts;
}

/** Options for running calls. */
export interface Way {
  repeat: number;
  session: boolean;
}

/** The place where a tool call, or the tools of a fork, would run. */
export interface Where {
  /** `bubblewrap`, `http://…`, `this program`. */
  name: string;
  /** Why there, in a few words. */
  why: string;
  /** The question to ask before many calls run there, because a server may be the trainer's; null: none. */
  asks: string | null;
  /** Why it cannot be done; null if it can. */
  problem: string | null;
  /** Calls of the same tool that run before it, in the same session. */
  before: readonly number[];
  /** Its calls share state even if no session was requested. */
  stateful: boolean;
  /** The rollout whose calls need an image; null for another kind of call. */
  world: NeededWorld | null;
}

/** The arguments of `replay --image`. */
export interface NeededWorld {
  locator: string;
  /** The record names an image itself. */
  isRecorded: boolean;
}

/** A question at the foot of the screen before anything runs. */
export type Question = CallQuestion | ForkQuestion | RescoreQuestion;

export interface CallQuestion {
  kind: 'call';
  place: Place;
  call: number;
  turn: number;
  name: string;
  /** Arguments replacing the recorded ones; undefined: as recorded. */
  edited: JsonValue | undefined;
  repeat: number;
  /** Earlier calls of its tool run first, in the same notebook. */
  session: boolean;
  /** Calls of this rollout. */
  calls: number;
  /** How many rollouts `f` runs: the marked rows, or the list. */
  rollouts: number;
  marked: Rows | null;
  /** Rollouts among these whose calls were all run in this way before; null while being counted. */
  known: number | null;
  where: Where | null;
  /** Many calls would go to a server, which needs another confirmation. */
  confirm: 'all' | 'list' | 'anew' | null;
}

/** Continuing from a turn with a live model. */
export interface ForkPlan {
  kind: 'fork';
  place: Place;
  turn: number;
  /** A text replacing the turn's, null: as recorded. */
  edited: string | null;
  model: LiveModel;
  settings: ForkSettings;
  /** The function that scores the branches. */
  reward: RewardChoice;
}

export interface ForkQuestion extends ForkPlan {
  where: Where | null;
}

/** Asked if re-scoring runs something that is not part of this program. */
export interface RescoreQuestion {
  kind: 'rescore';
  place: Place;
  /** The open rollout, the marked rows, or the list as it is then. */
  scope: 'open' | 'marked' | 'list';
  rollouts: number;
  choice: RewardChoice;
}

export interface LiveModel {
  url: string;
  name: string;
}

/** A run over many calls. */
export interface BulkProgress {
  what: 'replaying' | 'scoring';
  done: number;
  total: number;
  /** How often each outcome word came. */
  tally: Readonly<Record<string, number>>;
  /** Why it is stalled: a server that is busy or away. */
  waiting: string | null;
}

export interface ReplayState {
  /** false: --no-exec. */
  canRun: boolean;
  question: Question | null;
  model: LiveModel | null;
  /** By locator: the rollouts that were looked at. */
  rollouts: ReadonlyMap<string, RolloutReplay>;
  /** The outcome of a rollout's calls in a word, by locator. */
  words: ReadonlyMap<string, string>;
  /** Re-computed scores of rollouts, by locator. */
  rescores: ReadonlyMap<string, RescoreView>;
  /** Something cancellable is in progress. */
  isBusy: boolean;
  bulk: BulkProgress | null;
  /** The sandbox, once it is known. */
  backend: string | null;
  /** The initial values of a question about a call. */
  repeat: number;
  session: boolean;
  /** Settings of the branches. */
  fork: ForkSettings;
  /** The function used to re-score a rollout. */
  reward: RewardChoice;
}

/** Changes to one rollout. */
export type RolloutChange =
  /** Results of earlier sessions. */
  | { kind: 'journal'; calls: ReadonlyMap<number, CallReplay>; branches: readonly BranchView[] }
  | { kind: 'call'; call: number; edited: boolean; state: CallState }
  /** These calls run first, in the session of that turn's call. */
  | { kind: 'before'; turn: number; calls: readonly number[] }
  | { kind: 'after'; turn: number; calls: readonly number[] }
  | { kind: 'branch'; branch: BranchView }
  | { kind: 'rescored'; rescored: RescoreView };

/** The flags of the command line. */
export type ReplayStart = Pick<ReplayState, 'canRun' | 'model' | 'repeat' | 'session' | 'fork' | 'reward'>;

export const NOTHING_ASKED: ReplayStart = {
  canRun: true,
  model: null,
  repeat: 1,
  session: false,
  fork: { n: 1, texts: {} },
  reward: {},
};

export const initialReplay = (start: ReplayStart): ReplayState => ({
  ...start,
  question: null,
  rollouts: new Map(),
  words: new Map(),
  rescores: new Map(),
  isBusy: false,
  bulk: null,
  backend: null,
});
