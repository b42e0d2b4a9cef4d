import { linked } from '../../core/async/abort.ts';
import { pool } from '../../core/async/pool.ts';
import { pause } from '../../core/async/timeout.ts';
import type { JsonObject } from '../../core/json/value.ts';
import { type Cause, outcomeOf, ruleOf } from '../common/faults.ts';
import type { Interaction } from '../interactions/interaction.ts';
import type { World } from '../interactions/world.ts';
import type { Model, SamplingParams } from '../model/model.ts';
import type { RequestOptions } from '../request/options.ts';
import type { PartialRollout } from '../request/records.ts';
import { RolloutRequest } from '../request/request.ts';
import type { OverlongBuffer, RewardRouter } from '../rewards/index.ts';
import type { Tool } from '../tools/tool.ts';
import { GroupBuffer, type IncompleteGroup } from './group-buffer.ts';
import type { LiveFile } from './live.ts';
import { rolloutRecord, uidOf } from './record.ts';
import { type Judgement, judgeRollout, withPenalty } from './score.ts';
import type { Task } from './tasks.ts';

export interface CollectorOptions {
  tasks: AsyncIterable<Task> | Iterable<Task>;
  model: Model;
  rewards: RewardRouter;
  /** Rollouts per task: the group's size. */
  n?: number;
  /** Rollouts in flight; there is no barrier between tasks. */
  concurrency?: number;
  /** The step of the first task, and tasks per step; without `batchSize` all belong to one step. */
  step?: number;
  batchSize?: number | undefined;
  gamma?: number;
  /** All other options of a rollout. */
  request?: Omit<
    RequestOptions,
    | 'model'
    | 'messages'
    | 'toolsKwargs'
    | 'toolSelection'
    | 'user'
    | 'partial'
    | 'requestId'
    | 'signal'
    | 'suspend'
    | 'onEvent'
  >;
  /** Opens the environment of a rollout; its reward is the score, unless `rewards` should be asked. */
  worlds?:
    | { open(task: Task): World; isJudge: boolean; needsInstance?: boolean; ownsTools?: boolean; asksReward?: boolean }
    | undefined;
  /** The penalty for a response near its limit. */
  overlong?: OverlongBuffer | null;
  /** Whether a rollout is already done. */
  isDone?: (task: string, rollout: number, step: number) => boolean;
  /** Simulated users, by the name in a task's interaction_kwargs. */
  users?: ReadonlyMap<string, Interaction> | undefined;
  /** A rollout that an earlier run left unfinished. */
  partialOf?: ((task: string, rollout: number, step: number) => PartialRollout | undefined) | undefined;
  /** Notified of each starting rollout, for a file of rollouts under way. */
  live?: Pick<LiveFile, 'add'> | undefined;
  /** Aborts the run; interrupted rollouts are not yielded. */
  signal?: AbortSignal | undefined;
  /** Starts no more rollouts, and suspends the running ones for a later resume. */
  suspend?: AbortSignal | undefined;
  /** Called for a rollout that is retried in this run. */
  onRemade?: ((lost: CollectedRollout) => void) | undefined;
  /** Called when a task's first rollout starts, in task order. */
  onTask?: ((task: Task) => void) | undefined;
}

/** The outcome of a rollout, wherever it ran. */
export type RolloutOutcome = Pick<
  RolloutRequest,
  | 'state'
  | 'status'
  | 'finishReason'
  | 'error'
  | 'warnings'
  | 'duration'
  | 'messages'
  | 'generations'
  | 'calls'
  | 'partial'
>;

export interface CollectedRollout<Request extends RolloutOutcome = RolloutRequest> {
  task: Task;
  rollout: number;
  step: number;
  request: Request;
  judgement: Judgement;
  /** The fault that ended or spoilt it; null if there was none. */
  cause: Cause | null;
  /** The dump line; null for a failed rollout that should be retried. */
  record: JsonObject | null;
}

/** One rollout of a task, not yet made. */
export interface RolloutJob {
  task: Task;
  rollout: number;
  step: number;
}

/** Makes a rollout, here or elsewhere. Null: the run ended before anyone started it. */
export type MakeRollout<Request extends RolloutOutcome> = (
  job: RolloutJob,
) => Promise<CollectedRollout<Request> | null>;

/** Makes n rollouts of every task and yields them as they end, failed ones included. Applies backpressure when they are not taken. */
export const collectRollouts = (options: CollectorOptions): AsyncGenerator<CollectedRollout> =>
  collectMade(options, (job) => makeRollout(job, options));

