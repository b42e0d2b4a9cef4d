import { Command } from 'commander';
import { countOf } from './count.ts';
import { withReading } from './dump-options.ts';
import { run } from './output.ts';
import type { SetFlags } from './set-run.ts';

export const setCommand = (): Command =>
  withReading(
    new Command('set')
      .description('collect rollouts under a name, to read again or to export')
      .argument('[name]', 'the set (default: list all sets)')
      .argument('[action]', 'add, drop, edit, show or diff', 'show')
      .argument(
        '[rollouts...]',
        'add, drop, edit: locators, files, directories; diff: another set (default: their dumps)',
      )
      .option('--filter <expr>', 'add, drop: only rollouts that match it')
      .option('--reason <text>', 'the reason for the choice')
      .option('--turn <n>', 'edit: the turn to rewrite, from 0', countOf)
      .option('--text <file>', 'edit: a file with its new text, `-` for stdin (default: open $EDITOR)')
      .option('--rater <name>', 'the rater (default: the name of this user)')
      .option('--journal <dir>', 'where sets are kept; several people may share it')
      .option('--json', 'one JSON object per rollout'),
  ).action((name: string | undefined, action: string, args: string[], flags: SetFlags) =>
    run(async () => (await import('./set-run.ts')).runSet(name, action, args, flags)),
  );
