import { completions } from '../../../analysis/query/complete.ts';
import { FACT_FIELDS, NUMBER_FIELDS, valueName } from '../../../analysis/query/fields.ts';
import { QueryError } from '../../../analysis/query/query-error.ts';
import { parseSort } from '../../../analysis/query/sort.ts';
import type { Place } from '../../../core/dump/dump.ts';
import type { DumpFile } from '../../../core/dump/dump-file.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import { COMMANDS } from '../keys/commands.ts';
import type { Data } from '../rows/data.ts';
import { isLocatorLine, locate } from '../rows/locate.ts';
import { VIEWS, type ViewName } from '../state/display.ts';
import type { State } from '../state/state.ts';
import type { LineCommand } from './line-command.ts';
import { filterFromText } from './list.ts';
import { REWARD_NAMES } from './reward-prompt.ts';
import { TAKE_AWAY } from './take-away.ts';

/** `save NAME` after `:view`. */
const SAVE = /^save\s+(\S{1,60})$/;

const isViewName = (name: string): name is ViewName => VIEWS.includes(name as ViewName);

const thrownText = (read: () => unknown): string | null => {
  try {
    read();
    return null;
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    return error.message;
  }
};

const stepFiles = (state: State, data: Data): readonly DumpFile[] => {
  const stream = state.list.cursor?.file.stream;
  return data.dump.files.filter((file) => file.stream === stream && file.count > 0);
};

const shownFileName = (file: DumpFile): string => String(file.step ?? file.stem);

const stepCalled = (name: string, state: State, data: Data): DumpFile | undefined =>
  stepFiles(state, data).find((file) => shownFileName(file) === name);

const shownNames = (names: readonly string[]): string =>
  names.length <= 6 ? names.join(', ') : `${names.slice(0, 3).join(', ')}, … ${names.at(-1)}`;

const countProblem = (text: string): string | null =>
  text === '' || /^[1-9]\d{0,6}$/.test(text) ? null : 'a number from 1';

