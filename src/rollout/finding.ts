/**
 * The automatic checks, in the order of their bit in a packed set of findings.
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
  'mask_foreign',
  'mask_missing',
  'mask_zero',
  'mask_length',
  'mask_inverted',
  'mask_break',
  'logprob_placeholder',
] as const;

export type Check = (typeof CHECKS)[number];

/** Findings of severity `error`: something failed. The others say that something looks odd. */
export const ERROR_CHECKS: readonly Check[] = [
  'bad_record',
  'tool_error',
  'call_unparsed',
  'not_scored',
  'mask_foreign',
  'mask_length',
  'mask_inverted',
];

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
  mask_foreign: 'mask: foreign',
  mask_missing: 'mask: own',
  mask_zero: 'mask: zero',
  mask_length: 'mask: length',
  mask_inverted: 'mask: inverted',
  mask_break: 'mask: break',
  logprob_placeholder: 'logprob',
};
