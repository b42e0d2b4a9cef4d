import type { Jump } from './jumps.ts';

/** The prompts at the foot of the screen; update/prompt-kinds.ts has an entry for each. */
export type PromptId =
  | 'command'
  | 'filter'
  | 'search'
  | 'hits'
  | 'pipe'
  | 'model'
  | 'agent'
  | 'help'
  | 'sampling'
  | 'reward'
  | 'world'
  | 'bisect'
  | 'label'
  | 'note'
  | 'set';

export interface PromptProblem {
  message: string;
  /** UTF-16 offset of the character in question. */
  at: number;
}

export interface PromptState {
  id: PromptId;
  value: string;
  /** Incremented whenever something other than typing sets the value: the input field is then recreated. */
  seed: number;
  /** The cursor position in a recreated field, in UTF-16 units. */
  cursor: number;
  error: PromptProblem | null;
  /** The index in the history, null while the typed value is shown, which is kept in `draft`. */
  past: number | null;
  draft: string;
  /** Completions that Tab cycles through, as whole values. */
  choices: readonly string[];
  choice: number;
  /** The reader's place when it opened: an answer that leads elsewhere is a jump from there. */
  from: Jump | null;
}
