import { Command } from 'commander';
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
      .requiredOption('--model-url <url>', 'an OpenAI-compatible server, up to and with /v1')
      .option('--model <name>', 'the model there (default: the first that it lists)')
      .option('--filter <expr>', 'of those, only the rollouts that match it, such as label != null')
      .option(
        '--half <tune|test>',
        'only one half, by a hash of the record: a rubric is written on tune, and tested on test',
      )
      .option('--limit <n>', 'this many at most', countOf)
      .option('--concurrency <n>', 'requests at the same time', positive, 4)
      .option('--max-characters <n>', 'of a rollout; the middle of its longest turns is left out', positive, 60_000)
      .option('--anew', 'include rollouts that this model has already judged by this rubric')
      .option('--yes', 'go on without asking what it may cost')
      .option('--journal <dir>', 'where labels are kept; several people may share it')
      .option('--json', 'one JSON object a rollout, then one of the agreement with people'),
  ).action((args: string[], flags: JudgeFlags) =>
    run(async () => {
      const { judgeRollouts } = await import('./judge-run.ts');
      return judgeRollouts(args, flags);
    }),
  );
