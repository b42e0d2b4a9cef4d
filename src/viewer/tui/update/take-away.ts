import { EXPORT_FORMATS } from '../../../analysis/export/registry.ts';
import type { Data } from '../rows/data.ts';
import { markedRows } from '../rows/marked-rows.ts';
import { oneRow } from '../rows/rows.ts';
import type { State } from '../state/state.ts';
import type { LineCommand } from './line-command.ts';
import { type SomeHandlers, saying } from './result.ts';

const EXPORT_NAMES: readonly string[] = EXPORT_FORMATS.map(({ name }) => name);

/** `trl train.jsonl --drop`: the format, the file up to the first option, the options. */
const EXPORT = /^(\S+)\s+((?!--)\S(?:(?!\s--).)*?)\s*(\s--.*)?$/s;

export const takeAwayHandlers = {
  'write-page': (state, { path }, data) => {
    if (state.list.cursor === null) return saying(state, 'no rollout is open');
    const rows = markedRows(state, data) ?? oneRow(state.list.cursor);
    return { state, effects: [{ type: 'run', job: { kind: 'write', rows, what: { form: 'page', path } } }] };
  },

  'write-set': (state, { format, path, options }, data) => {
    if (state.list.cursor === null) return saying(state, 'no rollout is open');
    const rows = markedRows(state, data) ?? (isWholeRollout(state) ? null : data.rows(state));
    const what = { form: 'set', format, path, options } as const;
    return { state, effects: [{ type: 'run', job: { kind: 'write', rows, what } }] };
  },
} satisfies SomeHandlers;

const isWholeRollout = ({ list }: State): boolean => list.choice.filter === null && list.group === null;

/** A word as a shell cuts it: quotes hold spaces together. */
const WORD = /(?:[^\s'"]|'[^']*'|"[^"]*")+/g;

const optionWords = (text: string): string[] =>
  (text.match(WORD) ?? []).map((word) =>
    word.replace(/'([^']*)'|"([^"]*)"/g, (_, single?: string, double?: string) => single ?? double ?? ''),
  );

/** The rows that a set is made of, in words. */
function target(state: State, data: Data): string {
  const marked = markedRows(state, data)?.length ?? 0;
  if (marked > 0) return `the ${marked} marked rollouts`;
  return isWholeRollout(state) ? 'all rollouts' : `the ${data.rows(state).length} rollouts of the list`;
}

export const TAKE_AWAY: readonly LineCommand[] = [
  {
    name: 'html',
    usage: 'page.html',
    help: 'writes the rollout, or the marked ones, as a page for a browser; without a name, into this directory',
    action: (path) => ({ type: 'write-page', path: path === '' ? null : path }),
  },
  {
    name: 'messages',
    usage: 'chat.jsonl',
    help: 'writes the marked rollouts, else the list, as chat messages with their masks',
    check: (path, state, data) => (path === '' ? `a file for ${target(state, data)}` : null),
    action: (path) => ({ type: 'write-set', format: 'messages', path, options: [] }),
  },
  {
    name: 'export',
    usage: 'trl train.jsonl',
    help: 'writes the marked rollouts, else the list, for a trainer; options as of `export`',
    check: (text, state, data) => {
      const name = text.split(/\s/, 1)[0] ?? '';
      if (!EXPORT_NAMES.includes(name)) return `a format: ${EXPORT_NAMES.join(', ')}`;
      const found = EXPORT.exec(text);
      if (found === null) return `a file for ${target(state, data)}`;
      return (found[3] ?? '').replace(WORD, '').trim() === '' ? null : 'a quote is not closed';
    },
    action: (text) => {
      const [, format = '', path = '', options = ''] = EXPORT.exec(text) ?? [];
      return { type: 'write-set', format, path, options: optionWords(options) };
    },
    complete: () => EXPORT_NAMES.map((name) => `${name} `),
  },
];
