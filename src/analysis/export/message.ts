import type { Trained } from '../../core/rollout/loss-mask.ts';

/** A call as trainers write it: the arguments are the text that the model wrote, valid JSON or not. */
interface ExportCall {
  id: string | null;
  name: string;
  arguments: string;
  isJson: boolean;
}

/** A turn in the two forms that trainers take: its exact text, or its parts. */
export interface ExportMessage {
  role: string;
  /** The exact text of the turn, reasoning and calls included. */
  text: string;
  /** The text without reasoning and calls. */
  content: string;
  reasoning: string | null;
  calls: ExportCall[];
  /** The id of the call that a result answers. */
  answers: string | null;
  /** The tool that gave a result. */
  name: string | null;
  /** Its calls or its reasoning are recorded apart from its text, or it answers such a call: its parts are the record. */
  isApart: boolean;
  trained: Trained;
}
