import { existsSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { UsageError } from '../../core/dump/paths.ts';
import { modelUrlProblem } from '../../core/http/model-url.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import { settingsOfFlags } from '../../engine/collect/setting-flags.ts';
import { LIMIT_SETTINGS, RUN_SETTINGS, SAMPLING_SETTINGS } from '../../engine/collect/setting-list.ts';
import { RULE_NAMES } from '../../replay/compare/rules.ts';
import { rewardProblem } from '../../replay/reward-choice.ts';
import type { ReplayStart } from '../tui/state/replay.ts';
import { addOwn } from './own-flags.ts';
import { addReward, type RewardFlags, rewardChoiceOf } from './reward-flags.ts';
import { checkSandbox, positive, secondsOf, toolOption } from './sandbox-flags.ts';
import { addSettings, settingTexts } from './setting-flags.ts';

/** Flags for running again and forking; sampling parameters and limits are beside them, by their camel-cased keys. */
export interface RunAgainFlags extends RewardFlags {
  sandbox: string;
  yesWeak?: boolean;
  tools?: string;
  tool: Record<string, string>;
  session?: boolean;
  repeat: number;
  timeout?: number;
  exact?: readonly string[];
  exec: boolean;
  journal?: string;
  modelUrl?: string;
  model?: string;
  agent?: string;
  [setting: string]: unknown;
}

/** Here `timeout` is the limit of a call; the prompt of a fork also takes that of a rollout. */
const BRANCH_SETTINGS = [
  ...RUN_SETTINGS.filter(({ key }) => key === 'n').map((n) => ({ ...n, help: 'branches (1)' })),
  ...SAMPLING_SETTINGS,
  ...LIMIT_SETTINGS.filter(({ key }) => key !== 'timeout'),
];

export function addRunAgain(program: Command): Command {
  program
    .optionsGroup('Running calls again:')
    .option('--sandbox <where>', 'auto, bubblewrap, pyodide, unconfined, or the URL of a SandboxFusion server', 'auto')
    .option('--yes-weak', 'allow --sandbox pyodide even without a wall around it')
    .option('--tools <yaml>', "verl's tool file, for running calls again")
    .addOption(toolOption())
    .option('--session', 'run the calls of a tool in one notebook, earlier calls first')
    .option('--repeat <k>', 'run each call this many times, to find flaky calls', positive, 1)
    .option('--timeout <seconds>', 'time limit of a call (default: that of the call or its tool, else 30)', secondsOf)
    .option('--exact <rules>', `compare without these rules: all, or some of ${RULE_NAMES.join(',')}`, compareRules)
    .option('--no-exec', 'never run anything again')
    .option(
      '--journal <dir>',
      'where results and branches are kept (default: the state directory of this user; `beside`: .rollout-viewer beside the dump)',
    )
    .optionsGroup('Scoring again:');
  addReward(addOwn(program))
    .optionsGroup('Going on with a live model:')
    .option('--model-url <url>', 'an OpenAI-compatible server to fork with, including /v1')
    .option('--model <name>', 'the model to use')
    .option(
      '--agent <command>',
      'the agent that made the rollouts, to fork with: the record answers it up to the turn',
    );
  addSettings(program, BRANCH_SETTINGS);
  return program;
}

function compareRules(text: string): readonly string[] {
  const names = text === 'all' ? RULE_NAMES : text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !(RULE_NAMES as readonly string[]).includes(name));
  if (unknown !== undefined) throw new InvalidArgumentError(`'${unknown}' is not a rule.`);
  return names;
}

/** @throws UsageError for an impossible choice: half a model, a place, a missing file, a setting's value */
export function replayStart(flags: RunAgainFlags): ReplayStart {
  const { modelUrl, model, agent = null, exec, repeat, session = false } = flags;
  if ((modelUrl === undefined) !== (model === undefined))
    throw new UsageError('--model-url (the server) and --model (the model there) go together: give both');
  const urlProblem = modelUrl === undefined ? null : modelUrlProblem(modelUrl);
  if (urlProblem !== null) throw new UsageError(urlProblem);
  const { sandbox, tools } = flags;
  checkSandbox(sandbox);
  if (tools !== undefined && !existsSync(tools)) throw new UsageError(`--tools ${tools}: no such file or directory`);
  const { n, ...texts } = settingTexts(flags, BRANCH_SETTINGS);
  try {
    settingsOfFlags({ n, ...texts });
  } catch (error) {
    throw new UsageError(errorMessage(error));
  }
  const live = modelUrl === undefined || model === undefined ? null : { url: modelUrl, name: model };
  const reward = rewardChoiceOf(flags);
  const problem = rewardProblem(reward);
  if (problem !== null) throw new UsageError(`--reward: ${problem}`);
  return { canRun: exec, model: live, agent, repeat, session, fork: { n: Number(n ?? 1), texts }, reward };
}
