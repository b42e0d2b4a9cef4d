import { sanitiseLine } from '../../../core/text/sanitise.ts';
import type { LabelChange } from '../../../replay/journal/labels.ts';
import type { Data } from '../rows/data.ts';
import { markedRows } from '../rows/marked-rows.ts';
import { oneRow } from '../rows/rows.ts';
import { viewport } from '../rows/viewport.ts';
import type { Action } from '../state/action.ts';
import type { State } from '../state/state.ts';
import type { PromptKind } from './prompt-kind.ts';
import { type Result, type SomeHandlers, saying } from './result.ts';

export const labelHandlers = {
  label: (state, { change, after }, data): Result => {
    const place = state.list.cursor;
    if (place === null) return saying(state, 'no rollout here');
    const marked = markedRows(state, data);
    const many = marked === null ? '' : ` (${marked.length} marked ${marked.length === 1 ? 'rollout' : 'rollouts'})`;
    const rows = marked ?? oneRow(place);
    return {
      state: saying(state, saidText(change, state.labels.rater) + many),
      effects: [{ type: 'run', job: { kind: 'label', rows, rater: state.labels.rater, change } }],
      ...(after && { next: after }),
    };
  },

  'labels-known': (state, { labels }) => {
    const rollouts = new Map(state.labels.rollouts);
    for (const [locator, said] of labels) {
      if (said.length === 0) rollouts.delete(locator);
      else rollouts.set(locator, said);
    }
    return { ...state, labels: { ...state.labels, rollouts } };
  },
} satisfies SomeHandlers;

function saidText({ label, note }: LabelChange, rater: string): string {
  if (typeof label === 'string') return sanitiseLine(`${rater}: ${label}`);
  if (label === null) return 'label and note taken back';
  return note === null ? 'note taken back' : 'noted';
}

/** Letters are labels, so words, notes and removal use keys that are not letters. */
export function labelKey(state: State, data: Data, key: string, after: Action | undefined): Action | string {
  const turn = turnHere(state, data);
  if (/^[a-zA-Z0-9]$/.test(key)) return { type: 'label', change: { label: key, turn }, ...(after && { after }) };
  if (key === 'enter') return { type: 'prompt-open', prompt: 'label' };
  if (key === 'space') return { type: 'prompt-open', prompt: 'note', value: ownNote(state) };
  if (key === '+') return { type: 'prompt-open', prompt: 'set', value: state.sets.last ?? '' };
  if (key === '-' || key === 'backspace' || key === 'delete')
    return { type: 'label', change: { label: null, note: null } };
  return 'a label is a letter or a digit; Enter asks for a word, + for a set';
}

/** The turn being read; the list has none. */
const turnHere = (state: State, data: Data): number | null =>
  state.focus === 'transcript' ? (viewport(state, data)?.turn ?? null) : null;

const labelsHere = ({ list, labels }: State) =>
  list.cursor === null ? [] : (labels.rollouts.get(list.cursor.file.locator(list.cursor.record)) ?? []);

const ownNote = (state: State): string =>
  labelsHere(state).find(({ rater }) => rater === state.labels.rater)?.note ?? '';

/** The words used so far, the most frequent first. */
function knownWords({ labels }: State): string[] {
  const counts = new Map<string, number>();
  for (const said of labels.rollouts.values())
    for (const { label } of said) if (label !== null) counts.set(label, (counts.get(label) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a).map(([word]) => word);
}

/** Longer words are not labels and would break every table. */
const MOST_CHARACTERS = 60;

export const labelPrompt: PromptKind = {
  sign: 'label ',
  hint: (_value, state) => {
    const words = knownWords(state).slice(0, 8).map(sanitiseLine).join('  ');
    return words === '' ? 'a word: hack, fine, tool was down …' : words;
  },
  check: (value) =>
    value.trim() === ''
      ? { message: 'a label is a word', at: 0 }
      : value.length > MOST_CHARACTERS
        ? { message: `at most ${MOST_CHARACTERS} characters; a note may be longer`, at: MOST_CHARACTERS }
        : null,
  submit: (value, state, data) => ({ type: 'label', change: { label: value.trim(), turn: turnHere(state, data) } }),
  complete: (value, state) => knownWords(state).filter((word) => word.startsWith(value)),
};

export const notePrompt: PromptKind = {
  sign: 'note ',
  hint: () => 'a line beside the label; an empty one removes the note',
  submit: (value) => ({ type: 'label', change: { note: value.trim() === '' ? null : value.trim() } }),
};
