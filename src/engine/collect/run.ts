import { join } from 'node:path';
import { linked, untilAborted } from '../../core/async/abort.ts';
import { reachModel } from '../../core/http/reach.ts';
import { reasonOf } from '../../core/text/problems.ts';
import { checkTasks, validTasks } from './check-tasks.ts';
import { openCodeRunner } from './code-runner.ts';
import { type CollectorOptions, collectMade, makeRollout, type RolloutOutcome } from './collector.ts';
import { DumpWriter } from './dump-writer.ts';
import { FaultLog } from './fault-log.ts';
import { LiveFile } from './live.ts';
import { type OwnParts, openOwn } from './open-own.ts';
import { Partials } from './partials.ts';
import { prepareRun } from './prepare.ts';
import type { CollectionOptions, MakeElsewhere, RunProgress, RunSummary } from './run-options.ts';
import { STATE_DIRECTORY } from './run-state.ts';
import { RunningRun } from './running-run.ts';
import { SetupError } from './setup-error.ts';

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
    throw new SetupError(`${tasksPath}: no task in it; a task is a JSON object per line with a prompt`);
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
