import { join } from 'node:path';
import { linked, untilAborted } from '../../core/async/abort.ts';
import { reachModel } from '../../core/http/reach.ts';
import type { JsonObject } from '../../core/json/value.ts';
import { reasonOf } from '../../core/text/problems.ts';
import { errorCode } from '../../core/text/thrown.ts';
import type { Run } from '../../sandbox/check-correctness.ts';
import { ruleOf } from '../common/faults.ts';
import type { OwnUse } from '../common/own-use.ts';
import type { OwnEntry } from '../own/own-files.ts';
import { wireSchema } from '../tools/schema.ts';
import type { ToolBox } from '../tools/tool-box.ts';
import { checkTasks, validTasks } from './check-tasks.ts';
import { openCodeRunner } from './code-runner.ts';
import {
  type CollectedRollout,
  type CollectorOptions,
  collectMade,
  type MakeRollout,
  makeRollout,
  type RolloutOutcome,
} from './collector.ts';
import { DumpWriter } from './dump-writer.ts';
import { FaultLog } from './fault-log.ts';
import { LiveFile } from './live.ts';
import { type OwnParts, openOwn } from './open-own.ts';
import { Partials } from './partials.ts';
import { prepareRun, type RunSetup } from './prepare.ts';
import { STATE_DIRECTORY } from './run-state.ts';
import { ServerHealth } from './server-health.ts';
import type { Settings } from './settings.ts';
import { SetupError } from './setup-error.ts';

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

/** Seconds to wait for a model server that is not listening yet. */
const REACH_SECONDS = 30;

/** Makes the rollouts of a file of tasks and writes them as a dump. @throws SetupError, and the reason of an abort before the first rollout */
export async function runCollection(options: CollectionOptions): Promise<RunSummary> {
  const { sandbox } = options.settings;
  if (sandbox === undefined) return collect(options);
  const opening = openCodeRunner(sandbox).catch((error: Error) => {
    throw new SetupError(error.message);
  });
  const runner = await unlessAborted(opening, options.signal, (late) => void late.close());
  try {
    return await collect({ ...options, runCode: runner.run });
  } finally {
    await runner.close();
  }
}

async function collect(options: CollectionOptions): Promise<RunSummary> {
  const { settings, say, allowOwn, runCode, signal } = options;
  const own = await openOwn(settings, { say, allowOwn, runCode, signal }).catch((error: Error) => {
    signal?.throwIfAborted();
    throw new SetupError(error.message);
  });
  try {
    return await collectWith(own, options);
  } finally {
    own.close();
  }
}

