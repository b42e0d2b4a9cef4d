import type { SavedView } from '../../config/saved-views.ts';
import { sanitiseLine } from '../../text/sanitise.ts';
import type { Data } from '../rows/data.ts';
import { locate } from '../rows/locate.ts';
import { viewport } from '../rows/viewport.ts';
import type { Mark } from '../state/list.ts';
import type { State } from '../state/state.ts';
import { choose } from './list-choice.ts';
import { type SomeHandlers, saying } from './result.ts';

type SavedPlace = NonNullable<SavedView['place']>;

const savedPlace = ({ place: { file, record }, turn }: Pick<Mark, 'place' | 'turn'>): SavedPlace => ({
  locator: file.locator(record),
  turn,
});

function viewHere(state: State, data: Data): SavedView {
  const { cursor, choice } = state.list;
  const { filter, sort, columns, marks } = choice;
  return {
    filter: filter === null ? null : { text: filter.text, isInverted: filter.isInverted },
    sort: sort === null ? null : { key: sort.key, descending: sort.descending },
    columns: columns === null ? null : [...columns],
    place: cursor === null ? null : savedPlace({ place: cursor, turn: viewport(state, data)?.turn ?? null }),
    // Marks of the space bar have no letter.
    marks: Object.fromEntries(
      [...marks].filter(([letter]) => !letter.startsWith(' ')).map(([letter, mark]) => [letter, savedPlace(mark)]),
    ),
  };
}

/** A place that is no more has none. */
function found({ locator, turn }: SavedPlace, state: State, data: Data): Mark | null {
  const at = locate(/:\d+(?:\.\d+)?$/.test(locator) ? locator : `${locator}:1`, state, data);
  return 'message' in at ? null : { place: at.place, generation: at.place.file.generation, turn };
}

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
    const marks = new Map(
      [...Object.entries(view.marks)].flatMap(([letter, place]): [string, Mark][] => {
        const mark = found(place, state, data);
        return mark === null ? [] : [[letter, mark]];
      }),
    );
    const { filter, sort, columns } = view;
    const chosen = choose({ ...state, list: { ...state.list, group: null } }, { filter, sort, columns, marks });
    const place = view.place === null ? null : found(view.place, chosen, data);
    const said = { ...chosen, message: { text: sanitiseLine(name), kind: 'info' as const } };
    return place === null ? said : { state: said, next: { type: 'go', place: place.place, turn: place.turn } };
  },
} satisfies SomeHandlers;
