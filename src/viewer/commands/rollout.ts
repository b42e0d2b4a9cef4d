import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import type { QueuedRollouts } from '../../cluster/rollouts.ts';
import { UsageError } from '../../core/dump/paths.ts';
import { printJson } from '../../core/json/print.ts';
import { reasonOf } from '../../core/text/problems.ts';
import { sanitiseLine } from '../../core/text/sanitise.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import type { CollectedRollout, RolloutOutcome } from '../../engine/collect/collector.ts';
import { progressLine } from '../../engine/collect/progress-line.ts';
import type { CollectionOptions, RunProgress, RunSummary } from '../../engine/collect/run-options.ts';
import { settingsOfFlags } from '../../engine/collect/setting-flags.ts';
import { SETTINGS } from '../../engine/collect/setting-list.ts';
import type { Settings } from '../../engine/collect/settings.ts';
import { SetupError } from '../../engine/collect/setup-error.ts';
import type { OwnUse } from '../../engine/common/own-use.ts';
import type { WorldTools } from '../../replay/worlds/world-tools.ts';
import { ANSWER_IS_NO, DONE, print, run, say } from './output.ts';
import { leaveQueue, openQueue, type QueueFlags, withQueue } from './queue-flags.ts';
import { addSettings, settingTexts } from './setting-flags.ts';
import { type WorldFlags, withImage } from './world-flags.ts';

/** Flags with fixed names; those of settings are beside them, by their camel-cased keys. */
interface RolloutOptions extends QueueFlags, Omit<WorldFlags, 'tool' | 'env'> {
  config?: string;
  resume?: boolean;
  mix?: boolean;
  json?: boolean;
  yes?: boolean;
  [flag: string]: unknown;
}

export function rolloutCommand(): Command {
  const command = new Command('rollout')
    .description('make rollouts of the tasks in a file, with tools, rewards and loss mask, and write them as a dump')
    .argument('<tasks>', 'one JSON object per line: prompt, ground_truth or reward_model, data_source, extra_info')
    .argument('[overrides...]', "settings as on verl's command line: actor_rollout_ref.rollout.n=8")
    .option('--config <yaml>', 'read the settings below from a file; flags override it')
    .option('--resume', 'continue the dump in --out; no rollout is made twice')
    .option('--yes', 'consent to run your own classes that a file names, with your rights')
    .option('--mix', 'with --resume: continue although the settings differ from those of the existing rollouts')
    .option('--json', 'one JSON object per rollout');
  withImage(
    withQueue(command),
    'give the model a shell and an editor in this image, in a separate world for each rollout',
  );
  addSettings(command, SETTINGS);
  return command
    .addHelpText('after', '\nThe API key is taken from ROLLOUT_VIEWER_API_KEY, else from OPENAI_API_KEY.')
    .action((tasks: string, overrides: string[], options: RolloutOptions) =>
      run(() => rollout(tasks, overrides, options)),
    );
}

