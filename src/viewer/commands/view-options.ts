import { type Command, Option } from 'commander';
import { configFiles } from '../../core/files/places.ts';
import { PRESET_NAMES } from '../config/preset-names.ts';
import { notifyOption, pollOption, withReading } from './dump-options.ts';
import { SHORT_HELP } from './help-topics.ts';
import { run, say, USAGE } from './output.ts';
import { addRunAgain } from './run-again-options.ts';
import { tokenizerOption } from './tokenizer-option.ts';
import type { ViewFlags } from './view.ts';

/** The program without a command: the screen on a terminal, what `ls` prints elsewhere. */
export const viewOptions = (program: Command): Command =>
  addRunAgain(
    withReading(
      program
        .argument('[paths...]', 'directories, files or patterns of dumps, or - for a stream on stdin')
        .addOption(
          new Option(
            '--keys <preset>',
            `use the keys of another program; define your own in ${configFiles()[0]}`,
          ).choices(PRESET_NAMES),
        )
        .option('--filter <expr>', 'list only rollouts that match it, as in score<0.5 && output~/sorry/')
        .option(
          '--sort <key>',
          'sort the list by score, step, turns, bytes … or a key of the extras; KEY:desc for the largest first',
        ),
    )
      .addOption(tokenizerOption())
      .option('--fresh', 'ignore the filter, order, columns, marks and place of the last session')
      .option('--rater <name>', 'the rater of your labels (default: the name of this user)')
      .option(
        '--follow',
        'go to each new step once it is complete, as F does; waits for a path that does not exist yet',
      )
      .option(
        '--bring-all',
        'copy every file of an object store (s3://, gs://, hf://), not only the newest step and what you open',
      )
      .option(
        '--listen',
        'let your agents bring rollouts to this screen (`mcp`, over a socket that only this user can open)',
      )
      .addOption(notifyOption())
      .addOption(pollOption()),
  ).action((paths: string[], options: ViewFlags) => {
    if (paths.length === 0) {
      process.stderr.write(SHORT_HELP);
      // A small window still shows the last line.
      say('no path given; for example: rollout-viewer ./rollout_data');
      process.exitCode = USAGE;
      return undefined;
    }
    if (process.stdout.isTTY) return run(() => screen(paths, options));
    return run(() => list(paths, options));
  });

/** The screen pulls in React and Ink, which no headless command should wait for. */
async function screen(paths: string[], options: ViewFlags): Promise<number> {
  const { view } = await import('./view.ts');
  return view(paths, options);
}

/** A stream becomes NDJSON; with --follow and no screen, the list would never end, which nobody asked for. */
async function list(paths: string[], options: ViewFlags): Promise<number> {
  const { ls } = await import('./ls.ts');
  return ls(paths, paths[0] === '-' ? { ...options, json: true } : { ...options, follow: false });
}
