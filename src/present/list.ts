import { CHECK_WORD, CHECKS, type Check } from '../rollout/finding.ts';
import { fitLeft, fitRight } from '../text/fit.ts';
import { scoreText, sizeText } from './quantities.ts';
import { type Style, styled, type Theme } from './theme.ts';

/** What the list knows of a rollout; undefined = not known yet. */
export interface ListRow {
  stream: string;
  step: number | null;
  /** The file's name without its ending, for files whose name is no step. */
  stem: string;
  sample: number;
  score: number | null | undefined;
  turns: number | undefined;
  calls: number | undefined;
  bytes: number;
  findings: readonly Check[] | undefined;
  /** Bytes of its step came a moment ago: it is not whole yet. */
  arriving: boolean;
}

export interface Column {
  key: string;
  title: string;
  width: number;
  align: 'left' | 'right';
  /** Columns of a higher number leave first when the list is narrow. */
  rank: number;
  text(row: ListRow): string;
  style?(row: ListRow): Style;
}

const countOf = (count: number | undefined): string => (count === undefined ? '·' : String(count));

/** The most serious thing noticed, in a word: a record or tool that failed comes before what looks odd. */
function finding(row: ListRow): Check | null {
  return CHECKS.find((check) => row.findings?.includes(check)) ?? null;
}

const findingWord = (row: ListRow): string => {
  const found = finding(row);
  return found === null ? '' : CHECK_WORD[found];
};

const ERRORS: readonly Check[] = ['bad_record', 'tool_error', 'call_unparsed'];
const findingStyle = (row: ListRow): Style => {
  const found = finding(row);
  return found !== null && ERRORS.includes(found) ? 'error' : 'warning';
};

export const COLUMNS: readonly Column[] = [
  { key: 'stream', title: 'stream', width: 6, align: 'left', rank: 1, text: (row) => row.stream, style: () => 'quiet' },
  {
    key: 'step',
    title: 'step',
    width: 5,
    align: 'right',
    rank: 0,
    // A step that is still arriving is drawn hollow.
    text: (row) => (row.arriving ? '○' : '') + (row.step === null ? row.stem : String(row.step)),
  },
  { key: 'sample', title: 'sample', width: 6, align: 'right', rank: 0, text: (row) => String(row.sample) },
  { key: 'score', title: 'score', width: 6, align: 'right', rank: 0, text: (row) => scoreText(row.score) },
  { key: 'turns', title: 'turns', width: 5, align: 'right', rank: 3, text: (row) => countOf(row.turns) },
  { key: 'calls', title: 'calls', width: 5, align: 'right', rank: 4, text: (row) => countOf(row.calls) },
  {
    key: 'size',
    title: 'size',
    width: 7,
    align: 'right',
    rank: 5,
    text: (row) => sizeText(row.bytes),
    style: () => 'quiet',
  },
  { key: 'finding', title: '', width: 10, align: 'left', rank: 2, text: findingWord, style: findingStyle },
];

/** Cells that columns take side by side, the cursor's sign before them included. */
export const columnsWidth = (columns: readonly Column[]): number =>
  columns.reduce((sum, column) => sum + column.width + 1, 2);

/** The columns that fit: those of the highest rank leave first. */
export function fitColumns(columns: readonly Column[], width: number): Column[] {
  const kept = [...columns];
  while (kept.length > 1 && columnsWidth(kept) > width) {
    const last = kept.reduce((worst, column) => (column.rank >= worst.rank ? column : worst));
    if (last.rank === 0) break;
    kept.splice(kept.indexOf(last), 1);
  }
  return kept;
}

const cell = (column: Column, text: string): string =>
  column.align === 'right' ? fitRight(text, column.width) : fitLeft(text, column.width);

export function renderListHeader(columns: readonly Column[], theme: Theme): string {
  return styled(theme, 'quiet', `  ${columns.map((column) => cell(column, column.title)).join(' ')}`.trimEnd());
}

export interface RowMarks {
  /** The cursor is on this row. */
  here: boolean;
  /** The list has the keys. */
  focused: boolean;
}

export function renderListRow(row: ListRow, columns: readonly Column[], theme: Theme, marks: RowMarks): string {
  const sign = marks.here ? styled(theme, 'accent', '›') : ' ';
  const cells = columns.map((column) => {
    const style = column.style?.(row) ?? 'plain';
    const text = cell(column, column.text(row));
    if (text.trim() === '') return text;
    if (!marks.here || style === 'error' || style === 'warning') return styled(theme, style, text);
    return styled(theme, marks.focused ? 'strong' : 'plain', text);
  });
  return `${sign} ${cells.join(' ')}`;
}
