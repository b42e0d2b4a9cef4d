import { resolve } from 'node:path';
import { onAbort, untilAborted } from '../../core/async/abort.ts';
import { TimedOutError, withTimeout } from '../../core/async/timeout.ts';
import { type JsonObject, type JsonValue, objectIn } from '../../core/json/value.ts';
import { CannotLoadError, OwnCodeError } from '../python/own-error.ts';
import { callHeld, type LoadRequest, OwnHost } from '../python/own-host.ts';
import { PythonProcess } from '../python/python-process.ts';
import type { RewardFn, RewardOutput } from '../rewards/reward.ts';
import { ModuleThread } from './module-thread.ts';

export interface OwnRewardOptions {
  /** The file that defines the function: FILE.py, FILE.mjs or FILE.js. */
  path: string;
  /** verl's name. */
  functionName?: string | undefined;
  /** The interpreter; it must have everything the function imports. */
  python?: string | undefined;
  pythonPath?: readonly string[] | undefined;
  /** Extra arguments for every call (verl's `custom_reward_function.reward_kwargs`). */
  kwargs?: JsonObject | undefined;
  /** Seconds per rollout. */
  timeout?: number | undefined;
  /** Receives the code's output. */
  log?: ((text: string) => void) | undefined;
}

export interface OwnReward {
  fn: RewardFn;
  /** Loads the file, so an error in it is reported once, not per rollout. @throws Error with that report */
  start(signal?: AbortSignal): Promise<void>;
  close(): void;
}

/**
 * A file with verl's `compute_score(data_source, solution_str, ground_truth, extra_info)`: `solution_str` is the whole response, and `extra_info`
 * holds `num_turns` and `rollout_reward_scores`, as in verl's managers. It runs in a separate process that is kept between rollouts and scores one at a time, as verl's reward managers do. It runs with the user's rights: whoever names the file vouches for it.
 */
export function ownReward(options: OwnRewardOptions): OwnReward {
  const { path, functionName = 'compute_score', python = 'python3', timeout = 60 } = options;
  const { pythonPath = [], kwargs = {}, log = () => {} } = options;
  const file = resolve(path);
  const paths = pythonPath.map((one) => resolve(one));
  const host = new OwnHost(() =>
    file.endsWith('.py')
      ? new PythonProcess({ python, paths, lastPaths: [process.cwd()], passedPaths: paths, log })
      : new ModuleThread(log),
  );
  const request: LoadRequest = { kind: 'reward', target: { file, attribute: functionName }, kwargs };
  let last: Promise<unknown> = Promise.resolve();
  const load = (signal: AbortSignal) =>
    host.shared(request, signal).catch((error: Error) => {
      throw error instanceof CannotLoadError
        ? new CannotLoadError(`${path} cannot be loaded: ${error.message}`)
        : error;
    });
  const within = <T>(signal: AbortSignal | undefined, what: string, body: (inner: AbortSignal) => Promise<T>) =>
    withTimeout(timeout, signal, body).catch((error: Error) => {
      if (error instanceof TimedOutError) throw new OwnCodeError(`no ${what} after ${timeout} s`);
      throw error;
    });
  const ask = async (body: JsonObject, signal: AbortSignal | undefined): Promise<RewardOutput> => {
    signal?.throwIfAborted();
    const answer = await within(signal, 'score', async (inner) => {
      const held = await load(inner);
      // A function that is not async can only be ended with its process, and the next call waits for it.
      onAbort(inner, () => held.process.kill());
      return callHeld(held, 'score', [body], inner);
    }).catch((error: Error) => {
      // The exception's class is half of the message.
      // Python prints it after the frames, JavaScript before them.
      const lines = error instanceof OwnCodeError ? error.trace?.split('\n') : undefined;
      const raised = lines?.[0]?.startsWith('Traceback') ? lines.at(-1) : lines?.[0];
      throw raised === undefined ? error : new OwnCodeError(raised, { trace: (error as OwnCodeError).trace });
    });
    const { score, metadata } = objectIn(answer);
    return { reward: score as number, metadata: objectIn(metadata) };
  };
  return {
    start: async (signal) => {
      await within(signal, 'function', load);
    },
    fn: (task, action, signal) => {
      const body: JsonObject = {
        data_source: task.data_source ?? null,
        solution_str: task.response_str ?? action,
        ground_truth: task.ground_truth ?? null,
        extra_info: {
          ...task.extra_info,
          num_turns: task.num_turns ?? null,
          rollout_reward_scores: (task.reward_scores ?? {}) as JsonValue,
        },
      };
      const answer = last.then(() => ask(body, signal));
      last = answer.catch(() => {});
      return untilAborted(answer, signal);
    },
    close: () => host.close(),
  };
}
