import { access } from 'node:fs/promises';
import { linked, untilAborted } from '../../async/abort.ts';
import { reachModel } from '../../http/reach.ts';
import { printJson } from '../../json/print.ts';
import type { Run } from '../../sandbox/check-correctness.ts';
import { reasonOf } from '../../text/problems.ts';
import { ChatCompletionsModel } from '../model/chat-completions.ts';
import { type ChatTokenizer, loadChatTokenizer } from '../model/chat-tokenizer.ts';
import type { Model } from '../model/model.ts';
import { SglangGenerateModel } from '../model/sglang-generate.ts';
import { type OwnParts, openOwn } from '../own/open-own.ts';
import type { OwnUse } from '../own/own-use.ts';
import { toolGrammar } from '../request/tool-grammar.ts';
import { type RewardRouter, rewardRouter } from '../rewards/index.ts';
import type { Tool } from '../tools/tool.ts';
import { openCodeRunner } from './code-runner.ts';
import { type CollectedRollout, collectRollouts } from './collector.ts';
import { DumpWriter } from './dump-writer.ts';
import { limitsOf, samplingOf } from './setting-flags.ts';
import type { Settings } from './settings.ts';
import { SetupError } from './setup-error.ts';
import { isTaskError, readTasks, type Task } from './tasks.ts';

export interface RunProgress {
  /** Rollouts that the tasks ask for, and how many of them are done, those of an earlier run included. */
  total: number;
  done: number;
  /** Done before this run. */
  resumed: number;
  failed: number;
  /** Seconds since the first rollout started. */
  elapsed: number;
  /** Sampled in this run, as far as the server counts. */
  tokens: number;
  meanScore: number | null;
}

export interface RunOptions {
  tasksPath: string;
  settings: Settings;
  resume: boolean;
  apiKey?: string | undefined;
  /** Runs code in the place of the sandboxes that the tool file names. */
  runCode?: Run | undefined;
  signal?: AbortSignal | undefined;
  /** What a person should know: bad tasks, failures, warnings. */
  say: (message: string) => void;
  /** Asked once, before classes of the user's own that a file names are run. @throws Error where they may not be */
  allowOwn?: ((uses: readonly OwnUse[]) => Promise<void>) | undefined;
  onProgress?: (progress: RunProgress) => void;
  onRollout?: (rollout: CollectedRollout) => void | Promise<void>;
}

export interface RunSummary extends RunProgress {
  badTasks: number;
  /** Why the run was ended before its time; null when it was not. */
  ended: string | null;
}

/** So many failures in a row, and none that worked between them, are the server's and not the rollouts'. */
const HOPELESS = 20;

/** Seconds for which a model server that does not listen yet is waited for. */
const PATIENCE = 30;

