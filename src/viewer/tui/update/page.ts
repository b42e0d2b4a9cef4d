import type { Place } from '../../../core/dump/dump.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import type { Data } from '../rows/data.ts';
import { changeAt, filesOf } from '../rows/followed-files.ts';
import { markedPlaces } from '../rows/marked-rows.ts';
import { type Page, rowsOfPage } from '../rows/page.ts';
import { viewport } from '../rows/viewport.ts';
import type { Action, PageRead } from '../state/action.ts';
import { filterText } from '../state/list.ts';
import { freshPage, type PageState, type PageSubject } from '../state/page.ts';
import { pageInSight } from '../state/panes.ts';
import { samePlace } from '../state/rows.ts';
import type { State } from '../state/state.ts';
import { visit } from './cursor.ts';
import { atTurn } from './find.ts';
import { bringGroups } from './group.ts';
import { SPANS } from './move.ts';
import { key, type Result, type SomeHandlers, saying } from './result.ts';
import { searchFrom } from './search.ts';

/** Rows of a page on screen. */
const heightOf = (state: State, data: Data, page: Page): number => rowsOfPage(page, data.geometry(state).bodyHeight);

/** The page with its cursor on a visible row. */
function atRow(state: State, data: Data, row: number): State {
  const shown = pageInSight(state);
  const page = data.page(state);
  if (shown === null || page === null) return state;
  const at = Math.max(0, Math.min(page.length - 1, row));
  const height = heightOf(state, data, page);
  const top = Math.max(at - height + 1, Math.min(shown.top, at), 0);
  const anchor = page.length > 0 ? (page.keyOf?.(at) ?? null) : null;
  return { ...state, page: { ...shown, row: at, anchor, top: Math.min(top, Math.max(0, page.length - height)) } };
}

const withPage = (state: State, change: Partial<PageState>): State =>
  state.page === null ? state : { ...state, page: { ...state.page, ...change } };

const opened = (state: State, subject: PageSubject): State => ({
  ...state,
  page: freshPage(subject, state.page),
});

export const pageHandlers = {
  'live-changed': (state, _action, data) => withRecord(withAnchor(state, data), data),

  'page-open': (state, { subject }) => opened(state, subject),

  'page-group': (state) => {
    const { cursor } = state.list;
    if (cursor === null) return saying(state, 'no rollout here');
    return opened(state, { kind: 'group', place: cursor, left: [] });
  },

  'page-here': (state, { page }, data) => {
    const { cursor: place } = state.list;
    if (place === null) return saying(state, 'no rollout here');
    if (page !== 'history') return opened(state, { kind: page, place });
    const turn = viewport(state, data)?.turn ?? null;
    return turn === null ? saying(state, 'no turn here') : opened(state, { kind: page, place, turn });
  },

  'page-files': (state, _action, data) => {
    const { cursor: place } = state.list;
    if (place === null) return saying(state, 'no rollout here');
    const turn = viewport(state, data)?.turn ?? null;
    const files = filesOf(data.record(place));
    const shown = opened(state, { kind: 'files', place, byFile: false });
    return files === null || turn === null ? shown : atRow(shown, data, changeAt(files, turn));
  },

  'page-tree': (state) => {
    const { cursor } = state.list;
    return cursor === null ? saying(state, 'no rollout here') : opened(state, { kind: 'tree', place: cursor });
  },

  'page-compare': (state, action, data): Result => {
    const { place } = action;
    const { cursor } = state.list;
    if (cursor === null) return saying(state, 'no rollout here');
    const marked = place === null ? markedPlaces(state, data) : [];
    if (marked.length > 2)
      return saying(state, `${marked.length} rows are marked; ${key(state, data, 'compare')} takes two`);
    const [a = null, b = cursor] = marked;
    if (a !== null && !samePlace(a, b)) return opened(state, { kind: 'compare', a, b });
    const { file } = cursor;
    if (place === null && data.groups.groups(file) === null) return bringGroups(state, file, action);
    const other = place ?? otherOfGroup(cursor, data);
    if (other === null) return saying(state, 'no other rollout of this prompt is known; :compare FILE:LINE names one');
    return opened(state, { kind: 'compare', a: cursor, b: other });
  },

  'page-change': (state, { subject }, data) => atRow(withPage(state, { subject }), data, pageInSight(state)?.row ?? 0),

  'page-column': (state, { by }, data) => {
    const shown = pageInSight(state);
    const columns = data.page(state)?.columns.length ?? 0;
    if (shown === null) return state;
    return withPage(state, { column: Math.max(0, Math.min(columns - 1, shown.column + by)) });
  },

  'page-sort': (state, _action, data) => {
    const shown = pageInSight(state);
    const page = data.page(state);
    if (shown === null || page === null) return state;
    const { column } = shown;
    // Numbers sort from the largest, names from the first.
    const descending = page.sort?.column === column ? !page.sort.descending : page.columns[column]?.isText !== true;
    return atRow(withPage(state, { sort: { column, descending } }), data, 0);
  },

  'page-switch': (state, _action, data): Result => {
    const toggle = rowHere(state, data)?.toggle;
    return toggle === undefined ? saying(state, 'nothing to switch in this row') : { state, next: toggle };
  },

  'page-numbers': (state, _action, data): Result => {
    const other = data.page(state)?.other;
    return other === undefined ? saying(state, 'this page has no statistics behind it') : { state, next: other };
  },

  'page-list': (state, { filter }): Result => {
    const before = state.list.choice.filter;
    const text = before === null ? filter : `(${filterText(before)}) && (${filter})`;
    return { state: { ...state, page: null, focus: 'list' }, next: { type: 'filter', text } };
  },

  'page-next': (state, { by }, data): Result => {
    const { page } = state;
    if (page === null) return saying(state, 'no page is open');
    const shown = { ...state, page: { ...page, isAside: false } };
    const length = data.page(shown)?.length ?? 0;
    const at = page.row + by;
    if (at < 0 || at >= length) return saying(state, by > 0 ? 'the last row of the page' : 'the first row of the page');
    const moved = atRow(shown, data, at);
    const row = rowHere(moved, data);
    const next = row?.open?.(0) ?? null;
    if (next?.type !== 'page-read') return moved;
    const said = `${at + 1} of ${length}${row?.says ? `: ${row.says}` : ''}`;
    return readFrom(moved, next, data, said);
  },

  'page-read': (state, action, data) => readFrom(state, action, data, rowHere(state, data)?.says ?? null),
} satisfies SomeHandlers;