/** 0 if everything is done; 1 if something failed, was left out or was interrupted. */
async function rollout(tasksPath: string, overrides: readonly string[], options: RolloutOptions): Promise<number> {
  const stop = new AbortController();
  let isAsked = false;
  const interrupt = () => {
    // A second ^C does not wait for the line being written.
    if (isAsked) process.exit(130);
    isAsked = true;
    say('stopping; finished rollouts are kept (again: stop at once)');
    stop.abort(new Error('interrupted'));
  };
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  const bar = new ProgressBar();
  let queue: RolloutQueue | null = null;
  let world: WorldTools | null = null;
  let isOver = false;
  try {
    if (!existsSync(tasksPath)) throw new UsageError(`${sanitiseLine(tasksPath)}: no such file or directory`);
    const settings = await settingsOf(overrides, options);
    queue = await queueFor(settings, options, (message) => bar.say(message));
    if (options.image !== undefined) world = await newWorld(options.image, options);
    // Tokenizer and templates are loaded only for this command, so that the others start without them.
    const { runCollection } = await import('../../engine/collect/run.ts');
    const { allowOwn } = await import('./own-run.ts');
    const summary = await runCollection({
      tasksPath,
      settings,
      resume: options.resume === true || queue?.isResumed === true,
      mix: options.mix === true,
      apiKey: process.env.ROLLOUT_VIEWER_API_KEY ?? process.env.OPENAI_API_KEY,
      signal: stop.signal,
      allowOwn: async (uses) => {
        queue?.refusePrograms(uses);
        await allowOwn(uses, options.yes === true);
      },
      toolBox: world ?? undefined,
      makeElsewhere: queue?.make,
      say: (message) => bar.say(message),
      onProgress: (progress) => bar.show(progress),
      onRollout: (collected) => (options.json ? print(`${printJson(rowOf(collected))}\n`) : undefined),
    });
    bar.clear();
    for (const line of summary.faults) say(line);
    say(summaryText(summary, settings.out!));
    isOver = summary.done === summary.total;
    const isWhole = summary.done === summary.total && summary.unscored === 0 && summary.badTasks === 0;
    return isWhole ? DONE : ANSWER_IS_NO;
  } catch (error) {
    bar.clear();
    if (error instanceof SetupError) throw new UsageError(error.message);
    if (!stop.signal.aborted) throw error;
    say('interrupted while setting up: no rollout was made');
    return ANSWER_IS_NO;
  } finally {
    await world?.close();
    await queue?.close(isOver);
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}

/** The tools of an image, for rollouts that are to be made. */
async function newWorld(image: string, options: RolloutOptions): Promise<WorldTools> {
  if (options.queue !== undefined) throw new UsageError('--image does not go with --queue: worlds run on this machine');
  if (image === 'recorded') throw new UsageError('--image recorded: a new rollout has no record; name an image');
  const [{ openedImage }, { newTools, WorldTools }, { newWorldOptions }] = await Promise.all([
    import('./world-options.ts'),
    import('../../replay/worlds/world-tools.ts'),
    import('../../replay/worlds/rollout-world.ts'),
  ]);
  const opened = await openedImage({ name: image, how: '--image' }, options);
  const worldOptions = newWorldOptions(opened, options);
  return new WorldTools(worldOptions, newTools(worldOptions), async () => []);
}

interface RolloutQueue {
  /** The run was started before, and its workers may have made rollouts since it ended. */
  isResumed: boolean;
  refusePrograms: (uses: readonly OwnUse[]) => void;
  make: NonNullable<CollectionOptions['makeElsewhere']>;
  close(isOver: boolean): Promise<void>;
}

/** @throws UsageError for an unreachable Redis */
async function queueFor(
  settings: Settings,
  options: RolloutOptions,
  tell: (message: string) => void,
): Promise<RolloutQueue | null> {
  const shared = await openQueue(options, tell);
  if (shared === null) return null;
  const { QueuedRollouts, stateOf } = await import('../../cluster/rollouts.ts');
  const { refusePrograms } = await import('../../cluster/own-code.ts');
  const { hasRun } = await import('../../cluster/run-id.ts');
  let rollouts: QueuedRollouts | null = null;
  return {
    isResumed: settings.out !== undefined && (await hasRun(stateOf(settings.out))),
    refusePrograms,
    async make(parts) {
      rollouts = await QueuedRollouts.open(shared, { settings, share: options.share, say: tell }, parts);
      return rollouts;
    },
    async close(isOver) {
      await rollouts?.close(isOver);
      await leaveQueue(shared);
    },
  };
}

async function settingsOf(overrides: readonly string[], options: RolloutOptions): Promise<Settings> {
  const { parseSettings, settingsOfOverrides } = await import('../../engine/collect/settings.ts');
  try {
    const { config } = options;
    const file =
      config === undefined
        ? settingsOfOverrides(overrides, say)
        : parseSettings(await settingFileText(config), config, say, overrides);
    return { ...file, ...settingsOfFlags(settingTexts(options, SETTINGS)) };
  } catch (error) {
    throw new UsageError(errorMessage(error));
  }
}

const settingFileText = (path: string): Promise<string> =>
  readFile(path, 'utf8').catch((error: Error) => {
    throw new Error(`${path}: ${reasonOf(error)}; --config names a YAML file of settings`);
  });

const rowOf = ({ task, rollout, step, request, judgement, cause, record }: CollectedRollout<RolloutOutcome>) => ({
  uid: record?.uid ?? null,
  task: task.index,
  rollout,
  step,
  status: request.status,
  cause,
  finish_reason: request.finishReason,
  score: judgement.score,
  turns: request.messages.length,
  tool_calls: request.calls.length,
  duration: request.duration,
  error: request.error ?? judgement.error,
});

function summaryText(
  { done, total, resumed, failed, unscored, elapsed, meanScore, ended }: RunSummary,
  out: string,
): string {
  const parts = [
    `${done} of ${total} rollouts in ${out}`,
    ...(resumed > 0 ? [`${resumed} of them from before`] : []),
    `${elapsed.toFixed(1)} s`,
    ...(meanScore === null ? [] : [`mean score ${meanScore.toFixed(3)}`]),
    ...(unscored > 0 ? [`${unscored} without a score`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(ended === null ? [] : [ended]),
    ...(done < total ? ['--resume continues'] : []),
  ];
  return parts.join(', ');
}

/** On a terminal, one line that is redrawn at most ten times a second; elsewhere nothing. */
class ProgressBar {
  readonly #isOn = process.stderr.isTTY === true;
  #last = '';
  #drawnAt = 0;

  show(progress: RunProgress): void {
    if (!this.#isOn) return;
    this.#last = progressLine(progress, (process.stderr.columns ?? 80) - 1);
    const now = performance.now();
    if (now - this.#drawnAt < 100) return;
    this.#drawnAt = now;
    process.stderr.write(`\r${this.#last}\x1b[K`);
  }

  say(message: string): void {
    this.clear();
    say(message);
    if (this.#isOn && this.#last !== '') process.stderr.write(`${this.#last}\x1b[K`);
  }

  clear(): void {
    if (this.#isOn) process.stderr.write('\r\x1b[K');
  }
}
