import type { Command } from 'commander';

/** How the user's own classes and functions are run. */
export interface OwnFlags {
  python: string;
  pythonPath?: string[];
}

export const addOwn = (command: Command): Command =>
  command
    .option('--python <command>', 'the interpreter for your own Python (tool classes, reward files)', 'python3')
    .option(
      '--python-path <folder>',
      'a folder that its imports search first, besides that of the file that names them; repeatable',
      (text: string, before: string[] = []) => [...before, text],
    );