/** The same, with any way to make them. */
export async function* collectMade<Request extends RolloutOutcome>(
  options: RolloutsAsked,
  make: MakeRollout<Request>,
): AsyncGenerator<CollectedRollout<Request>> {
  const { signal } = options;
  for await (const result of pool(jobs(options), options.concurrency ?? 32, make)) {
    if (result === null) continue;
    // A rollout that the user interrupted is neither done nor failed.
    if (!(signal?.aborted && result.record === null && result.request.state !== 'suspended')) yield result;
  }
}

type RolloutsAsked = Pick<
  CollectorOptions,
  'tasks' | 'n' | 'concurrency' | 'step' | 'batchSize' | 'isDone' | 'onTask' | 'signal' | 'suspend'
>;

async function* jobs({
  tasks,
  n = 1,
  step = 1,
  batchSize,
  isDone,
  onTask,
  signal,
  suspend,
}: RolloutsAsked): AsyncGenerator<RolloutJob> {
  for await (const task of tasks) {
    let isReported = false;
    const own = step + (batchSize === undefined ? 0 : Math.floor(task.index / batchSize));
    for (let rollout = 0; rollout < n; rollout++) {
      if (isDone?.(task.key, rollout, own)) continue;
      if (signal?.aborted || suspend?.aborted) return;
      if (!isReported) onTask?.(task);
      isReported = true;
      yield { task, rollout, step: own };
    }
  }
}

/** Retries of a rollout within its run, as ms before each: a service that went down needs time to come back. */
const REMADE = [1000, 5000];

export type MakerOptions = Omit<CollectorOptions, keyof Omit<RolloutsAsked, 'signal' | 'suspend'>>;

/** Makes a rollout in this process, and retries it if the process or server that held its state was lost. */
export async function makeRollout(job: RolloutJob, options: MakerOptions): Promise<CollectedRollout> {
  const { signal, suspend } = options;
  for (const wait of REMADE) {
    const made = await collectOnce(job, options);
    const isRemade = made.cause !== null && ruleOf(made.cause).remade === true;
    if (!isRemade || signal?.aborted || suspend?.aborted) return made;
    options.onRemade?.(made);
    await pause(wait, signal).catch(() => {});
  }
  return collectOnce(job, options);
}

async function collectOnce({ task, rollout, step }: RolloutJob, options: MakerOptions): Promise<CollectedRollout> {
  const { model, signal, suspend, users, worlds } = options;
  const toolsKwargs = withInstance(task, options.request?.tools ?? []);
  const world = worlds?.open({ ...task, toolsKwargs });
  const sampling = seeded(options.request?.sampling, rollout);
  const shared: NonNullable<MakerOptions['request']> = options.request ?? {};
  // The agent lists the tools for the model itself, and the environment runs them.
  const ownsTools = worlds?.ownsTools === true;
  // All keys are written out: V8 looks up each key of an object with more than twelve copied ones anew.
  const own: { [key in keyof Required<RequestOptions>]: RequestOptions[key] } = {
    model,
    messages: task.messages,
    prompt: shared.prompt,
    sampling,
    limits: shared.limits,
    tokenizer: shared.tokenizer,
    templateKwargs: shared.templateKwargs,
    tokenizationCheck: shared.tokenizationCheck,
    toolFormat: shared.toolFormat,
    tools: ownsTools ? [] : shared.tools,
    toolsKwargs: ownsTools ? undefined : toolsKwargs,
    toolSelection: ownsTools ? undefined : selectionOf(task, options.request),
    user: world === undefined ? userOf(task, users) : { interaction: world, kwargs: {} },
    verlCompat: shared.verlCompat,
    window: shared.window,
    partial: options.partialOf?.(task.key, rollout, step),
    requestId: undefined,
    signal,
    suspend,
    onEvent: undefined,
  };
  const request = new RolloutRequest(own);
  const live = options.live?.add({ task: task.index, rollout, step, uid: uidOf(task.key, rollout) }, request);
  try {
    await request.run();
    live?.scoring();
    const judge = world !== undefined && worlds?.isJudge ? judgedBy(world) : options.rewards;
    return await judged({ task, rollout, step }, request, judge, options);
  } finally {
    live?.end();
  }
}

