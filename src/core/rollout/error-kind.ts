/**
 * The kind of an error, and whose fault it was. The shared vocabulary of findings, filters, rerun verdicts and a run's
 * table of failures.
 */
export const ERROR_KINDS = [
  /** The code that was run raised, did not compile, or ended with a failure. */
  'exception',
  'syntax',
  'missing_module',
  'out_of_memory',
  /** It took longer than it was allowed. */
  'timeout',
  /** The called function does not exist, the call is not JSON, or its arguments do not fit the tool. */
  'unknown_tool',
  'bad_json',
  'bad_arguments',
  /** The tool ran and refused: not found, not allowed, against a rule. */
  'rejected',
  'rate_limit',
  /** A server answered with 5xx, or none could be reached. */
  'unavailable',
  /** Any other HTTP status. */
  'http',
  /** The sandbox that should run the code broke. */
  'sandbox',
  /** The tool itself broke. */
  'tool_failure',
  /** It ran, but none of its output was kept. */
  'no_answer',
  'other',
] as const;
export type ErrorKind = (typeof ERROR_KINDS)[number];

/** model: it wrote something wrong; tool: its program broke; world: network, server or machine; ours: this program. */
export const FAULTS = ['model', 'tool', 'world', 'ours'] as const;
export type Fault = (typeof FAULTS)[number];

export interface ToolFailure {
  kind: ErrorKind;
  /** null if the text does not show it. */
  fault: Fault | null;
  /** In words, without repeating the text. */
  says: string;
  /** The class of the exception, if the text names one. */
  exception?: string;
  /** The position of the evidence in the text, in UTF-16 units. */
  start: number;
  end: number;
}

/** How to recognise an error text. Patterns are data, and a user's patterns take precedence over built-in ones. */
export interface ErrorPattern {
  /** Only for the results of this tool; null for any. */
  tool: string | null;
  pattern: { exec(text: string): { index: number; 0: string } | null };
  kind: ErrorKind;
  fault: Fault | null;
  says: string;
}

/** The cause named in an error message. */
export interface ErrorCause {
  pattern: RegExp;
  kind: ErrorKind;
  fault: Fault | null;
  says: string;
  /** Words that are a cause only in a message that calls itself an error. */
  loose?: true;
  /** The form of a program's message: no sentence about errors looks like it. */
  exact?: true;
}
