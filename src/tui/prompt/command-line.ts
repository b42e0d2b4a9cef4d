import type { State } from '../state.ts';
import type { Result } from '../update/result.ts';
import type { World } from '../world.ts';
import { chosen } from './reward-prompt.ts';

/** A word of the `:` line. */
export interface LineCommand {
  name: string;
  usage: string;
  help: string;
  /** What follows the word. */
  argument(text: string): string;
  check?(argument: string, state: State, world: World): string | null;
  run(argument: string, state: State, world: World): Result;
}

const word = (name: string, parts: Omit<LineCommand, 'name' | 'argument'>): LineCommand => ({
  name,
  argument: (text) => text.slice(name.length).trim(),
  ...parts,
});

export const COMMAND_LINE: readonly LineCommand[] = [
  word('reward', {
    usage: 'reward gsm8k',
    help: 'what judges when rollouts are scored again: a function, a URL, FILE.py; nothing: by data_source',
    run: (argument, state, world) => chosen(state, argument, world),
  }),
  word('quit', {
    usage: 'quit',
    help: 'quit',
    run: (_argument, state) => ({ state, effects: [{ type: 'quit' }] }),
  }),
];

/** The command that a line calls; a beginning that means one only is enough (`:q`). */
export function commandNamed(line: string): LineCommand | null {
  const name = /^\s*(\S*)/.exec(line)![1]!;
  const exact = COMMAND_LINE.find((command) => command.name === name);
  if (exact !== undefined) return exact;
  return null;
}
