import { compileQuery } from '../../../analysis/query/query.ts';
import { QueryError } from '../../../analysis/query/query-error.ts';
import { parseSort } from '../../../analysis/query/sort.ts';
import { formatCount } from '../../../core/text/numbers.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import type { Data } from '../rows/data.ts';
import { keptValues } from '../rows/replay-values.ts';
import { type FilterChoice, filterText, type ListChoice, type SortChoice } from '../state/list.ts';
import type { State } from '../state/state.ts';
import { opened } from '../state/transcript.ts';
import { followOn } from './follow.ts';
import { arranged, choose, keepCursor } from './list-choice.ts';
import { type Result, type SomeHandlers, saying } from './result.ts';

/** Parses the filter typed after `&`. @throws QueryError at the offending character */
export function filterFromText(text: string, before: FilterChoice | null): FilterChoice | null {
  const typed = text.trim();
  if (typed === '') return null;
  if (typed === '!') {
    if (before === null) throw new QueryError('nothing is filtered yet: an expression is missing', text.length);
    return { ...before, isInverted: !before.isInverted };
  }
  const isInverted = typed.startsWith('!');
  const from = isInverted ? text.indexOf('!') + 1 : 0;
  try {
    compileQuery(text.slice(from));
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    throw new QueryError(error.message, error.at + from);
  }
  return { text: text.slice(from).trim(), isInverted };
}

/** With data kept beside the dump, if the filter uses it: typing it again makes a different filter. */
function asOfNow(filter: FilterChoice, { replay, labels }: State, { dump }: Data): FilterChoice {
  const { asksKept, asksRead } = compileQuery(filter.text);
  return {
    ...filter,
    ...(asksKept ? { runs: replay.words, labels: labels.rollouts } : {}),
    ...(asksRead ? { reads: dump.seen?.count ?? 0 } : {}),
  };
}

const sortWords = (sort: SortChoice | null): string =>
  sort === null
    ? 'in the order of the dump'
    : `sorted by ${sanitiseLine(sort.key)}, ${sort.descending ? 'largest' : 'smallest'} first`;

export const listHandlers = {
  filter: (state, { text }, data) => {
    const before = state.list.choice.filter;
    try {
      const filter = filterFromText(text, before);
      if (filter === null && before === null) return saying(state, 'nothing is filtered');
      const next = arranged(state, { filter: filter === null ? null : asOfNow(filter, state, data) }, data);
      if (filter !== null) return next;
      // A sorted list fills gradually: its rows are not all there yet.
      const total = data.filterProgress(next)?.total ?? data.rows(next).length;
      return saying(next, `all ${formatCount(total)} again`);
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      return saying(state, `${error.message} (character ${error.at + 1})`, 'error');
    }
  },

  sort: (before, { key, descending, toFirst }, data) => {
    const state: State = toFirst ? { ...before, list: { ...before.list, pinned: 'top' }, transcript: opened } : before;
    try {
      const values = key === null ? null : keptValues(key, state);
      if (key !== null && values === null) parseSort(key);
      const sort = key === null ? null : { key, descending, ...(values === null ? {} : { values }) };
      return saying(arranged(state, { sort }, data), sortWords(sort));
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      return saying(state, error.message, 'error');
    }
  },

  'sort-reverse': (state, _action, data) => {
    const { sort } = state.list.choice;
    if (sort === null) return saying(state, `nothing is sorted; ${data.keys.label('sort')} sorts`);
    const reversed = { ...sort, descending: !sort.descending };
    return saying(arranged(state, { sort: reversed }, data), sortWords(reversed));
  },

  columns: (state, { columns }) => {
    const next = choose(state, { columns });
    return { state: next, effects: [{ type: 'remember-columns', columns }] };
  },

  undo: (state, _action, data) => travel(state, data, 'past'),
  redo: (state, _action, data) => travel(state, data, 'future'),

  // A followed step may now be in the list.
  'rows-changed': (state, _action, data) => followOn(keepCursor(state, data), data),

  'filter-cancel': (state, _action, data) => {
    const filterProgress = data.filterProgress(state);
    if (filterProgress === null || filterProgress.isWhole) return state;
    const { past, choice } = state.list;
    const before = past.findLast((one) => one.filter !== choice.filter || one.sort !== choice.sort);
    const { filter, sort } = before ?? { filter: null, sort: null };
    return saying(arranged(state, { filter, sort }, data), 'cancelled; the list is unchanged');
  },
} satisfies SomeHandlers;

/** Undoes or redoes one choice. */
function travel(state: State, data: Data, way: 'past' | 'future'): Result {
  const { choice, past, future } = state.list;
  const from = way === 'past' ? past : future;
  const to = from.at(-1);
  if (to === undefined) return saying(state, way === 'past' ? 'nothing to undo' : 'nothing to do again');
  const list =
    way === 'past'
      ? { ...state.list, choice: to, past: past.slice(0, -1), future: [...future, choice] }
      : { ...state.list, choice: to, future: future.slice(0, -1), past: [...past, choice] };
  const next = keepCursor({ ...state, list: { ...list, group: null } }, data);
  const [before, after] = way === 'past' ? [to, choice] : [choice, to];
  const said = saying(next, `${way === 'past' ? 'undone' : 'done again'}: ${changeText(before, after)}`);
  if (to.columns === choice.columns) return said;
  return { state: said, effects: [{ type: 'remember-columns', columns: to.columns }] };
}

function changeText(before: ListChoice, after: ListChoice): string {
  if (before.filter !== after.filter)
    return after.filter === null ? 'filter cleared' : `filter ${sanitiseLine(filterText(after.filter))}`;
  if (before.sort !== after.sort) return sortWords(after.sort);
  if (before.columns !== after.columns) return 'columns';
  return after.marks.size < before.marks.size ? 'mark removed' : 'mark';
}
