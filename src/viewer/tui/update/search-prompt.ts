import { LITERAL, matcher } from '../../../analysis/text-search.ts';
import { errorMessage } from '../../../core/text/thrown.ts';
import { searchPosition } from '../rows/search.ts';
import type { PromptProblem } from '../state/prompt.ts';
import type { PromptKind } from './prompt-kind.ts';
import { startSearch } from './search.ts';

/** The mistake in a pattern; null if it is valid. */
export function patternProblem(pattern: string): PromptProblem | null {
  try {
    matcher(pattern);
    return null;
  } catch (error) {
    return { message: `${errorMessage(error)}; ${LITERAL} before it takes it as plain text`, at: 0 };
  }
}

/** `/`: shows the first hit after every key; Esc ends the search. */
export const searchPrompt: PromptKind = {
  sign: '/',
  hint: (value, state, data) =>
    value === ''
      ? `a pattern, case counts with a capital in it; ${LITERAL} before plain text`
      : (searchPosition(state, data) ?? ''),
  check: patternProblem,
  change: (state, value, data) => (value === '' ? { ...state, search: null } : startSearch(state, value, data)),
  submit: (value) => ({ type: 'search', value }),
  cancel: (state) => ({ ...state, search: null }),
};
