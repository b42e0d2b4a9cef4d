import { isSetName } from '../../../replay/sets/curated-set.ts';
import { markedRows } from '../rows/marked-rows.ts';
import { oneRow } from '../rows/rows.ts';
import { filterText } from '../state/list.ts';
import { freshPage } from '../state/page.ts';
import type { State } from '../state/state.ts';
import type { PromptKind } from './prompt-kind.ts';
import { type Result, type SomeHandlers, saying } from './result.ts';

export const setHandlers = {
  'sets-open': (state): Result => ({
    state: { ...state, page: freshPage({ kind: 'sets' }, state.page) },
    effects: [{ type: 'run', job: { kind: 'sets' } }],
  }),

  'sets-known': (state, { sets }) => ({ ...state, sets: { ...state.sets, known: sets } }),

  'set-add': (state, { name, reason }, data): Result => {
    const place = state.list.cursor;
    if (place === null) return saying(state, 'no rollout here');
    const rows = markedRows(state, data) ?? oneRow(place);
    const { filter } = state.list.choice;
    const by = state.labels.rater;
    return {
      state: { ...state, sets: { ...state.sets, last: name } },
      effects: [
        {
          type: 'run',
          job: { kind: 'set-add', rows, name, reason, filter: filter === null ? null : filterText(filter), by },
        },
      ],
    };
  },

  'set-drop': (state, { name, locator }): Result => ({
    state,
    effects: [{ type: 'run', job: { kind: 'set-drop', name, locator, by: state.labels.rater } }],
  }),
} satisfies SomeHandlers;

/** `NAME`, or `NAME and why`. */
const read = (value: string): { name: string; reason: string | null } => {
  const [, name = '', reason = ''] = /^\s*(\S*)\s*(.*?)\s*$/s.exec(value) ?? [];
  return { name, reason: reason === '' ? null : reason };
};

const knownNames = ({ sets }: State): string[] => {
  const names = [...(sets.known?.keys() ?? [])];
  return sets.last === null || names.includes(sets.last) ? names : [...names, sets.last];
};

export const setPrompt: PromptKind = {
  sign: 'into the set ',
  hint: (_value, state) => {
    const names = knownNames(state).slice(0, 8).join('  ');
    return names === '' ? 'NAME and why: hard the tool failed' : names;
  },
  check: (value) =>
    isSetName(read(value).name) ? null : { message: 'letters, digits, - _ and . make the name of a set', at: 0 },
  submit: (value) => ({ type: 'set-add', ...read(value) }),
  complete: (value, state) => knownNames(state).filter((name) => name.startsWith(value)),
};