/** A page's cursor stays on its row, and the row in place on screen, while others come and go. */
function withAnchor(state: State, data: Data): State {
  const { page: shown } = state;
  if (shown === null || shown.subject.kind !== 'under-way') return state;
  const sight = { ...state, page: { ...shown, isAside: false } };
  const page = data.page(sight);
  if (page?.keyOf === undefined) return state;
  const { anchor, row, top, isAside } = shown;
  let at = row;
  if (anchor !== null && (row >= page.length || page.keyOf(row) !== anchor)) {
    for (let index = 0; index < page.length; index++) if (page.keyOf(index) === anchor) at = index;
  }
  const moved = atRow({ ...sight, page: { ...sight.page, top: Math.max(0, top + at - row) } }, data, at);
  return withPage(moved, { isAside });
}

/** A rollout that was read while unfinished continues in its finished record. */
function withRecord(state: State, data: Data): State {
  const { cursor } = state.list;
  if (cursor === null || !data.dump.isUnderWay(cursor.file)) return state;
  const place = data.underWay.recordOf(cursor.file);
  return place === null ? state : { ...state, list: { ...state.list, cursor: place, visit: place } };
}

/** A rollout of the same prompt, preferably with another score. */
function otherOfGroup({ file, record }: Place, data: Data): Place | null {
  const others = (data.groups.groups(file)?.membersOf(record) ?? []).filter((one) => one !== record);
  const other = others.find((one) => file.score(one) !== file.score(record)) ?? others[0];
  return other === undefined ? null : { file, record: other };
}

function readFrom(state: State, { place, turn, search }: PageRead, data: Data, says: string | null): Result {
  // A rollout of another run can be compared with this one but is in no list.
  if (!data.dump.files.includes(place.file) && !data.dump.isUnderWay(place.file))
    return saying(state, `it is of another run: ${sanitiseLine(place.file.path)}`);
  const visited = visit({ ...withPage(state, { isAside: true }), focus: 'transcript' }, data, place);
  const read = says === null ? visited : saying(visited, says);
  if (search !== undefined && turn !== null) return searchFrom(atTurn(read, data, turn), search, turn, data);
  return turn === null ? read : { state: read, next: { type: 'go', place, turn } };
}

function rowHere(state: State, data: Data) {
  const shown = pageInSight(state);
  const page = data.page(state);
  return shown === null || page === null || shown.row >= page.length ? null : page.row(shown.row);
}

/** Keys of the list and the transcript, as handled by a visible page. */
const ON_PAGE = {
  scroll: (state, { by, unit }, data) => {
    const page = data.page(state);
    if (page === null) return state;
    const height = heightOf(state, data, page);
    return atRow(state, data, (pageInSight(state)?.row ?? 0) + by * SPANS[unit](height));
  },
  top: (state, { line }, data) => atRow(state, data, line === null ? 0 : line - 1),
  bottom: (state, { line }, data) => atRow(state, data, line === null ? (data.page(state)?.length ?? 0) - 1 : line - 1),
  open: (state, _action, data): Result => {
    const next = rowHere(state, data)?.open?.(pageInSight(state)?.column ?? 0) ?? null;
    return next === null ? saying(state, 'nothing to open in this row') : { state, next };
  },
  back: (state) => ({ ...state, page: state.page?.below ?? null }),
  resize: (state, { columns, rows }, data) => atRow({ ...state, columns, rows }, data, pageInSight(state)?.row ?? 0),
} satisfies SomeHandlers;

/** Ways out of a rollout that was opened from a page, and from the page to anywhere else. */
export function pageHandlerOf(state: State, { type }: Action): SomeHandlers[Action['type']] | undefined {
  if (state.page === null) return undefined;
  if (state.page.isAside) return type === 'back' ? backToPage : undefined;
  return (ON_PAGE as SomeHandlers)[type];
}

const backToPage = (state: State): State => withPage(state, { isAside: false });

/** Another rollout was opened by name, number or mark: the page is set aside for it. */
export const asideAfter = (before: State, after: State): State =>
  pageInSight(before) !== null && before.page === after.page && before.list.cursor !== after.list.cursor
    ? withPage(after, { isAside: true })
    : after;
