import type { CommandEntry } from '../src/viewer/commands/command-tree.ts';
export function pythonFlags(commands: readonly CommandEntry[]): string;
