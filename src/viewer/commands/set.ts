import { Command } from 'commander';
import { countOf } from './count.ts';
import { withReading } from './dump-options.ts';
import { run } from './output.ts';
import type { SetFlags } from './set-run.ts';

export const setCommand = (): Command =>
  withReading(
    new Command('set')
      .description('keep rollouts under a name, to read them again or to export them')
      .argument('[name]', 'the set; without one, all sets are listed')
      .argument('[action]', 'add, drop, edit, show or diff', 'show')
      .argument('[rollouts...]', 'of add, drop and edit: locators, files, directories; of diff: another set')
      .option('--filter <expr>', 'of add and drop: only the rollouts that match it')
      .option('--reason <text>', 'why they are chosen')
      .option('--turn <n>', 'of edit: the turn that is rewritten, counted from 0', countOf)
      .option('--text <file>', 'of edit: its new text, `-` for stdin (default: $EDITOR opens it)')
      .option('--rater <name>', 'who chooses them (default: the name of this user)')
      .option('--journal <dir>', 'where sets are kept; several people may share it')
      .option('--json', 'a JSON object a rollout'),
  ).action((name: string | undefined, action: string, args: string[], flags: SetFlags) =>
    run(async () => (await import('./set-run.ts')).runSet(name, action, args, flags)),
  );
