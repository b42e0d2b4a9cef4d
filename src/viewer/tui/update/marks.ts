import type { Data } from '../rows/data.ts';
import { viewport } from '../rows/viewport.ts';
import type { Mark } from '../state/list.ts';
import { samePlace } from '../state/rows.ts';
import type { State } from '../state/state.ts';
import { moveCursor, putCursor, visit } from './cursor.ts';
import { choose } from './list-choice.ts';
import { key, type Result, type SomeHandlers, saying } from './result.ts';

/** Marks of the space bar have no letter. */
const unnamed = ({ place }: Mark): string => ` ${place.file.locator(place.record)}`;

const markHere = (state: State, data: Data): Mark | null => {
  const { cursor } = state.list;
  if (cursor === null) return null;
  return { place: cursor, generation: cursor.file.generation, turn: viewport(state, data)?.turn ?? null };
};

export const markHandlers = {
  mark: (state, { letter }, data) => {
    const mark = markHere(state, data);
    if (mark === null) return saying(state, 'no rollout here');
    const marks = new Map(state.list.choice.marks).set(letter, mark);
    return saying(choose(state, { marks }), `mark ${letter}; ${key(state, data, 'mark.go')}${letter} comes back here`);
  },

  'mark-row': (state, _action, data) => {
    const mark = markHere(state, data);
    if (mark === null) return saying(state, 'no rollout here');
    const marks = new Map(state.list.choice.marks);
    if (!marks.delete(unnamed(mark))) marks.set(unnamed(mark), { ...mark, turn: null });
    return moveCursor(choose(state, { marks }), data, 1, 'clamp');
  },

  'mark-go': (state, { letter }, data) => {
    const mark = state.list.choice.marks.get(letter);
    if (mark === undefined) return saying(state, `no mark ${letter}; ${key(state, data, 'mark')} ${letter} sets it`);
    return goTo(state, data, letter, mark);
  },

  'mark-next': (state, { by }, data) => {
    const rows = data.rows(state);
    const { cursor } = state.list;
    const here = cursor === null ? -1 : rows.indexOf(cursor);
    const marked = [...new Set([...state.list.choice.marks.values()].map(({ place }) => rows.indexOf(place)))]
      .filter((index) => index >= 0)
      .sort((a, b) => a - b);
    if (marked.length === 0) {
      const isAny = state.list.choice.marks.size > 0;
      return saying(
        state,
        isAny
          ? 'no mark in the list as it is filtered'
          : `nothing is marked; ${key(state, data, 'mark')} and a letter marks`,
      );
    }
    const ways = by > 0 ? marked.filter((index) => index > here) : marked.filter((index) => index < here).reverse();
    const index = ways[Math.min(Math.abs(by), ways.length) - 1];
    if (index === undefined) return saying(state, by > 0 ? 'no mark below' : 'no mark above');
    return putCursor(state, data, index);
  },
} satisfies SomeHandlers;

/** Goes to the marked rollout and its turn, and says so if the record's content has changed. */
function goTo(state: State, data: Data, letter: string, { place, generation, turn }: Mark): Result {
  const { file, record } = place;
  const name = `mark ${letter}`;
  if (file.state === 'gone' || !data.dump.files.includes(file))
    return saying(state, `${name}: its file is gone from disk`);
  if (record >= file.count)
    return saying(state, `${name}: its file has ${file.count} samples now, this was ${record + 1}`);
  const isReplaced = file.generation !== generation;
  const isListed = data.rows(state).indexOf(place) >= 0;
  let next = samePlace(place, state.list.cursor) ? state : visit(state, data, place);
  if (turn !== null && !isReplaced)
    next = { ...next, transcript: { ...next.transcript, turn, top: { block: `t${turn}`, offset: 0 } } };
  if (isReplaced) return saying(next, `${name}: its file was rewritten, this is its sample ${record + 1} now`);
  return isListed || state.list.choice.filter === null
    ? next
    : saying(next, `${name}; the filter leaves it out of the list`);
}
