import type { Command } from './command.ts';

/** Commands for a run that is still writing. */
export const LIVE_COMMANDS: readonly Command[] = [
  {
    id: 'follow',
    category: 'Rollouts',
    title: 'follow the newest step; any movement pauses it',
    action: () => ({ type: 'follow' }),
  },
];
