import { access } from 'node:fs/promises';
import type { JsonValue } from '../../core/json/value.ts';
import { reasonOf } from '../../core/text/problems.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import type { VerlVersion } from '../request/rules.ts';
import type { RewardRouter } from '../rewards/index.ts';
import type { Tool } from '../tools/tool.ts';
import type { CollectorOptions } from './collector.ts';
import { routeOf } from './score.ts';
import { SetupError } from './setup-error.ts';
import { isTaskError, readTasks, type Task } from './tasks.ts';

export interface TaskCheckOptions {
  rewards: RewardRouter;
  tools: readonly Tool[];
  /** Names of the configured simulated users. */
  users: readonly string[];
  /** Every task is played in an environment; a session environment is started by the task's instance_id. */
  worlds?: CollectorOptions['worlds'];
  /** The tree of verl whose behaviour the user asked for. */
  verlCompat?: VerlVersion | null;
  say: (message: string) => void;
  signal?: AbortSignal | undefined;
}

/** Reads all tasks once, so an error in the last one is found before the first rollout. */
export async function checkTasks(
  path: string,
  { rewards, tools, users, worlds, verlCompat = null, say, signal }: TaskCheckOptions,
): Promise<{ keys: string[]; badTasks: number }> {
  await access(path).catch((error: Error) => {
    throw new SetupError(`${path}: ${reasonOf(error)}; tasks are a file with one JSON object per line`);
  });
  const keys: string[] = [];
  let badTasks = 0;
  const said = new Set<string>();
  const once = (about: string, message: string) => {
    if (said.has(about)) return;
    said.add(about);
    say(message);
  };
  const isTool = (name: string) => tools.some((tool) => tool.name === name);
  for await (const entry of readTasks(path)) {
    signal?.throwIfAborted();
    if (isTaskError(entry)) {
      badTasks++;
      say(`${path}:${entry.line}: ${entry.message}; the line is left out`);
      continue;
    }
    const { dataSource, needToolsKwargs, toolsKwargs, toolSelection = [], interactionKwargs } = entry;
    keys.push(entry.key);
    const where = `task ${entry.index + 1}`;
    for (const name of Object.keys(toolsKwargs))
      if (!isTool(name))
        once(`kwargs ${name}`, `tools_kwargs of ${where} name the tool '${name}', which --tools does not have`);
    if (needToolsKwargs && Object.keys(toolsKwargs).length === 0)
      once('need', `${where} says need_tools_kwargs, and its tools_kwargs are empty`);
    if (needToolsKwargs && verlCompat !== null && tools.some(({ name }) => !Object.hasOwn(toolsKwargs, name)))
      once(
        'all tools',
        `${where} says need_tools_kwargs: verl of ${verlCompat} sends every tool nevertheless, and so does --verl-compat`,
      );
    for (const name of toolSelection)
      if (!isTool(name))
        once(
          `selection ${name}`,
          `tool_selection of ${where} names '${name}', which --tools does not have; it is left out`,
        );
    const user = interactionKwargs?.name;
    if (interactionKwargs !== undefined && users.length > 0 && !users.includes(String(user))) {
      const known = users.map((name) => `'${name}'`).join(', ');
      throw new SetupError(
        `${where}: interaction_kwargs name ${user === undefined ? 'no interaction' : `the interaction '${String(user)}'`}; known: ${known}`,
      );
    }
    if (interactionKwargs !== undefined && users.length === 0)
      once(
        'users',
        `${where} has interaction_kwargs, and no --interaction-config is given: it is played without a simulated user`,
      );
    for (const what of ['videos', 'audios'])
      if (isFilled(entry.row?.[what]))
        once(what, `${where} has ${what}, which are not sent to the model: it is played without them`);
    if (interactionKwargs === undefined && users.length > 0)
      once('no kwargs', `${where} has no interaction_kwargs: it is played without a simulated user`);
    if (worlds?.needsInstance && (entry.instanceId ?? null) === null)
      throw new SetupError(`${where}: no instance_id, in the row or its extra_info; a session is started with it`);
    if (routeOf(rewards, dataSource) === null && !(worlds?.isJudge && !worlds.asksReward))
      checkUnrouted(entry, { rewards, tools, users }, once);
  }
  return { keys, badTasks };
}

const isFilled = (value: JsonValue | undefined): boolean => Array.isArray(value) && value.length > 0;

/** Tools and simulated users may judge; if there are neither, a task without a function is a configuration error. */
function checkUnrouted(
  { index, dataSource }: Task,
  { rewards, tools, users }: Pick<TaskCheckOptions, 'rewards' | 'tools' | 'users'>,
  once: (about: string, message: string) => void,
): void {
  if (tools.length > 0 || users.length > 0) {
    const source =
      dataSource === undefined ? 'no data_source' : `data_source '${dataSource}', which has no reward function`;
    once(`reward ${dataSource}`, `task ${index + 1} has ${source}: the score is what its tools or its user give`);
    return;
  }
  try {
    rewards.for(dataSource);
  } catch (error) {
    throw new SetupError(`task ${index + 1}: ${errorMessage(error)} with --reward, or under rewards: in --config`);
  }
}

export async function* validTasks(path: string): AsyncGenerator<Task> {
  for await (const entry of readTasks(path)) if (!isTaskError(entry)) yield entry;
}
