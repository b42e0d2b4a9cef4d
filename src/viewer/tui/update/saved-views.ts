import { compileQuery } from '../../../analysis/query/query.ts';
import { parseSort } from '../../../analysis/query/sort.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import type { SavedView } from '../../config/saved-views.ts';
import type { Data } from '../rows/data.ts';
import { locate } from '../rows/locate.ts';
import { viewport } from '../rows/viewport.ts';
import type { Mark } from '../state/list.ts';
import type { State } from '../state/state.ts';
import { visit } from './cursor.ts';
import { atTurn } from './find.ts';
import { choose } from './list-choice.ts';
import { type SomeHandlers, saying } from './result.ts';

type SavedPlace = NonNullable<SavedView['place']>;

const savedPlace = ({ place: { file, record }, turn }: Pick<Mark, 'place' | 'turn'>): SavedPlace => ({
  locator: file.locator(record),
  turn,
});

/** Nobody moved in the rollout: it is at its default position. */
const isUnread = ({ transcript: { top, turn } }: State): boolean => top === null && turn === null;

/** The list's choice, its marks, and the current place. */
function viewHere(state: State, data: Data): SavedView {
  const { cursor, choice } = state.list;
  const { filter, sort, columns, marks } = choice;
  return {
    filter: filter === null ? null : { text: filter.text, isInverted: filter.isInverted },
    sort: sort === null ? null : { key: sort.key, descending: sort.descending },
    columns: columns === null ? null : [...columns],
    place:
      cursor === null
        ? null
        : savedPlace({ place: cursor, turn: isUnread(state) ? null : (viewport(state, data)?.turn ?? null) }),
    // Marks of the space bar have no letter.
    marks: Object.fromEntries(
      [...marks].filter(([letter]) => !letter.startsWith(' ')).map(([letter, mark]) => [letter, savedPlace(mark)]),
    ),
    ...(state.hasDetails ? {} : { details: false }),
  };
}

/** The view to restore at the next start; its place is null if nobody left the default one. */
export function viewAtEnd(state: State, data: Data): SavedView {
  const view = viewHere(state, data);
  const { cursor } = state.list;
  const isFirst = cursor !== null && cursor.record === 0 && cursor.file === data.dump.newest() && isUnread(state);
  return isFirst && view.filter === null && view.sort === null ? { ...view, place: null } : view;
}

/** The part of a view that this version understands: another version may have saved it. */
export function understood(view: SavedView): SavedView {
  const isRight = (check: () => unknown): boolean => {
    try {
      check();
      return true;
    } catch {
      return false;
    }
  };
  const { filter, sort } = view;
  return {
    ...view,
    filter: filter !== null && isRight(() => compileQuery(filter.text)) ? filter : null,
    sort: sort !== null && isRight(() => parseSort(sort.key)) ? sort : null,
  };
}

/** Every place in it is indexed. */
export const isAllThere = ({ place, marks }: SavedView, state: State, data: Data): boolean =>
  [...(place === null ? [] : [place]), ...Object.values(marks)].every((one) => found(one, state, data) !== null);

/** null for a place that no longer exists. */
function found({ locator, turn }: SavedPlace, state: State, data: Data): Mark | null {
  const at = locate(/:\d+(?:\.\d+)?$/.test(locator) ? locator : `${locator}:1`, state, data);
  return 'message' in at ? null : { place: at.place, generation: at.place.file.generation, turn };
}

const foundMarks = (view: SavedView, state: State, data: Data): [string, Mark][] =>
  Object.entries(view.marks).flatMap(([letter, place]): [string, Mark][] => {
    const mark = found(place, state, data);
    return mark === null ? [] : [[letter, mark]];
  });

export const savedViewHandlers = {
  'view-save': (state, { name }, data) => {
    const view = viewHere(state, data);
    const views = new Map(state.views).set(name, view);
    return {
      state: {
        ...state,
        views,
        message: { text: `kept as ${sanitiseLine(name)}; :view ${sanitiseLine(name)} has it again`, kind: 'info' },
      },
      effects: [{ type: 'remember-view', name, view }],
    };
  },

  'view-restore': (state, { name }, data) => {
    const view = state.views.get(name);
    if (view === undefined) return saying(state, `no view ${sanitiseLine(name)} was kept`, 'error');
    const marks = new Map(foundMarks(view, state, data));
    const { filter, sort, columns } = view;
    const chosen = choose({ ...state, list: { ...state.list, group: null } }, { filter, sort, columns, marks });
    const place = view.place === null ? null : found(view.place, chosen, data);
    const said = {
      ...chosen,
      hasDetails: view.details !== false,
      message: { text: sanitiseLine(name), kind: 'info' as const },
    };
    return place === null ? said : { state: said, next: { type: 'go', place: place.place, turn: place.turn } };
  },

  // Marks set meanwhile stay, and a reader who has moved is left in place.
  'view-reopen': (state, { view, isMoved }, data) => {
    const { choice } = state.list;
    const marks = new Map([...foundMarks(view, state, data), ...choice.marks]);
    const marked = { ...state, list: { ...state.list, choice: { ...choice, marks } } };
    const place = view.place === null || isMoved ? null : found(view.place, marked, data);
    if (place === null) return marked;
    const free = { ...marked, list: { ...marked.list, pinned: null } };
    // The list may not be ready: do not report a place as missing from it.
    const there = visit(free, data, place.place);
    return place.turn === null ? there : atTurn(there, data, place.turn);
  },
} satisfies SomeHandlers;
