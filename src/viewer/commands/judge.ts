import { Command, Option } from 'commander';
import { countOf } from './count.ts';
import { withReading } from './dump-options.ts';
import type { JudgeFlags } from './judge-run.ts';
import { run } from './output.ts';
import { positive } from './sandbox-flags.ts';

export const judgeCommand = (): Command =>
  withReading(
    new Command('judge')
      .description('label rollouts with a model and a rubric; each label quotes the rollout')
      .argument('<rollouts...>', 'FILE:LINE, or directories and files for all')
      .requiredOption('--rubric <file>', 'a text that says how to judge, with a line "labels: hack, fine, unsure"')
      .requiredOption('--model-url <url>', 'an OpenAI-compatible server, including /v1')
      .option('--model <name>', 'the model to use (default: the first that the server lists)')
      .option('--filter <expr>', 'judge only rollouts that match it, such as label != null')
      .option(
        '--half <tune|test>',
        'judge only one half, by a hash of the record: write a rubric on tune, check it on test',
      )
      .option('--limit <n>', 'this many at most', countOf)
      .option('--concurrency <n>', 'requests at the same time', positive, 4)
      .option(
        '--max-characters <n>',
        'send at most this many of a rollout; the middle of its longest turns is left out',
        positive,
        60_000,
      )
      .option('--again', 'include rollouts that this model has already judged by this rubric')
      .addOption(new Option('--anew').hideHelp())
      .option('--yes', 'do not ask before a run that may cost money')
      .option('--journal <dir>', 'where labels are kept; several people may share it')
      .option('--json', 'one JSON object per rollout, then one with the agreement with people'),
  ).action((args: string[], flags: JudgeFlags) =>
    run(async () => {
      const { judgeRollouts } = await import('./judge-run.ts');
      return judgeRollouts(args, flags);
    }),
  );
