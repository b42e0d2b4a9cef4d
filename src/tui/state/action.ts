import type { SearchAction } from '../rows/search.ts';
import type { MouseEvent } from '../screen/mouse.ts';
import type { CopyAction } from '../update/copied.ts';
import type { DisplayAction } from './display.ts';
import type { EditorAction } from './editor.ts';
import type { FindAction } from './find.ts';
import type { LiveAction } from './follow.ts';
import type { ListAction } from './list-actions.ts';
import type { ReplayAction } from './replay-actions.ts';
import type { PromptId } from './state.ts';

/** What a key, the terminal or an effect asks for. Each concept adds its own members; update/ has a file for each. */
export type Action =
  | MoveAction
  | RolloutAction
  | FoldAction
  | ListAction
  | DisplayAction
  | SearchAction
  | CopyAction
  | FindAction
  | PromptAction
  | ReplayAction
  | EditorAction
  | LiveAction
  | ProgramAction;

export type MoveAction =
  | { type: 'scroll'; by: number; unit: 'line' | 'half' | 'page' }
  | { type: 'top'; line: number | null }
  | { type: 'bottom'; line: number | null }
  | { type: 'turn'; by: number }
  | { type: 'turn-edge'; edge: 'first' | 'last' };

export type RolloutAction =
  | { type: 'sample'; by: number }
  | { type: 'step'; by: number }
  | { type: 'open' }
  | { type: 'back' }
  | { type: 'focus-next' }
  | { type: 'zoom' };

export type FoldAction = { type: 'fold' } | { type: 'fold-all' };

/** `by` counts into the past, `set` replaces what is typed (a completion). */
export type PromptAction =
  | { type: 'prompt-open'; prompt: PromptId; value?: string }
  | { type: 'prompt-change'; value: string }
  | { type: 'prompt-submit' }
  | { type: 'prompt-close' }
  | { type: 'prompt-move'; by: number }
  | { type: 'prompt-complete'; by: number };

export type ProgramAction =
  | { type: 'quit' }
  /** ^c: what runs is cancelled; twice within a second quits. `at` in ms, from any clock that only goes on. */
  | { type: 'cancel'; at: number }
  | { type: 'mouse-mode' }
  | { type: 'mouse'; event: MouseEvent }
  | { type: 'suspend' }
  | { type: 'repaint' }
  | { type: 'reload' }
  | { type: 'resize'; columns: number; rows: number }
  | { type: 'dump-changed' }
  | { type: 'say'; text: string; kind: 'info' | 'error' };
