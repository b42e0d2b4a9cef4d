import { Command } from 'commander';
import { withReading } from './dump-options.ts';
import { run } from './output.ts';
import { withQueue } from './queue-flags.ts';
import type { RescoreFlags } from './rescore-flags.ts';
import { addReward } from './reward-flags.ts';
import { positive, withSandbox } from './sandbox-flags.ts';
import { withWorld } from './world-flags.ts';

export const rescoreCommand = (): Command =>
  withReading(
    addReward(withWorld(withSandbox(withQueue(new Command('rescore')))))
      .description('score recorded rollouts again, and list those whose score changes')
      .argument('<rollouts...>', 'FILE:LINE, or directories and files for all')
      .option('--timeout <seconds>', 'time limit of a Python file for one rollout', positive, 60)
      .option('--against <name|file.py>', 'a second reward function; lists the rollouts on which the two differ')
      .option(
        '--repeat <k>',
        'score each this many times, for a function that asks a judge: mean, spread, and unstable scores',
        positive,
        1,
      )
      .option(
        '--overlong-buffer <json>',
        `subtract verl's overlong penalty from every score: {"len": 4096, "penalty_factor": 1}; with --max-response-length`,
      )
      .option('--max-response-length <tokens>', 'the token limit of a response', positive)
      .option('--concurrency <n>', 'rollouts to score at the same time', positive)
      .option(
        '--journal <dir>',
        'where scores are kept (default: the state directory of this user; `beside`: .rollout-viewer beside the dump)',
      )
      .option(
        '--verifier <command|task>',
        'with --image: run this in the state after the last call; task: tests/test.sh of the task folder',
      )
      .option('--no-exec', 'run no code: neither a Python file nor the test cases of a code task')
      .option('--filter <expr>', 'only rollouts that match it, as in `ls --filter`')
      .option('--json', 'one JSON object per rollout'),
  ).action((args: string[], flags: RescoreFlags) =>
    run(async () => {
      if (flags.image !== undefined) return (await import('./rescore-world.ts')).rescoreInWorld(args, flags);
      const { rescore } = await import('./rescore-run.ts');
      return rescore(args, flags);
    }),
  );