async function collectWith(own: OwnParts, options: CollectionOptions): Promise<RunSummary> {
  const { tasksPath, settings, say, signal } = options;
  const setup = await prepareRun(options, own);
  signal?.throwIfAborted();
  const { keys, badTasks } = await checkTasks(tasksPath, {
    ...setup,
    users: [...setup.users.keys()],
    verlCompat: settings.verl_compat ?? null,
    say,
    signal,
  });
  if (keys.length === 0)
    throw new SetupError(`${tasksPath}: no task in it; a task is a JSON object a line with a prompt`);
  const { n = 1, step = 1, batch_size: batchSize } = settings;
  const stepOf = (index: number) => step + (batchSize === undefined ? 0 : Math.floor(index / batchSize));
  const writer = await DumpWriter.open(settings.out!, {
    resume: options.resume,
    mix: options.mix ?? false,
    steps: [step, stepOf(keys.length - 1)],
    fingerprint: setup.fingerprint,
  }).catch((error: Error) => {
    throw new SetupError(error.message);
  });
  own.keepLog(settings.out!);
  const countDone = (key: string, index: number) =>
    Array.from({ length: n }).filter((_, rollout) => writer.state.isDone(key, rollout, stepOf(index))).length;
  const progress: RunProgress = {
    total: keys.length * n,
    done: 0,
    resumed: keys.reduce((sum, key, index) => sum + countDone(key, index), 0),
    failed: 0,
    unscored: 0,
    elapsed: 0,
    tokens: 0,
    meanScore: null,
  };
  const { abort: stop, unlink } = linked(signal);
  const suspend = settings.deadline !== undefined || settings.enough !== undefined ? new AbortController() : undefined;
  const state = join(settings.out!, STATE_DIRECTORY);
  const partials = await Partials.open(state);
  const faults = new FaultLog(say);
  const run = new RunningRun(setup, options, { writer, faults, progress, stop, suspend, partials });
  let elsewhere: MakeElsewhere | undefined;
  const live = new LiveFile(state, () => ({ ...run.counts(), ...elsewhere?.status() }));
  try {
    if (progress.resumed < progress.total) await waitForModel(options);
    const partialOf: CollectorOptions['partialOf'] = (task, rollout, own) => partials.take(task, rollout, own);
    elsewhere = await options.makeElsewhere?.({
      files: own.code.files,
      partialOf,
      signal: stop.signal,
      suspend: suspend?.signal,
    });
    run.start();
    const asked = {
      ...setup,
      tasks: validTasks(tasksPath),
      n,
      concurrency: settings.concurrency ?? 32,
      step,
      batchSize,
      gamma: settings.gamma ?? 1,
      isDone: (task, rollout, own) => writer.state.isDone(task, rollout, own),
      partialOf,
      live,
      signal: stop.signal,
      suspend: suspend?.signal,
      onRemade: ({ task, rollout, request, judgement }) => {
        const message = `${request.error ?? judgement.error}: made again`;
        faults.warn({ kind: 'lost', message }, `task ${task.index + 1}, rollout ${rollout}`);
      },
    } satisfies CollectorOptions;
    const rollouts = collectMade<RolloutOutcome>(asked, elsewhere?.make ?? ((job) => makeRollout(job, asked)));
    // A failed rollout is waited for: no more requests are sent while the server is being probed.
    await takeAll(
      rollouts,
      (collected) => run.take(collected),
      ({ record }) => record === null,
    );
    await run.countLost();
  } finally {
    unlink();
    run.close();
    await live.close();
    await partials.save().catch((error: Error) => say(`partial.jsonl: ${reasonOf(error)}`));
    await writer.close().catch((error: Error) => say(`${settings.out}: ${reasonOf(error)}`));
  }
  return {
    ...run.measured(),
    done: progress.done + progress.resumed,
    badTasks,
    ended: signal?.aborted ? 'interrupted' : run.ended,
    faults: faults.summary(),
  };
}

/** Rollouts being written and reported while others are made. */
const MOST_TAKEN = 256;

async function takeAll<T>(
  items: AsyncIterable<T>,
  take: (item: T) => Promise<void>,
  isWaitedFor: (item: T) => boolean,
): Promise<void> {
  const taken = new Set<Promise<void>>();
  let failure: { error: unknown } | null = null;
  try {
    for await (const item of items) {
      const one = take(item)
        .catch((error: unknown) => {
          failure ??= { error };
        })
        .finally(() => taken.delete(one));
      taken.add(one);
      if (isWaitedFor(item)) await one;
      if (taken.size >= MOST_TAKEN) await taken.values().next().value;
      if (failure !== null) break;
    }
  } finally {
    await Promise.all(taken);
  }
  // Assigned in a callback, which the compiler does not see.
  const ended = failure as { error: unknown } | null;
  if (ended) throw ended.error;
}

interface RunParts {
  writer: DumpWriter;
  faults: FaultLog;
  progress: RunProgress;
  stop: AbortController;
  /** Ends a step by its deadline, or once enough rollouts are complete. */
  suspend: AbortController | undefined;
  partials: Partials;
}

const DISK_ERRORS: Readonly<Record<string, string>> = {
  ENOSPC: 'no space left on the disk; what is whole is kept',
  EDQUOT: 'the disk quota is used up; what is whole is kept',
  EROFS: 'the file system is read-only; what is whole is kept',
  EFBIG: 'the file may not grow any further (ulimit -f); what is whole is kept',
  EIO: 'the disk fails (input/output error); what is whole is kept',
  ESTALE: 'a file was deleted or replaced while the run wrote to it',
};

/** Called with each rollout of a run as it ends. */
class RunningRun {
  /** Why the run was given up. */
  ended: string | null = null;
  readonly #options: CollectionOptions;
  readonly #parts: RunParts;
  readonly #health: ServerHealth;
  readonly #scores = { sum: 0, count: 0 };
  #started = performance.now();
  #deadline: NodeJS.Timeout | undefined;

  constructor(setup: RunSetup, options: CollectionOptions, parts: RunParts) {
    this.#options = options;
    this.#parts = parts;
    const tools = setup.tools.map((tool) => wireSchema(tool.getOpenAIToolSchema()));
    const { sampling = {} } = setup.request;
    this.#health = new ServerHealth({ model: setup.model, tools, sampling, signal: parts.stop.signal });
  }

