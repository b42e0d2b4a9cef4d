import type { Data } from '../rows/data.ts';
import type { Action } from '../state/action.ts';
import type { State } from '../state/state.ts';

/** A word of the `:` line. */
export interface LineCommand {
  name: string;
  /** An example of the argument: `12`. */
  usage: string;
  help: string;
  /** The mistake in the argument; null if it is valid. */
  check?(argument: string, state: State, data: Data): string | null;
  action(argument: string, state: State, data: Data): Action;
  /** Possible arguments. */
  complete?(argument: string, state: State, data: Data): readonly string[];
}
