import type { Printable } from '../json/print.ts';
import type { ErrorKind, Fault } from './error-kind.ts';

/** A result of an automatic check on a rollout. */
export interface Finding {
  /** A name from `CHECKS` in checks.ts, which this file may not import: a rollout carries its findings. */
  check: string;
  severity: 'error' | 'warning';
  /** The turn concerned; null if it is about the whole record. */
  turn: number | null;
  message: string;
  /**
   * The failure of a call: its tool (null if unknown), its kind, whose fault it was (null if unknown), and the class of
   * the exception, if it names one.
   */
  error?: { tool: string | null; kind: ErrorKind; fault: Fault | null; exception: string | null };
}

/**
 * The input of a check. If the input is missing, the check is skipped: the result is 'not observed', not 'clean'.
 * results: results of tools in the response; calls: tool calls; run_calls: those whose writer
 * runs them; reply: text of the model, separable from other text;
 * notes: its writer records what went wrong; mask: a recorded mask, not an inferred one; ids, logprobs: of the
 * response's tokens, beside such a mask; truth: a ground truth too long to occur in a text by chance; verdict: right or
 * wrong, beside the score; template, tokenizer: a prompt, and ids, that can be compared with the user's; ends: those of
 * sampled turns under a recorded mask; schemas: of the tools, and calls; given: words of an environment or a limit as
 * the end; scored_truth, scored_results: a short ground truth, or results of tools, and a score.
 */
export type Need =
  | 'record'
  | 'rollout'
  | 'results'
  | 'calls'
  | 'run_calls'
  | 'reply'
  | 'notes'
  | 'mask'
  | 'ids'
  | 'logprobs'
  | 'truth'
  | 'truth_and_results'
  | 'verdict'
  | 'template'
  | 'tokenizer'
  | 'ends'
  | 'schemas'
  | 'given'
  | 'scored_truth'
  | 'scored_results';

/** A check as lists and filters know it. */
export interface CheckDeclaration {
  needs: Need;
  /** Its name if there is room for only one word. */
  word: string;
  /** error: something failed; warning: something looks odd. */
  severity: Finding['severity'];
}

/** Records a finding; `severity` if it differs from the declared one. */
export type Notice<Name extends string> = (
  check: Name,
  turn: number | null,
  message: string,
  severity?: Finding['severity'],
  error?: Finding['error'],
) => void;

export const findingJson = ({ check, severity, turn, message, error }: Finding): Printable => ({
  check,
  severity,
  turn,
  message,
  ...(error === undefined ? {} : { error }),
});