  start(): void {
    this.#started = performance.now();
    const { deadline } = this.#options.settings;
    if (deadline !== undefined)
      this.#deadline = setTimeout(() => this.#suspend(`the deadline of ${deadline} s`), deadline * 1000);
  }

  close(): void {
    clearTimeout(this.#deadline);
  }

  counts(): Record<string, number | null> {
    const { total, done, resumed, failed, unscored } = this.#parts.progress;
    return { total, done: done + resumed, failed, unscored };
  }

  #suspend(why: string): void {
    const { suspend } = this.#parts;
    if (!suspend || suspend.signal.aborted) return;
    this.ended = `ended by ${why}`;
    suspend.abort(new Error(this.ended));
  }

  /** A full disk ends the run, and complete lines are kept. */
  async take(collected: CollectedRollout<RolloutOutcome>): Promise<void> {
    try {
      await this.#take(collected);
    } catch (error) {
      const words = DISK_ERRORS[errorCode(error) ?? ''];
      if (words === undefined) throw error;
      this.#parts.progress.failed++;
      this.ended = `${this.#options.settings.out}: ${words}`;
      this.#parts.stop.abort(new Error(this.ended));
    }
  }

  async #take(collected: CollectedRollout<RolloutOutcome>): Promise<void> {
    const { writer, faults, progress } = this.#parts;
    const { task, rollout, step, request, judgement, record, cause } = collected;
    const where = `task ${task.index + 1}, rollout ${rollout}`;
    const { partials } = this.#parts;
    if (request.state === 'suspended') {
      partials.keep(task.key, rollout, step, request.partial());
      return;
    }
    partials.drop(task.key, rollout, step);
    if (cause !== null) faults.note(cause, where, request.error ?? judgement.error ?? ruleOf(cause).says);
    for (const warning of request.warnings) faults.warn(warning, where);
    if (record === null) {
      progress.failed++;
      await writer.state.noteFailure({
        task: task.key,
        rollout,
        step,
        cause,
        error: request.error ?? judgement.error,
        messages: request.messages,
      });
      if (cause !== null && ruleOf(cause).probes) await this.#giveUpIfGone();
    } else {
      await writer.append(record, { step, task: task.key, rollout });
      progress.done++;
      if (judgement.score === null) progress.unscored++;
      else {
        this.#scores.sum += judgement.score;
        this.#scores.count++;
      }
    }
    const { enough } = this.#options.settings;
    if (enough !== undefined && progress.done >= enough) this.#suspend(`--enough ${enough}`);
    progress.tokens += request.generations.reduce((sum, turn) => sum + (turn.completion_tokens ?? 0), 0);
    await this.#options.onRollout?.(collected);
    this.#options.onProgress?.({ ...this.measured(), done: progress.done + progress.resumed });
  }

  /** Lines that were written but have disappeared do not count as done. */
  async countLost(): Promise<void> {
    const { writer, progress } = this.#parts;
    const lost = await writer.lostLines();
    if (lost === 0) return;
    progress.done -= lost;
    progress.failed += lost;
    this.ended ??= `${this.#options.settings.out}: ${DISK_ERRORS.ESTALE}; ${lost} lines of it are lost`;
  }

  measured(): RunProgress {
    const { sum, count } = this.#scores;
    return {
      ...this.#parts.progress,
      elapsed: (performance.now() - this.#started) / 1000,
      meanScore: count === 0 ? null : sum / count,
    };
  }

  /** Gives up only if the server answers nothing at all, however many rollouts failed. */
  async #giveUpIfGone(): Promise<void> {
    const { stop } = this.#parts;
    if (stop.signal.aborted) return;
    const problem = await this.#health.check();
    if (problem === null || stop.signal.aborted) return;
    this.ended = `given up: the model server did not answer a probe: ${problem}`;
    stop.abort(new Error(this.ended));
  }
}

async function waitForModel({ settings, say, signal }: CollectionOptions): Promise<void> {
  await reachModel(settings.model_url!, { seconds: REACH_SECONDS, signal, onWait: say }).catch((error: Error) => {
    signal?.throwIfAborted();
    throw new SetupError(error.message);
  });
}

/** The result of `work`, or the reason of an abort, whichever comes first; a late result is passed to `discard`. */
async function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  discard: (late: T) => void,
): Promise<T> {
  try {
    return await untilAborted(work, signal);
  } catch (error) {
    if (signal?.aborted) work.then(discard, () => {});
    throw error;
  }
}
