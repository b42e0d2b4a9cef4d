/**
 * The automatic checks, in the order of their bit in a packed set of findings.
 * Their strings come from verl's writers; a check never guesses beyond them.
 */
export const CHECKS = [
  'bad_record',
  'tool_error',
  'tool_cut',
  'call_unparsed',
  'call_without_result',
  'own_tool_response',
  'unclosed',
  'empty_output',
  'not_scored',
  'run_warning',
] as const;

export type Check = (typeof CHECKS)[number];

/** Findings of severity `error`: something failed. The others say that something looks odd. */
export const ERROR_CHECKS: readonly Check[] = ['bad_record', 'tool_error', 'call_unparsed', 'not_scored'];

export interface Finding {
  check: Check;
  severity: 'error' | 'warning';
  /** The turn it speaks of; null when it is about the whole record. */
  turn: number | null;
  message: string;
}

/** The word that stands for a check where there is room for one word only. */
export const CHECK_WORD: Record<Check, string> = {
  bad_record: 'bad',
  tool_error: 'error',
  tool_cut: 'cut',
  call_unparsed: 'unparsed',
  call_without_result: 'no result',
  own_tool_response: 'own result',
  unclosed: 'unclosed',
  empty_output: 'empty',
  not_scored: 'no score',
  run_warning: 'warned',
};
