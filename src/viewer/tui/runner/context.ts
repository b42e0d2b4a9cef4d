import type { Dump, Place } from '../../../core/dump/dump.ts';
import type { DumpRecord } from '../../../core/dump/dump-file.ts';
import type { JsonValue } from '../../../core/json/value.ts';
import type { ReplayBackend, ReplayBackendChoice, ReplayTools, Rules } from '../../../replay/index.ts';
import type { Journal } from '../../../replay/journal/journal.ts';
import type { WorldImage } from '../../../sandbox/worlds/images.ts';
import type { RescoreView } from '../../present/replay/view.ts';
import type { RunnerReport } from '../state/action.ts';
import type { RunnerJob } from '../state/effect.ts';
import type { BulkProgress, RolloutChange } from '../state/replay.ts';
import type { Rows } from '../state/rows.ts';
import type { Jobs } from './jobs.ts';
import type { PythonLines } from './python-prompt.ts';
import type { ReplaySettings } from './settings.ts';

/** The screen, as seen by the runner. */
export interface RunnerOptions extends Omit<ReplaySettings, 'start'> {
  dump: Dump;
  env: NodeJS.ProcessEnv;
  /** The open rollout. */
  here(): Place | null;
  /** A record as the screen has it: a long one is read in a thread, without its JSON. null if the screen shows another by then. */
  whole(place: Place): Promise<DumpRecord | null>;
  /** The current list. */
  rows(): Rows;
  /** Replays of that rollout are or were on screen. */
  isKnown(locator: string): boolean;
  /** A question at the foot of the screen is still open. */
  isAsking(): boolean;
  report(report: RunnerReport): void;
  say(text: string, kind: 'info' | 'error'): void;
  /** Gives the terminal to an editor while `use` runs. */
  handOver<T>(use: () => T): T;
  /** Gives the terminal to a part of this program that reads lines, while `use` runs. */
  lend(use: (terminal: PythonLines) => Promise<void>): Promise<void>;
}

/** The runner's internals, for the code that does its work. */
export const FIRST_DRIFT = 'the first result that differs';

export interface RunnerContext {
  readonly options: RunnerOptions;
  readonly tools: ReplayTools;
  readonly journal: Journal;
  readonly jobs: Jobs;
  readonly rules: Rules;
  readonly choice: ReplayBackendChoice;
  /** Images of worlds, by name. */
  readonly images: Map<string, Promise<WorldImage>>;
  /** Arguments as last edited, by locator and call. */
  readonly drafts: Map<string, JsonValue>;
  row(place: Place): DumpRecord;
  /** The sandbox, opened on first use. */
  backend(): Promise<ReplayBackend>;
  change(locator: string, change: RolloutChange): void;
  /** Its calls are or were on screen. */
  isSeen(locator: string): boolean;
  setWord(locator: string, word: string): void;
  setRescored(locator: string, rescored: RescoreView): void;
  progress(bulk: BulkProgress | null): void;
}

export type JobOf<Kind extends RunnerJob['kind']> = Extract<RunnerJob, { kind: Kind }>;
