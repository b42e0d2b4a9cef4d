import type { FindJob } from './find.ts';
import type { RunnerJob } from './replay-actions.ts';
import type { PromptId } from './state.ts';

/** What update asks the data to do. */
export type Effect =
  | { type: 'quit' }
  | { type: 'suspend' }
  | { type: 'repaint' }
  | { type: 'mouse'; on: boolean }
  /** Looks for something over many records, instead of what was looked for; null ends that. */
  | { type: 'find'; job: FindJob | null }
  /** As if its key had been pressed: a command that was chosen by its name. */
  | { type: 'command'; id: string }
  /** Replay, fork or re-score; done by the runner, beside the screen. */
  | { type: 'replay'; job: RunnerJob }
  /** Everything is read from disk again. */
  | { type: 'reload' }
  /** The open record is read again: what is gone to is shown as it is now. */
  | { type: 'reopen' }
  | { type: 'bell' }
  | { type: 'copy'; text: string }
  /** The text goes to an editor, or to a shell command. */
  | { type: 'edit'; text: string; extension: string }
  | { type: 'pipe'; command: string; text: string; extension: string }
  /** The columns are kept for the next time. */
  | { type: 'remember-columns'; columns: readonly string[] | null }
  /** What was entered at a prompt is kept for the next time. */
  | { type: 'remember'; prompt: PromptId; value: string };
