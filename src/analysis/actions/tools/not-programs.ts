import type { KnownTool } from './tool.ts';

/** Tools that do not run in a container. */
export const NOT_PROGRAMS: readonly KnownTool[] = [
  {
    agent: 'terminus',
    names: ['keystrokes', 'send_keys', 'tmux', 'bash_command'],
    read: (args) =>
      typeof args.keystrokes === 'string' || Array.isArray(args.keystrokes)
        ? {
            kind: 'none',
            reason: 'keystrokes into a terminal cannot be replayed: their effect depends on their timing',
          }
        : null,
  },
];
