import { itemAt } from '../../../core/lists/at.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import type { Data } from '../rows/data.ts';
import { placeName } from '../rows/place-name.ts';
import { LABEL_KEY, REPLAY_KEYS } from '../rows/replay-values.ts';
import type { Action } from '../state/action.ts';
import type { State } from '../state/state.ts';

/** Something that a menu offers with one key. */
export interface MenuEntry {
  key: string;
  title: string;
  action: Action;
}

/** Keys that a menu uses itself. */
const TAKEN = 'hjklq';
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** The sort keys. The program's columns come first, so that their letters are the same in every dump. */
export function sortEntries(state: State, data: Data): MenuEntry[] {
  const { sort } = state.list.choice;
  const entries: MenuEntry[] = [
    { key: 'b', title: 'best', action: { type: 'sort', key: 'score', descending: true, toFirst: true } },
    { key: 'w', title: 'worst', action: { type: 'sort', key: 'score', descending: false, toFirst: true } },
  ];
  if (sort !== null)
    entries.push({ key: 'd', title: 'dump order', action: { type: 'sort', key: null, descending: false } });
  const taken = new Set([...TAKEN, 'b', 'w', 'd']);
  const { words, rollouts } = state.replay;
  const isRunAgain = words.size + rollouts.size > 0;
  const replayed: readonly string[] = Object.values(REPLAY_KEYS);
  const { files } = data.dump;
  // A column with the same value in all rows keeps its letter but is not offered.
  const isAlike = (key: string): boolean =>
    (replayed.includes(key) && !isRunAgain) ||
    (key === LABEL_KEY && state.labels.rollouts.size === 0) ||
    (key === 'stream' && files.every(({ stream }) => stream === itemAt(files, 0).stream));
  for (const { key, title } of data.allColumns(state)) {
    const letter = [...title.toLowerCase(), ...LETTERS].find((one) => LETTERS.includes(one) && !taken.has(one));
    if (letter === undefined) break;
    taken.add(letter);
    if (isAlike(key)) continue;
    // Counts and measures sort from the largest, steps and samples from the first.
    const isPlace = ['stream', 'step', 'sample'].includes(key);
    // Choosing the current sort column again reverses it.
    const descending = sort?.key === key ? !sort.descending : !isPlace;
    entries.push({ key: letter, title, action: { type: 'sort', key, descending } });
  }
  return entries;
}

/** Marks that can be visited. */
export const markEntries = ({ list }: State): MenuEntry[] =>
  [...list.choice.marks]
    .filter(([name]) => !name.startsWith(' '))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([letter, { place }]) => ({
      key: letter,
      title: sanitiseLine(placeName(place)),
      action: { type: 'mark-go', letter },
    }));

export const isMarkLetter = (key: string): boolean => /^[a-zA-Z0-9]$/.test(key);
