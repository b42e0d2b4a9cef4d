import type { Data } from '../rows/data.ts';
import type { Action } from '../state/action.ts';
import type { PromptProblem } from '../state/prompt.ts';
import type { State } from '../state/state.ts';

/** A prompt at the foot of the screen. */
export interface PromptKind {
  /** Shown before the input. */
  sign: string;
  /** Says what may be typed, in the line below while nothing is wrong. */
  hint(value: string, state: State, data: Data): string;
  /** Rejects a value; the prompt stays open and points at the character. */
  check?(value: string, state: State, data: Data): PromptProblem | null;
  /** The action for the answer; null if absent. The prompt is closed before it runs. */
  submit(value: string, state: State, data: Data): Action | null;
  /** Called after every key that changes the value. */
  change?(state: State, value: string, data: Data): State;
  /** Esc: reverts what `change` did. The prompt is already closed. */
  cancel?(state: State): State;
  /** ↑ and ↓ move a selection by this much; without it they go through the history. */
  move?(state: State, by: number, data: Data): State;
  /** The value as the history keeps it, on disk too; without it the history keeps what was typed. */
  remembered?(value: string): string;
  /** Completions of the input, as whole values. */
  complete?(value: string, state: State, data: Data): readonly string[];
}
