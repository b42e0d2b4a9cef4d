import type { PromptId } from './state.ts';

/** What update asks the world to do. */
export type Effect =
  | { type: 'quit' }
  | { type: 'suspend' }
  | { type: 'repaint' }
  /** What was entered at a prompt is kept for the next time. */
  | { type: 'remember'; prompt: PromptId; value: string };
