import { type Command, Option } from 'commander';
import { configFiles } from '../config/places.ts';
import { PRESET_NAMES } from '../config/presets.ts';
import { pollOption, validationOption } from './dump-options.ts';
import { ls } from './ls.ts';
import { run, USAGE } from './output.ts';
import { toolOption } from './sandbox-flags.ts';

export interface ViewFlags {
  validation?: string[];
  /** Paths that do not exist yet are waited for. */
  follow?: boolean;
  poll?: number;
  filter?: string;
  sort?: string;
  sandbox: string;
  tools?: string;
  tool: Record<string, string>;
  exec: boolean;
  journal?: string;
  modelUrl?: string;
  model?: string;
  keys?: string;
}

/** The program without a command: the screen on a terminal, what `ls` prints elsewhere. */
export const viewOptions = (program: Command): Command =>
  program
    .argument('[paths...]', 'directories, files or patterns of dumps, or - for a stream on stdin')
    .option('--sandbox <where>', 'where tool calls run again: auto, bubblewrap, pyodide, unconfined, or a URL', 'auto')
    .option('--tools <yaml>', "verl's tool file, for running calls again")
    .addOption(toolOption())
    .option('--no-exec', 'run nothing again, whatever key is pressed')
    .option('--journal <dir>', 'where results and branches are kept (default: .rollout-viewer beside the dump)')
    .option('--model-url <url>', 'an OpenAI-compatible server to fork with, up to and with /v1')
    .option('--model <name>', 'the model there')
    .option('--filter <expr>', 'list only rollouts such as score<0.5 && output~/sorry/')
    .option(
      '--sort <key>',
      'sort the list by score, step, turns, bytes … or a key of the extras; KEY:desc for the largest first',
    )
    .addOption(
      new Option('--keys <preset>', `the keys of another program; your own stand in ${configFiles()[0]}`).choices(
        PRESET_NAMES,
      ),
    )
    .addOption(validationOption())
    .option('--follow', 'wait for a path that does not exist yet')
    .addOption(pollOption())
    .action((paths: string[], options: ViewFlags) => {
      if (paths.length === 0) {
        program.outputHelp({ error: true });
        process.exitCode = USAGE;
        return undefined;
      }
      if (process.stdout.isTTY) return run(() => screen(paths, options));
      // A stream becomes NDJSON; with --follow and no screen the list would never end, and nobody asked for that.
      return run(() => ls(paths, paths[0] === '-' ? { ...options, json: true } : { ...options, follow: false }));
    });

/** The screen brings React and Ink along, which no headless command should wait for. */
async function screen(paths: string[], options: ViewFlags): Promise<number> {
  const { view } = await import('./view.ts');
  return view(paths, options);
}
