import type { JsonObject } from '../../core/json/value.ts';
import type { Run } from '../../sandbox/check-correctness.ts';
import type { OwnUse } from '../common/own-use.ts';
import type { OwnEntry } from '../own/own-files.ts';
import type { ToolBox } from '../tools/tool-box.ts';
import type { CollectedRollout, CollectorOptions, MakeRollout, RolloutOutcome } from './collector.ts';
import type { Settings } from './settings.ts';

export interface RunProgress {
  /** Rollouts that the tasks require, and how many of them are done, including those of an earlier run. */
  total: number;
  done: number;
  /** Done before this run. */
  resumed: number;
  failed: number;
  /** Done, but without a score. */
  unscored: number;
  /** Seconds since the first rollout started. */
  elapsed: number;
  /** Sampled in this run, as far as the server reports counts. */
  tokens: number;
  meanScore: number | null;
}

export interface CollectionOptions {
  tasksPath: string;
  settings: Settings;
  resume: boolean;
  /** Resumes a dump that was made with other settings. */
  mix?: boolean;
  apiKey?: string | undefined;
  /** How often to try the model server for a turn, and the wait before the first retry. */
  attempts?: { model: number; backoffMs: number } | undefined;
  /** Runs code in place of the sandboxes that the tool file names. */
  runCode?: Run | undefined;
  /** Tools beside those of the tool file; the caller closes them. */
  toolBox?: ToolBox | undefined;
  signal?: AbortSignal | undefined;
  /** Readable messages: bad tasks, failures, warnings. */
  say: (message: string) => void;
  /** Called once, before running a user's classes that a file names. @throws Error if they may not run */
  allowOwn?: ((uses: readonly OwnUse[]) => Promise<void>) | undefined;
  onProgress?: (progress: RunProgress) => void;
  onRollout?: (rollout: CollectedRollout<RolloutOutcome>) => void | Promise<void>;
  /** Makes the rollouts elsewhere; without it they run in this process. */
  makeElsewhere?: ((parts: ElsewhereParts) => Promise<MakeElsewhere>) | undefined;
}

export interface ElsewhereParts extends Pick<CollectorOptions, 'partialOf' | 'suspend'> {
  /** The files that named the user's code. */
  files: readonly OwnEntry[];
  signal: AbortSignal;
}

export interface MakeElsewhere {
  make: MakeRollout<RolloutOutcome>;
  /** Shown in `live.json`: what the workers are doing, and who they are. */
  status(): JsonObject;
}

export interface RunSummary extends RunProgress {
  badTasks: number;
  /** Why the run ended early; null if it did not. */
  ended: string | null;
  /** The faults, one line per cause. */
  faults: string[];
}
