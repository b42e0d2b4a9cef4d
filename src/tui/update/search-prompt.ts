import { LITERAL, matcher } from '../../analysis/text-search.ts';
import { searchPosition } from '../rows/search.ts';
import type { PromptKind } from './prompt-kind.ts';
import { startSearch } from './search.ts';

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** `/`: shows the first hit with every key; Esc ends the search. */
export const searchPrompt: PromptKind = {
  sign: '/',
  hint: (value, state, data) =>
    value === ''
      ? `a pattern, case counts with a capital in it; ${LITERAL} before plain text`
      : (searchPosition(state, data) ?? ''),
  check: (value) => {
    try {
      matcher(value);
      return null;
    } catch (error) {
      return { message: `${reasonOf(error)}; ${LITERAL} before it takes it as plain text`, at: 0 };
    }
  },
  change: (state, value, data) => (value === '' ? { ...state, search: null } : startSearch(state, value, data)),
  submit: (value) => ({ type: 'search', value }),
  cancel: (state) => ({ ...state, search: null }),
};
