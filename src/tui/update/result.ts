import type { Data } from '../rows/data.ts';
import type { Action } from '../state/action.ts';
import type { Effect } from '../state/effect.ts';
import type { State } from '../state/state.ts';

export type Result = State | { state: State; effects: Effect[] };

/** A pure function for each action of a concept; update/index.ts lays the tables together. */
export type Handlers<Some extends Action> = {
  [Type in Some['type']]: (state: State, action: Extract<Some, { type: Type }>, data: Data) => Result;
};

export const say = (state: State, text: string, kind: 'info' | 'error' = 'info'): State => ({
  ...state,
  message: { text, kind },
});

/** A command's key as the user has it, for messages: 'n goes on'. */
export const key = ({ keymap, focus }: State, id: string): string => keymap.label(id, focus);
