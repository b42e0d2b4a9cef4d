import type { Action } from '../actions.ts';
import type { State } from '../state.ts';
import type { World } from '../world.ts';

export const CATEGORIES = [
  'Move',
  'Rollouts',
  'List',
  'Fold',
  'View',
  'Search',
  'Take away',
  'Run again',
  'Program',
] as const;
export type Category = (typeof CATEGORIES)[number];

/** Something a key can do. Help, the footer's hints and the README's table are made from these. */
export interface Command {
  /** Stable: presets and the user's own keys name it. */
  id: string;
  category: Category;
  /** Starts with a verb, in lower case: 'next turn'. */
  title: string;
  /** Short form beside its keys in the footer; commands without one are not hinted. */
  hint?: string;
  /** What pressing its key means; `count` is the number typed before it, null without one. */
  action(count: number | null): Action;
  /** Why it cannot act now; null when it can. */
  disabled?(state: State, world: World): string | null;
}
