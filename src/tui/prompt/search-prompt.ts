import { finder, LITERAL } from '../search/pattern.ts';
import { searchPosition } from '../search/search.ts';
import { say } from '../update/result.ts';
import { startSearch } from '../update/search.ts';
import type { PromptKind } from './kinds.ts';

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** `/`: shows the first hit with every key; Esc ends the search. */
export const searchPrompt: PromptKind = {
  sign: '/',
  hint: (value, state, world) =>
    value === ''
      ? `a pattern, case counts with a capital in it; ${LITERAL} before plain text`
      : (searchPosition(state, world) ?? ''),
  check: (value) => {
    try {
      finder(value);
      return null;
    } catch (error) {
      return { message: `${reasonOf(error)}; ${LITERAL} before it takes it as plain text`, at: 0 };
    }
  },
  change: (state, value, world) => (value === '' ? { ...state, search: null } : startSearch(state, value, world)),
  submit: (state, value, world) => {
    if (value === '') return { ...state, search: null };
    const next = state.search?.value === value ? state : startSearch(state, value, world);
    if (searchPosition(next, world) !== 'no hit') return next;
    return say({ ...next, search: { value, at: -1, edge: 1 } }, 'not in this sample, n looks in the next ones');
  },
  cancel: (state) => ({ ...state, search: null }),
};
