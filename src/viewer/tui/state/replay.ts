import type { Place } from '../../../core/dump/dump.ts';
import type { JsonValue } from '../../../core/json/value.ts';
import type { SettingTexts } from '../../../engine/collect/setting-flags.ts';
import type { CallState } from '../../../replay/index.ts';
import type { RewardChoice } from '../../../replay/reward-choice.ts';
import type { WorldOutcome } from '../../../replay/worlds/replay-world.ts';
import type { WorldWishes } from '../../../replay/worlds/world-plan.ts';
import type { BranchView, CallReplay, RescoreView, RolloutReplay, WorldReplay } from '../../present/replay/view.ts';
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
}

/** An image, and settings that replace those of the record. */
export interface WorldWish extends Pick<WorldWishes, 'workdir' | 'env' | 'shell' | 'timeLimit'> {
  image: string;
  network: boolean;
}

/** The world in which a call of an agent's shell or editor would run. */
export interface FoundWorld {
  /** null: neither a person nor the record names one. */
  image: string | null;
  /** Where that name was found. */
  how: string;
  /** Directory, shell, time limit and network; '' while the image is not open. */
  settings: string;
  /** Calls that run first, because the state before the call is not kept; null while the image is not open. */
  before: number | null;
  /** Why it needs another confirmation; null if it needs none. */
  asks: string | null;
  /** Why it cannot be done; null if it can. */
  problem: string | null;
}

/**
 * The call, all calls of its rollout, those of the list, a shell in the state before or after the call, or a command that finds the
 * call that changes its answer.
 */
export type WhatRuns = 'call' | 'all' | 'list' | 'before' | 'after' | 'bisect';

export interface WorldQuestion {
  kind: 'world';
  place: Place;
  call: number;
  turn: number;
  name: string;
  /** The command or the arguments that replace the recorded ones; undefined: as recorded. */
  edited: JsonValue | undefined;
  /** Calls of this rollout. */
  calls: number;
  /** How many rollouts `f` runs: the marked rows, or the list. */
  rollouts: number;
  marked: Rows | null;
  wish: WorldWish | null;
  found: FoundWorld | null;
  confirm: WhatRuns | null;
  /** The command that `bisect` runs. */
  command: string;
}

/** A question at the foot of the screen before anything runs. */
export type Question = CallQuestion | WorldQuestion | ForkQuestion | RescoreQuestion;

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
  confirm: 'all' | 'list' | 'again' | null;
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
  /** The image of its container, as typed. */
  wish: WorldWish | null;
  /** The agent that continues; null: the loop of this program. */
  agent: ForkAgent | null;
}

/** The command of an agent, and whether it gets the terminal, for an agent that asks a person. */
interface ForkAgent {
  command: string;
  isOnTerminal: boolean;
}

export interface ForkQuestion extends ForkPlan {
  where: Where | null;
  /** Where the tools of its container would run; null if it has none. Found before `where`. */
  inWorld: FoundForkWorld | null;
  /** How many branches wait for another confirmation. */
  confirm: number | null;
}

/** The container of a rollout that goes on. */
export interface FoundForkWorld extends Omit<FoundWorld, 'before'> {
  /** The names of its tools. */
  tools: string;
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
  /** The command of the agent that continues rollouts. */
  agent: string | null;
  /** By locator: the rollouts that were looked at. */
  rollouts: ReadonlyMap<string, RolloutReplay>;
  /** The outcome of a rollout's calls in a word, by locator. */
  words: ReadonlyMap<string, string>;
  /** Re-computed scores of rollouts, by locator. */
  rescores: ReadonlyMap<string, RescoreView>;
  /** Something cancellable is in progress. */
  isBusy: boolean;
  bulk: BulkProgress | null;
  /** The image for calls that need one, as typed; null: the one that the record names. */
  world: WorldWish | null;
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

/** A call of a world, and where its results are shown. */
export type WorldCall = Pick<WorldReplay, 'turn' | 'resultTurn'> & { call: number };
export type WorldState =
  | { kind: 'running'; since: number; edited: boolean }
  | { kind: 'done'; image: string; outcome: WorldOutcome; edited: string | null };

/** Changes to one rollout. */
export type RolloutChange =
  /** Results of earlier sessions. */
  | { kind: 'journal'; calls: ReadonlyMap<number, CallReplay>; branches: readonly BranchView[] }
  | { kind: 'call'; call: number; edited: boolean; state: CallState }
  /** These calls run first, in the session of that turn's call. */
  | { kind: 'before'; turn: number; calls: readonly number[] }
  | { kind: 'after'; turn: number; calls: readonly number[] }
  | { kind: 'branch'; branch: BranchView }
  /** A call in its world; null: it has ended without an outcome. */
  | { kind: 'world'; call: WorldCall; state: WorldState | null }
  | { kind: 'rescored'; rescored: RescoreView };

/** The flags of the command line. */
export type ReplayStart = Pick<ReplayState, 'canRun' | 'model' | 'agent' | 'repeat' | 'session' | 'fork' | 'reward'>;

export const NOTHING_ASKED: ReplayStart = {
  canRun: true,
  model: null,
  agent: null,
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
  world: null,
  backend: null,
});