/** The tools that the task names: `tool_selection`, else the keys of its `tools_kwargs` if `need_tools_kwargs` selects by them (verl of 2025). */
function selectionOf(
  { toolSelection, needToolsKwargs, toolsKwargs }: Task,
  request: CollectorOptions['request'],
): readonly string[] | undefined {
  if (toolSelection !== undefined || !needToolsKwargs || request?.verlCompat) return toolSelection;
  const named = Object.keys(toolsKwargs);
  return named.length === 0 ? undefined : named;
}

/** The simulated user that the task names; unknown names were reported when the tasks were read. */
function userOf({ interactionKwargs: kwargs }: Task, users: CollectorOptions['users']): RequestOptions['user'] {
  const interaction = typeof kwargs?.name === 'string' ? users?.get(kwargs.name) : undefined;
  return interaction && kwargs ? { interaction, kwargs } : undefined;
}

async function judged(
  { task, rollout, step }: RolloutJob,
  request: RolloutRequest,
  rewards: RewardRouter,
  { model, signal, gamma = 1, overlong = null }: MakerOptions,
): Promise<CollectedRollout> {
  const judgement = withPenalty(await judgeRollout(task, request, rewards, signal), request, overlong);
  // The fault that ended the rollout takes precedence over the fault of its score.
  const cause = outcomeOf(request.cause) === 'scored' ? (judgement.cause ?? request.cause) : request.cause;
  const isKept = outcomeOf(cause) !== 'again' && request.state !== 'suspended';
  const context = { task, rollout, step, model: model.name, gamma, judgement, cause };
  return { task, rollout, step, request, judgement, cause, record: isKept ? rolloutRecord(request, context) : null };
}

/** A session used as a tool is started with the task's instance_id, unless its own arguments name another. */
function withInstance({ toolsKwargs, instanceId }: Task, tools: readonly Tool[]): Task['toolsKwargs'] {
  if (instanceId === undefined || instanceId === null) return toolsKwargs;
  const sessions = tools.filter((tool) => tool.sidOf !== undefined);
  return {
    ...toolsKwargs,
    ...Object.fromEntries(
      sessions.map(({ name }) => [
        name,
        { ...toolsKwargs[name], create_kwargs: { instance_id: instanceId, ...toolsKwargs[name]?.create_kwargs } },
      ]),
    ),
  };
}

const judgedBy = (world: World): RewardRouter => ({
  for: () => ({ name: world.name, fn: (_task, _action, signal) => world.judge(signal) }),
});

const seeded = (sampling: SamplingParams | undefined, rollout: number): SamplingParams | undefined =>
  sampling?.seed === undefined ? sampling : { ...sampling, seed: sampling.seed + rollout };

export interface BatchOptions extends CollectorOptions {
  /** Tasks per batch. */
  batchTasks: number;
  /** How many complete groups may wait for the learner before new rollouts pause. */
  ahead?: number;
  onRollout?: (rollout: CollectedRollout) => void | Promise<void>;
  onIncomplete?: (group: IncompleteGroup<CollectedRollout>) => void;
}

/**
 * The online loop: the collector produces, the caller takes batches of complete groups in task order. A group with a failed
 * member is reported and skipped. When the caller stops taking, running rollouts are aborted.
 */
export async function* collectBatches(options: BatchOptions): AsyncGenerator<CollectedRollout[][]> {
  const { batchTasks, onRollout, onIncomplete } = options;
  // Less than a batch would never fill one.
  const ahead = Math.max(options.ahead ?? 2 * batchTasks, batchTasks);
  const { abort: stop, unlink } = linked(options.signal);
  let taken = () => {};
  const buffer = new GroupBuffer<CollectedRollout>(options.n ?? 1, onIncomplete);
  const produce = async () => {
    const rollouts = collectRollouts({ ...options, signal: stop.signal, onTask: ({ key }) => buffer.open(key) });
    for await (const rollout of rollouts) {
      await onRollout?.(rollout);
      if (rollout.record === null)
        buffer.miss(rollout.task.key, rollout.request.error ?? rollout.judgement.error ?? 'failed');
      else buffer.add(rollout.task.key, rollout);
      while (buffer.readyCount >= ahead && !stop.signal.aborted)
        await new Promise<void>((resolve) => (taken = resolve));
    }
  };
  const produced = produce().then(
    () => buffer.end(),
    (error: unknown) => buffer.fail(error),
  );
  try {
    for await (const batch of buffer.batches(batchTasks)) {
      taken();
      yield batch;
    }
  } finally {
    unlink();
    stop.abort(new Error('the learner has stopped'));
    taken();
    await produced;
  }
}