/** Commands that take an argument; every command of the keymap can also be called by its id. */
export const COMMAND_LINE: readonly LineCommand[] = [
  {
    name: 'step',
    usage: '12',
    help: 'goes to a step, to the same place in it',
    check: (name, state, data) =>
      stepCalled(name, state, data) === undefined
        ? `${name === '' ? 'which step?' : `no step ${name} here;`} there are ${shownNames(stepFiles(state, data).map(shownFileName))}`
        : null,
    action: (name, state, data) => {
      const file = stepCalled(name, state, data)!;
      const record = Math.min(state.list.cursor?.record ?? 0, file.count - 1);
      return { type: 'go', place: { file, record }, turn: null };
    },
    complete: (_argument, state, data) => stepFiles(state, data).map(shownFileName),
  },
  {
    name: 'id',
    usage: 'b1946ac9',
    help: 'goes to the rollout whose uid or request_id starts with this, in the whole dump',
    check: (id) => (id === '' ? 'which id?' : null),
    action: (id) => ({ type: 'find-id', id }),
    complete: (_argument, state, data) => {
      const rollout = state.list.cursor === null ? null : data.record(state.list.cursor).rollout;
      return [rollout?.uid, rollout?.requestId].filter((id): id is string => typeof id === 'string' && id !== '');
    },
  },
  {
    name: 'filter',
    usage: 'score<0.5',
    help: 'lists what an expression says; nothing clears it',
    check: (text, { list }) => thrownText(() => filterFromText(text, list.choice.filter)),
    action: (text) => ({ type: 'filter', text }),
    complete: (text, _state, data) => completions(text, [...data.dump.extras].map(valueName)),
  },
  {
    name: 'sort',
    usage: 'score:desc',
    help: 'sorts the list by a field; empty: the order on disk',
    check: (text) => (text === '' ? null : thrownText(() => parseSort(text))),
    action: (text) => {
      const { key, descending } = text === '' ? { key: null, descending: false } : parseSort(text);
      return { type: 'sort', key, descending };
    },
    complete: (_text, _state, data) =>
      [...NUMBER_FIELDS, ...FACT_FIELDS, ...[...data.dump.extras].map(valueName)].flatMap((name) => [
        name,
        `${name}:desc`,
      ]),
  },
  ...(['chart', 'histogram'] as const).map(
    (kind): LineCommand => ({
      name: kind,
      usage: 'score',
      help:
        kind === 'chart'
          ? 'draws a number by step'
          : 'shows how often a number has each value; a bar lists its rollouts',
      check: (name) => (name === '' ? 'which number? :charts lists them' : thrownText(() => parseSort(name))),
      action: (name) => ({ type: 'page-open', subject: { kind, name } }),
      complete: (_name, _state, data) => [...NUMBER_FIELDS, ...FACT_FIELDS, ...[...data.dump.extras].map(valueName)],
    }),
  ),
  {
    name: 'view',
    usage: 'raw',
    help: `shows the record as ${VIEWS.join(', ')}; save NAME keeps filter, sort, columns, marks and place, NAME has them again`,
    check: (name, { views }) => {
      const kept = SAVE.exec(name)?.[1];
      if (kept !== undefined) return isViewName(kept) ? `${kept} is a view already` : null;
      if (isViewName(name) || views.has(name)) return null;
      return `a view is one of ${[...VIEWS, ...views.keys()].map(sanitiseLine).join(', ')}, or save NAME`;
    },
    action: (name) => {
      const kept = SAVE.exec(name)?.[1];
      if (kept !== undefined) return { type: 'view-save', name: kept };
      return isViewName(name) ? { type: 'view', view: name } : { type: 'view-restore', name };
    },
    complete: (_name, { views }) => [...VIEWS, ...views.keys(), 'save '],
  },
  {
    name: 'groups',
    usage: '4',
    help: 'all groups, with pass@k of that k',
    check: countProblem,
    action: (k) => ({ type: 'page-open', subject: { kind: 'groups', k: Number(k || 1) } }),
  },
  {
    name: 'compare',
    usage: '3.jsonl:57',
    help: 'compares the open rollout with that one; empty: with one of its group; a path: this run with that one',
    check: (text, state, data) => {
      if (!isLocatorLine(text)) return null;
      const target = locate(text, state, data);
      return 'message' in target ? target.message : null;
    },
    action: (text, state, data) => {
      if (text !== '' && !isLocatorLine(text)) return { type: 'page-open', subject: { kind: 'runs', path: text } };
      const target = text === '' ? null : locate(text, state, data);
      return { type: 'page-compare', place: target === null || 'message' in target ? null : target.place };
    },
  },
  {
    name: 'triage',
    usage: '50 1',
    help: 'this many rollouts to read, each with its reason; a second number is the seed',
    check: (text) =>
      text
        .split(/\s+/)
        .map(countProblem)
        .find((problem) => problem !== null) ?? null,
    action: (text) => {
      const [n = '', seed = ''] = text.split(/\s+/);
      return { type: 'page-open', subject: { kind: 'triage', n: Number(n || 50), seed: Number(seed || 1) } };
    },
  },
  {
    name: 'reward',
    usage: 'gsm8k',
    help: 'what judges when rollouts are scored again: a function, a URL, FILE.py; nothing: by data_source',
    action: (text) => ({ type: 'reward', text, line: 'reward ', prompt: 'command' }),
    complete: () => REWARD_NAMES,
  },
  ...TAKE_AWAY,
];

/** `:57`: the sample with that number in the open step. */
export function sampleNumbered(number: number, state: State): Place | string {
  const file = state.list.cursor?.file;
  if (file === undefined) return 'no rollout is open';
  if (number < 1 || number > file.count) return `step ${shownFileName(file)} has the samples 1 to ${file.count}`;
  return { file, record: number - 1 };
}

/** Short names that people are used to. */
const ALIASES: Record<string, string> = { h: 'help', n: 'sample.next', p: 'sample.previous', e: 'edit', x: 'quit' };

export type Called = { kind: 'line'; command: LineCommand } | { kind: 'key'; id: string };

export const callableNames = (): string[] => [
  ...new Set([...COMMAND_LINE.map(({ name }) => name), ...COMMANDS.map(({ id }) => id)]),
];

/** The command that a word calls: its full name, or a prefix that is unique, or shared only with names that extend it (`:sea`, `:q`). */
export function called(word: string): Called | null {
  const name = ALIASES[word] ?? word;
  const names = callableNames().filter((one) => one.startsWith(name));
  const shortest = names.reduce((best, one) => (one.length < best.length ? one : best), names[0] ?? '');
  if (shortest === '' || name === '') return null;
  if (shortest !== name && !names.every((one) => one === shortest || one.startsWith(`${shortest}.`))) return null;
  const command = COMMAND_LINE.find((one) => one.name === shortest);
  return command === undefined ? { kind: 'key', id: shortest } : { kind: 'line', command };
}

export const usageOf = ({ name, usage }: LineCommand): string => `${name} ${usage}`;
