import { agentMaker, agentNames, environmentMaker, environmentNames } from '../agents/registry.ts';
import { messageText } from '../common/message.ts';
import { drivenAgent, drivenEnv, EnvWorld, openOwnEpisode, taskDict } from '../own/env-world.ts';
import type { OwnCode, OwnTarget } from '../own/own-code.ts';
import { OwnTool } from '../own/own-tool.ts';
import type { RewardRouter, RewardTask } from '../rewards/index.ts';
import type { Tool } from '../tools/tool.ts';
import type { CollectorOptions } from './collector.ts';
import { limitsOf } from './setting-flags.ts';
import type { Settings } from './settings.ts';
import type { Task } from './tasks.ts';

interface WorldParts {
  code: OwnCode;
  tools: readonly Tool[];
  rewards: RewardRouter;
}

/** The agent and the environment that a run names: built-in ones by name, or a class of the user's. @throws Error that lists the names */
export function worldsOf(settings: Settings, { code, tools, rewards }: WorldParts): CollectorOptions['worlds'] {
  const { agent: agentText, env: envText, reward, max_assistant_turns: maxSteps = null } = settings;
  if (agentText === undefined && envText === undefined) return undefined;
  const ownEnv = ownTarget(code, 'env', envText, environmentNames());
  const ownAgent = ownTarget(code, 'agent', agentText, agentNames());
  if (ownEnv !== null && ownAgent !== null && ownEnv.host !== ownAgent.host)
    throw new Error('--agent and --env: an agent and an environment of your own must be of one language');
  const hasTools = tools.length > 0;
  const makeEnv = environmentMaker(envText ?? (hasTools ? 'tool' : 'task'));
  const makeAgent = agentMaker(agentText ?? (ownEnv === null && hasTools ? 'tool' : 'model'));
  return {
    // A named reward judges a user's environment from outside; a built-in one asks it itself.
    isJudge: reward === undefined || ownEnv === null,
    ownsTools: true,
    asksReward: ownEnv === null,
    open: (task) => {
      const dict = taskDict(task);
      const system = task.messages.find(({ role }) => role === 'system');
      const systemPrompt = system ? messageText(system) : '';
      const plainAgent = () => drivenAgent(makeAgent!({ systemPrompt, tools }));
      const { toolsKwargs } = task;
      const rewardFn = rewardFor(task, rewards);
      const plainEnv = () =>
        drivenEnv(makeEnv!({ task: dict, tools, rewardFn, maxSteps, toolsKwargs, limits: limitsOf(settings) }));
      if (ownEnv === null && ownAgent === null)
        return new EnvWorld(async () => ({ agent: plainAgent(), env: plainEnv() }));
      const ownTools = tools.filter((tool) => tool instanceof OwnTool);
      return new EnvWorld((signal) =>
        openOwnEpisode(
          { env: ownEnv, agent: ownAgent, tools: ownTools, task: dict, systemPrompt, maxSteps, plainAgent, plainEnv },
          signal,
        ),
      );
    },
  };
}

function ownTarget(code: OwnCode, flag: string, text: string | undefined, known: readonly string[]): OwnTarget | null {
  if (text === undefined || known.includes(text)) return null;
  const own = code.find(text, process.cwd());
  if (own !== null) return own;
  throw new Error(
    `--${flag} ${text}: known: ${known.join(', ')}, or your own class: FILE.py:Class, module.Class, FILE.mjs#Class`,
  );
}

/** The reward function of the task's data source, called with the task's keys. */
function rewardFor(task: Task, rewards: RewardRouter) {
  // Without one the environment itself must give the reward; the call raises the error.
  return (given: RewardTask, action: string, signal?: AbortSignal) =>
    rewards
      .for(task.dataSource)
      .fn({ ...given, ground_truth: task.groundTruth, extra_info: task.extraInfo }, action, signal);
}
