import type { Data } from '../rows/data.ts';
import type { PromptId, State } from '../state/state.ts';
import { commandPrompt } from './command-prompt.ts';
import { filterPrompt } from './filter-prompt.ts';
import { helpPrompt } from './help-prompt.ts';
import { modelPrompt } from './model-prompt.ts';
import { pipePrompt } from './pipe-prompt.ts';
import type { Result } from './result.ts';
import { rewardPrompt } from './reward-prompt.ts';
import { samplingPrompt } from './sampling-prompt.ts';
import { searchPrompt } from './search-prompt.ts';

export interface PromptProblem {
  message: string;
  /** UTF-16 offset of the character that it is about. */
  at: number;
}

/** A question at the foot of the screen. */
export interface PromptKind {
  /** Stands before what is typed. */
  sign: string;
  /** What may be typed, for the line below while nothing is wrong. */
  hint(value: string, state: State, data: Data): string;
  /** Where the answer cannot be taken; the prompt stays open and points at the character. */
  check?(value: string, state: State, data: Data): PromptProblem | null;
  /** The prompt is closed already. */
  submit(state: State, value: string, data: Data): Result;
  /** With every key that changes the value. */
  change?(state: State, value: string, data: Data): Result;
  /** Esc: takes back what `change` did. The prompt is closed already. */
  cancel?(state: State, data: Data): Result;
  /** ↑ and ↓ choose something, by so many; without it they go through the history. */
  move?(state: State, by: number, data: Data): Result;
  /** Whole values that what is typed may become. */
  complete?(value: string, state: State, data: Data): readonly string[];
}

/** The prompts that there are; a new one is a file and a line here. */
export const PROMPTS: Partial<Record<PromptId, PromptKind>> = {
  command: commandPrompt,
  filter: filterPrompt,
  help: helpPrompt,
  model: modelPrompt,
  sampling: samplingPrompt,
  reward: rewardPrompt,
  search: searchPrompt,
  pipe: pipePrompt,
};

/** @throws Error for a prompt that is not in the table */
export function promptKind(id: PromptId): PromptKind {
  const kind = PROMPTS[id];
  if (kind === undefined) throw new Error(`no prompt is called ${id}`);
  return kind;
}
