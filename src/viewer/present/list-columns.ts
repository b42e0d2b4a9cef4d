// The columns that the list may have: their content, the widths they want and need, and which are dropped first.

import { printJson } from '../../core/json/print.ts';
import type { JsonValue } from '../../core/json/value.ts';
import { CHECKS, type Check, checkWord, ERROR_CHECKS } from '../../core/rollout/checks.ts';
import type { Facts } from '../../core/rollout/fact-row.ts';
import { FACTS } from '../../core/rollout/facts.ts';
import { truncateStart } from '../../core/text/fit.ts';
import { cellWidth } from '../../core/text/graphemes.ts';
import { numberText, scoreText, sizeText } from '../../core/text/quantities.ts';
import { sanitiseLine } from '../../core/text/sanitise.ts';
import { failureWidth, failureWord } from './failure-word.ts';
import { type Style, scaleStyle } from './theme.ts';

/** The values of a row; undefined = not known yet. */
export interface ListRow {
  stream: string;
  step: number | null;
  /** The file's name without its extension, for files not named after a step. */
  stem: string;
  sample: number;
  score: number | null | undefined;
  bytes: number;
  facts: Facts | undefined;
  /** The tool of the failed calls that the facts' kind of error is of; null if unknown. */
  failedTool: string | null;
  /** The outcome of running its calls again, in a word; '' if none ran. */
  again: string;
  /** A value with its own column is not repeated among the findings. */
  hasOwnColumn: { again: boolean; rescored: boolean };
  /** Its re-computed score, and whether that differs; undefined if it was not re-scored. */
  rescored: { score: number | null; isDrift: boolean } | undefined;
  /** People's labels; '' if absent. */
  label: string;
  /** Bytes of its step came a moment ago: it is incomplete. */
  arriving: boolean;
  /** The value under one of the record's own keys; undefined if it has none, NOT_KNOWN before it was looked at. */
  value(name: string): JsonValue | undefined | typeof NOT_KNOWN;
}

export const NOT_KNOWN = Symbol('not known yet');

export interface Column {
  /** The name of the field it shows, as used by filter and sort. */
  key: string;
  title: string;
  /** The shorter title, for narrow columns. */
  short: string;
  /** The cells it wants, and those it needs. */
  width: number;
  min: number;
  /** The cells it gets before any column of rank 2 or more gets some. */
  ease?: number;
  align: 'left' | 'right';
  /** Columns with a higher number are dropped first when the list is narrow; those with 0 stay. */
  rank: number;
  text(row: ListRow, width: number): string;
  style?(row: ListRow): Style;
}

/** The widths that the dump's values need. */
export interface ListShape {
  step: number;
  sample: number;
  score: number;
  /** Some scores have four decimals. */
  areLong: boolean;
  /** The lowest and the highest score; null without scores. */
  range: { low: number; high: number } | null;
  /** The longest name of a tool with failed calls; 0 without one. */
  failedTool: number;
  /** Sanitised names without duplicates. */
  streams: readonly string[];
}

function factText(row: ListRow, name: string, width: number): string {
  if (row.facts === undefined) return '·';
  const value = row.facts.value(name);
  return typeof value === 'number' ? numberText(value, width) : (value ?? '–');
}

/** The most serious finding, in a word: a record or tool that failed comes before oddities. */
function finding(row: ListRow): Check | null {
  return CHECKS.find((check) => row.facts?.has(check)) ?? null;
}

/** The outcome of running calls again, as the list shows it. */
const AGAIN: Record<string, string> = {
  now_fails: 'drift',
  now_succeeds: 'drift',
  different: 'drift',
  flaky: 'flaky',
  normalised: 'same',
  same: 'same',
};
/** Drift takes precedence over the findings of the record; `same` comes after them. */
const isDrift = ({ again }: ListRow): boolean => AGAIN[again] === 'drift' || AGAIN[again] === 'flaky';

const findingWord = (row: ListRow, width: number): string => {
  const { hasOwnColumn, rescored } = row;
  const again = hasOwnColumn.again ? '' : (AGAIN[row.again] ?? row.again);
  if (again !== '' && isDrift(row)) return again;
  if (rescored?.isDrift && !hasOwnColumn.rescored) return `now ${scoreText(rescored.score)}`;
  const found = finding(row);
  if (found === null) return again;
  const kind = found === 'tool_error' ? (row.facts?.value('error.kind') ?? null) : null;
  const word = typeof kind === 'string' ? failureWord(row.failedTool, kind, width) : checkWord(found);
  return cellWidth(word) <= width ? word : checkWord(found);
};

const findingStyle = (row: ListRow): Style => {
  const { hasOwnColumn } = row;
  if ((isDrift(row) && !hasOwnColumn.again) || (row.rescored?.isDrift && !hasOwnColumn.rescored)) return 'warning';
  const found = finding(row);
  if (found === null) return 'quiet';
  return ERROR_CHECKS.includes(found) ? 'error' : 'warning';
};

/** The shortest prefix that distinguishes a stream's name from the others: `t` and `v` for train and val. */
function streamText(streams: readonly string[], stream: string, width: number): string {
  if (cellWidth(stream) <= width) return stream;
  for (let length = 1; length <= width; length++) {
    const start = stream.slice(0, length);
    if (streams.every((other) => other === stream || !other.startsWith(start))) return start;
  }
  return stream;
}

