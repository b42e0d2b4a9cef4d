import { Command } from 'commander';
import { validationOption } from './dump-options.ts';
import { run } from './output.ts';
import { positive, type SandboxFlags, withSandbox } from './sandbox-flags.ts';

export interface RescoreFlags extends SandboxFlags {
  reward?: string;
  rewardUrl?: string;
  python: string;
  function: string;
  timeout: number;
  concurrency?: number;
  exec: boolean;
  filter?: string;
  json?: boolean;
  validation?: string[];
}

export const rescoreCommand = (): Command =>
  withSandbox(new Command('rescore'))
    .description('judge recorded rollouts anew, and tell whose score is another')
    .argument('<rollouts...>', 'FILE:LINE, or directories and files for all')
    .option(
      '--reward <name|file.py>',
      "a built-in function, `http`, or a Python file with verl's compute_score (default: by data_source)",
    )
    .option('--reward-url <url>', 'the reward service, for --reward http')
    .option('--python <command>', 'the interpreter for a Python file', 'python3')
    .option('--function <name>', 'the function in a Python file', 'compute_score')
    .option('--timeout <seconds>', 'for one rollout in a Python file', positive, 60)
    .option('--concurrency <n>', 'rollouts at the same time', positive)
    .option('--no-exec', 'run no code: neither a Python file nor the test cases of a code task')
    .option('--filter <expr>', 'of those, the rollouts that this holds for, as in `ls --filter`')
    .option('--json', 'one JSON object a rollout')
    .addOption(validationOption())
    .action((args: string[], flags: RescoreFlags) =>
      run(async () => {
        const { rescore } = await import('./rescore-run.ts');
        return rescore(args, flags);
      }),
    );
