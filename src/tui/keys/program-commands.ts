import type { Command } from './command.ts';

export const PROGRAM_COMMANDS: readonly Command[] = [
  {
    id: 'command',
    category: 'Program',
    title: 'enter a command, a number, a locator',
    action: () => ({ type: 'prompt-open', prompt: 'command' }),
  },
  {
    id: 'help',
    category: 'Program',
    title: 'what can be done here',
    action: () => ({ type: 'prompt-open', prompt: 'help' }),
  },
  { id: 'mouse', category: 'Program', title: 'mouse on, off', action: () => ({ type: 'mouse-mode' }) },
  { id: 'reload', category: 'Program', title: 'read from disk again', action: () => ({ type: 'reload' }) },
  { id: 'repaint', category: 'Program', title: 'draw the screen again', action: () => ({ type: 'repaint' }) },
  { id: 'suspend', category: 'Program', title: 'suspend; fg comes back', action: () => ({ type: 'suspend' }) },
  {
    id: 'cancel',
    category: 'Program',
    title: 'cancel what runs; twice: quit',
    action: () => ({ type: 'cancel', at: performance.now() }),
  },
  { id: 'quit', category: 'Program', title: 'quit', action: () => ({ type: 'quit' }) },
];
