import type { Command } from './command.ts';
import { JUMP_COMMANDS } from './jump-commands.ts';
import { LIST_COMMANDS } from './list-commands.ts';
import { LIVE_COMMANDS } from './live-commands.ts';
import { MOVE_COMMANDS } from './move-commands.ts';
import { PROGRAM_COMMANDS } from './program-commands.ts';
import { READING_COMMANDS } from './reading-commands.ts';
import { REPLAY_COMMANDS } from './replay-commands.ts';

export const COMMANDS: readonly Command[] = [
  ...MOVE_COMMANDS,
  ...LIST_COMMANDS,
  ...JUMP_COMMANDS,
  ...LIVE_COMMANDS,
  ...READING_COMMANDS,
  ...REPLAY_COMMANDS,
  ...PROGRAM_COMMANDS,
];

export const commandOf = (id: string): Command | undefined => COMMANDS.find((command) => command.id === id);