/** Makes the rollouts of a file of tasks and writes them as a dump. @throws SetupError, and the reason of an abort before the first rollout */
export async function runCollection(options: RunOptions): Promise<RunSummary> {
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

async function collect(options: RunOptions): Promise<RunSummary> {
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

async function collectWith(own: OwnParts, options: RunOptions): Promise<RunSummary> {
  const { tasksPath, settings, say, signal } = options;
  const setup = await prepare(options, own);
  signal?.throwIfAborted();
  const { keys, badTasks } = await checkTasks(tasksPath, setup.rewards, setup.tools, options);
  if (keys.length === 0)
    throw new SetupError(`${tasksPath}: no task in it; a task is a JSON object a line with a prompt`);
  const writer = await DumpWriter.open(settings.out!, options).catch((error: Error) => {
    throw new SetupError(error.message);
  });
  own.keepLog(settings.out!);
  const n = settings.n ?? 1;
  const countDone = (key: string) =>
    Array.from({ length: n }).filter((_, rollout) => writer.state.isDone(key, rollout)).length;
  const progress: RunProgress = {
    total: keys.length * n,
    done: 0,
    resumed: keys.reduce((sum, key) => sum + countDone(key), 0),
    failed: 0,
    elapsed: 0,
    tokens: 0,
    meanScore: null,
  };
  const { abort: stop, unlink } = linked(signal);
  const started = performance.now();
  const scores = { sum: 0, count: 0 };
  let inARow = 0;
  let ended: string | null = null;
  try {
    if (progress.resumed < progress.total) await waitForModel(options);
    const rollouts = collectRollouts({
      ...setup,
      tasks: validTasks(tasksPath),
      n,
      concurrency: settings.concurrency ?? 32,
      step: settings.step ?? 1,
      batchSize: settings.batch_size,
      gamma: settings.gamma ?? 1,
      isDone: (task, rollout) => writer.state.isDone(task, rollout),
      signal: stop.signal,
    });
    for await (const collected of rollouts) {
      const { task, rollout, step, request, judgement, record } = collected;
      if (record === null) {
        inARow++;
        progress.failed++;
        await writer.state.noteFailure(
          printJson({ task: task.key, rollout, error: request.error, messages: request.messages as never }),
        );
        if (progress.failed <= HOPELESS) say(`task ${task.index + 1}, rollout ${rollout}: ${request.error}`);
        if (inARow >= HOPELESS && !stop.signal.aborted) {
          ended = `${inARow} rollouts in a row failed, the last one with: ${request.error}`;
          stop.abort(new Error(ended));
        }
      } else {
        inARow = 0;
        await writer.append(record, { step, task: task.key, rollout });
        progress.done++;
        if (judgement.score !== null) {
          scores.sum += judgement.score;
          scores.count++;
        } else say(`task ${task.index + 1}, rollout ${rollout}: no score: ${judgement.error}`);
      }
      progress.tokens += request.generations.reduce((sum, turn) => sum + (turn.completion_tokens ?? 0), 0);
      progress.elapsed = (performance.now() - started) / 1000;
      progress.meanScore = scores.count === 0 ? null : scores.sum / scores.count;
      await options.onRollout?.(collected);
      options.onProgress?.({ ...progress, done: progress.done + progress.resumed });
    }
  } finally {
    unlink();
    await writer.close();
  }
  progress.elapsed = (performance.now() - started) / 1000;
  return {
    ...progress,
    done: progress.done + progress.resumed,
    badTasks,
    ended: signal?.aborted ? 'interrupted' : ended,
  };
}

async function waitForModel({ settings, say, signal }: RunOptions): Promise<void> {
  await reachModel(settings.model_url!, { seconds: PATIENCE, signal, onWait: say }).catch((error: Error) => {
    signal?.throwIfAborted();
    throw new SetupError(error.message);
  });
}

/** What comes of `work`, or the reason of an abort, whichever is first; what comes too late is handed to `discard`. */
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

async function prepare(
  { settings, apiKey, runCode }: RunOptions,
  own: OwnParts,
): Promise<{
  model: Model;
  rewards: RewardRouter;
  tools: readonly Tool[];
  request: NonNullable<Parameters<typeof collectRollouts>[0]['request']>;
}> {
  const { model_url, model: name, out, api = 'chat', tokenizer: tokenizerPath, chat_template } = settings;
  for (const [flag, value] of Object.entries({ 'model-url': model_url, model: name, out })) {
    if (!value) throw new SetupError(`--${flag} is missing (the --config file may hold it too)`);
  }
  if (!URL.canParse(model_url!) || !/^https?:$/.test(new URL(model_url!).protocol))
    throw new SetupError(`--model-url ${model_url}: not an address, such as http://localhost:8000/v1`);
  try {
    toolGrammar(settings.tool_format ?? 'hermes');
    const tokenizer: ChatTokenizer | undefined = tokenizerPath
      ? await loadChatTokenizer(tokenizerPath, chat_template)
      : undefined;
    if (api === 'generate' && !tokenizer) throw new Error('--api generate takes token ids: give --tokenizer');
    const http = { url: model_url!, apiKey };
    const model =
      api === 'generate' ? new SglangGenerateModel(name!, tokenizer!, http) : new ChatCompletionsModel(name!, http);
    const { tools } = own;
    const rewards =
      own.rewards ??
      rewardRouter({
        routes: settings.rewards ?? {},
        fallback: settings.reward,
        code:
          settings.sandbox_fusion_url || runCode
            ? { sandbox_fusion_url: settings.sandbox_fusion_url, run: runCode }
            : undefined,
        http: settings.reward_url ? { url: settings.reward_url } : undefined,
      });
    // A mistyped name is told now, and not by the first task that has no function of its own.
    if (settings.reward === 'http' && !settings.reward_url) throw new Error('--reward http needs --reward-url');
    if (settings.reward !== undefined) rewards.for(undefined);
    const request = {
      tools,
      sampling: samplingOf(settings),
      limits: limitsOf(settings),
      tokenizer,
      tokenizationCheck: settings.tokenization_check ?? 'strict',
      toolFormat: settings.tool_format ?? 'hermes',
    } as const;
    return { model, rewards, tools, request };
  } catch (error) {
    throw new SetupError((error as Error).message);
  }
}

/** Reads all tasks once, so that what is wrong with the last is known before the first rollout. */
async function checkTasks(
  path: string,
  rewards: RewardRouter,
  tools: readonly Tool[],
  { say, signal }: Pick<RunOptions, 'say' | 'signal'>,
): Promise<{ keys: string[]; badTasks: number }> {
  await access(path).catch((error: Error) => {
    throw new SetupError(`${path}: ${reasonOf(error)}; tasks are a file with one JSON object a line`);
  });
  const keys: string[] = [];
  let badTasks = 0;
  const unknown = new Set<string>();
  for await (const entry of readTasks(path)) {
    signal?.throwIfAborted();
    if (isTaskError(entry)) {
      badTasks++;
      say(`${path}:${entry.line}: ${entry.message}; the line is left out`);
      continue;
    }
    keys.push(entry.key);
    for (const name of Object.keys(entry.toolsKwargs)) {
      if (unknown.has(name) || tools.some((tool) => tool.name === name)) continue;
      unknown.add(name);
      say(`tools_kwargs of task ${entry.index + 1} name the tool '${name}', which --tools does not have`);
    }
    try {
      rewards.for(entry.dataSource);
    } catch (error) {
      throw new SetupError(
        `task ${entry.index + 1}: ${(error as Error).message} with --reward, or under rewards: in --config`,
      );
    }
  }
  return { keys, badTasks };
}

async function* validTasks(path: string): AsyncGenerator<Task> {
  for await (const entry of readTasks(path)) if (!isTaskError(entry)) yield entry;
}
