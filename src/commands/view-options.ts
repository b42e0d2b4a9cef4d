import type { Command } from 'commander';
import { validationOption } from './dump-options.ts';
import { ls } from './ls.ts';
import { run, USAGE } from './output.ts';

/** The program without a command: the screen on a terminal, what `ls` prints elsewhere. */
export const viewOptions = (program: Command): Command =>
  program
    .argument('[paths...]', 'directories, files or patterns of dumps')
    .addOption(validationOption())
    .action((paths: string[], options: { validation?: string[] }) => {
      if (paths.length === 0) {
        program.outputHelp({ error: true });
        process.exitCode = USAGE;
        return undefined;
      }
      if (process.stdout.isTTY && paths[0] !== '-') return run(() => screen(paths, options));
      return run(() => ls(paths, paths[0] === '-' ? { ...options, json: true } : options));
    });

/** The screen brings React and Ink along, which no headless command should wait for. */
async function screen(paths: string[], options: { validation?: string[] }): Promise<number> {
  const { view } = await import('./view.ts');
  return view(paths, options);
}
