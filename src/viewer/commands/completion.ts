import { Argument, Command } from 'commander';
import type { CommandEntry } from './command-tree.ts';
import { DONE, print, run } from './output.ts';
import { COMPLETED_SHELLS, completionScript, type Shell } from './shell-completion.ts';

export const completionCommand = (tree: () => Promise<CommandEntry[]>): Command =>
  new Command('completion')
    .description('print a completion script: `source <(rollout-viewer completion bash)`')
    .addArgument(new Argument('<shell>', 'the shell').choices(COMPLETED_SHELLS))
    .action((shell: Shell) =>
      run(async () => {
        await print(completionScript(shell, await tree()));
        return DONE;
      }),
    );
