import type { Theme } from '../../present/theme.ts';
import type { Data } from '../rows/data.ts';
import type { State } from '../state/state.ts';

/** What a view draws from. */
export interface Scene {
  state: State;
  data: Data;
  theme: Theme;
  /** What was opened, for the first line. */
  name: string;
  /** Keys of a command that is not complete yet. */
  pending: string;
}

/** At most `height` lines of at most `width` cells. */
export type View = (scene: Scene, width: number, height: number) => string[];