const DECIMALS_2 = /^-?\d+\.\d\d$/;

/** Columns that every rollout fills, in order. */
export function ownColumns({ step, sample, score, areLong, range, failedTool, streams }: ListShape): Column[] {
  const longest = Math.max(1, ...streams.map(cellWidth));
  const prefix = Math.max(1, ...streams.map((stream) => shortest(streams, stream)));
  const column = (
    key: string,
    title: string,
    width: number,
    rest: Partial<Column> & Pick<Column, 'rank' | 'text'>,
  ) => ({
    key,
    title,
    short: title,
    width,
    min: width,
    align: 'right' as const,
    ...rest,
  });
  return [
    column('stream', 'stream', Math.max(6, Math.min(12, longest)), {
      short: '',
      min: Math.min(6, prefix),
      align: 'left',
      rank: 1.5,
      text: (row, width) => streamText(streams, row.stream, width),
      style: () => 'quiet',
    }),
    column('step', 'step', Math.max(4, step), {
      short: 'st',
      min: Math.max(2, step),
      rank: 0,
      // A step that is still arriving is drawn hollow. Names of files often begin alike.
      text: (row, width) => {
        const sign = row.arriving ? '○' : '';
        return sign + (row.step === null ? truncateStart(row.stem, width - sign.length) : String(row.step));
      },
    }),
    column('sample', 'sample', Math.max(6, sample), {
      short: '#',
      min: Math.max(3, sample),
      rank: 0,
      text: (row) => String(row.sample),
    }),
    // If some scores have four decimals, the others are padded so that the points align.
    column('score', 'score', Math.max(5, score), {
      rank: 0,
      text: (row, width) => {
        const text = scoreText(row.score);
        return areLong && DECIMALS_2.test(text) && text.length + 2 <= width ? `${text}  ` : text;
      },
      style: (row) => (row.score == null || range === null ? 'plain' : scaleStyle(row.score, range.low, range.high)),
    }),
    ...FACTS.map(({ name, title, words }, i) =>
      column(name, title, Math.max(5, cellWidth(title), ...(words ?? []).map(cellWidth)), {
        rank: 3 + i,
        text: (row, width) => factText(row, name, width),
      }),
    ),
    column('bytes', 'size', 7, { rank: 5, text: (row) => sizeText(row.bytes), style: () => 'quiet' }),
    column('findings', 'finding', failureWidth(failedTool), {
      short: '',
      min: 5,
      ease: 9,
      align: 'left',
      rank: 0,
      text: findingWord,
      style: findingStyle,
    }),
  ];
}

const shortest = (streams: readonly string[], stream: string): number => {
  let length = 1;
  while (
    length < stream.length &&
    streams.some((other) => other !== stream && other.startsWith(stream.slice(0, length)))
  )
    length++;
  return length;
};

/** The outcomes of running it again. @param keys for sorting by them */
export const replayColumns = (keys: { again: string; rescored: string }): Column[] => [
  {
    key: keys.again,
    title: 'again',
    short: 'again',
    width: 7,
    min: 5,
    align: 'left',
    rank: 3.5,
    text: (row) => AGAIN[row.again] ?? row.again,
    style: (row) => (isDrift(row) ? 'warning' : 'quiet'),
  },
  {
    key: keys.rescored,
    title: 'rescore',
    short: 'rescore',
    width: 7,
    min: 7,
    align: 'right',
    rank: 3.5,
    text: ({ rescored }) => (rescored === undefined ? '' : scoreText(rescored.score)),
    style: ({ rescored }) => (rescored?.isDrift ? 'warning' : 'plain'),
  },
];

/** People's labels. @param key for sorting by them */
export const labelColumn = (key: string): Column => ({
  key,
  title: 'label',
  short: 'label',
  width: 8,
  min: 5,
  align: 'left',
  rank: 1.8,
  text: ({ label }) => label,
});

/** A value that only some dumps have. */
export function valueColumn(name: string): Column {
  const title = sanitiseLine(name);
  const width = Math.max(5, Math.min(12, cellWidth(title)));
  return {
    key: name,
    title,
    short: title,
    width,
    min: Math.min(width, 8),
    align: 'right',
    rank: 2,
    text: (row, width) => valueText(row.value(name), width),
  };
}

function valueText(value: ReturnType<ListRow['value']>, width: number): string {
  if (value === NOT_KNOWN) return '·';
  if (value === undefined || value === null) return '–';
  if (typeof value === 'number') return numberText(value, width);
  return sanitiseLine(typeof value === 'string' ? value : printJson(value));
}

/** The column the list is sorted by outlasts all that can be dropped, and has room for its arrow. */
export function sortedColumn(column: Column): Column {
  const room = cellWidth(column.title) + 1;
  return {
    ...column,
    short: column.title,
    width: Math.max(column.width, room),
    min: Math.max(Math.min(column.min, SORTED_MIN), Math.min(room, SORTED_MIN)),
    rank: Math.min(column.rank, 1),
  };
}

const SORTED_MIN = 6;
