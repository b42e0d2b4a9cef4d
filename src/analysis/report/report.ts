import type { Place } from '../../core/dump/dump.ts';
import type { Printable } from '../../core/json/print.ts';

/** The kind of value in a column. Printers use it to choose alignment, width and digits. */
export type ColumnType =
  | 'text'
  | 'number'
  | 'count'
  /** From 0 to 1; shown to people as percent. */
  | 'share'
  | 'score'
  /** A mean, or a value measured like one: always shown with decimals. */
  | 'mean'
  /** A difference of two means, with sign. */
  | 'change'
  /** A p value. */
  | 'chance'
  /** A recomputed advantage: two decimals, with sign. */
  | 'advantage'
  | 'step'
  /** The number of a turn, shown as t4. */
  | 'turn'
  | 'seconds'
  /** A place in a dump: a locator. */
  | 'rollout'
  /** A rollout that represents its prompt: its locator, or the words of the prompt if there is room for them. */
  | 'prompt'
  /** A number for each step. */
  | 'curve'
  /** A share of the largest cell, drawn as a bar. */
  | 'bar'
  /** So many out of so many; CSV and JSON have the first number only. */
  | 'tally';

export interface Tally {
  count: number;
  of: number;
}

/** A rollout, or one of its turns. */
export interface RolloutPlace extends Place {
  turn?: number | null;
}

/** NaN means unknown, like null. */
export type CellValue = string | number | boolean | null | readonly number[] | RolloutPlace | Tally;

export interface ReportColumn<Row> {
  /** The key in JSON. `change.step` is the key `step` within the detail `change`. */
  key: string;
  title: string;
  type: ColumnType;
  /** The unit, as people write it after the number. */
  unit?: string;
  /** A phrase that explains the title. */
  meaning: string;
  /** Identifies the row: such columns come first and stay in view. */
  identifies?: true;
  /** Left out of tables for people if all rows agree. */
  hidesIfSame?: true;
  /** Only in CSV and JSON. */
  hidesFromPeople?: true;
  /** Takes the width that the other columns leave. */
  grows?: true;
  /** The usual width of its text, in cells. */
  width?: number;
  value(row: Row): CellValue;
}

/**
 * The result of an analysis, the same for every surface: screen, text, CSV, JSON and HTML print the same columns and
 * words.
 */
export interface Report<Row> {
  title: string;
  columns: readonly ReportColumn<Row>[];
  rows: readonly Row[];
  /** Parts of a row that only fit into JSON. */
  details?(row: Row): { [key: string]: Printable };
  /** Sentences about all rows. */
  notes?: readonly string[];
  /** Sentences about rollouts left out of all rows, and why. */
  leftOut?: readonly string[];
  /** The sentence shown if there are no rows. */
  empty: string;
}

export const sentencesOf = <Row>({ notes = [], leftOut = [] }: Report<Row>): string[] => [...notes, ...leftOut];

export const isPlace = (value: CellValue): value is RolloutPlace =>
  typeof value === 'object' && value !== null && 'file' in value;

export const isTally = (value: CellValue): value is Tally =>
  typeof value === 'object' && value !== null && 'of' in value;

export const locatorText = ({ file, record, turn }: RolloutPlace): string =>
  `${file.locator(record)}${turn === null || turn === undefined ? '' : `#t${turn}`}`;

/** A cell as JSON, also used as the sort key of its column. */
export function plainValue(value: CellValue): string | number | boolean | null | readonly number[] {
  if (isPlace(value)) return locatorText(value);
  if (isTally(value)) return value.count;
  return typeof value === 'number' && Number.isNaN(value) ? null : value;
}

/** Columns for people. */
export const shownColumns = <Row>({ columns, rows }: Report<Row>): readonly ReportColumn<Row>[] =>
  columns.filter(
    ({ hidesFromPeople, hidesIfSame, value }) =>
      hidesFromPeople !== true && (hidesIfSame !== true || rows.length === 0 || varies(rows, value)),
  );

function varies<Row>(rows: readonly Row[], value: (row: Row) => CellValue): boolean {
  const [first] = rows;
  if (first === undefined) return false;
  const known = plainValue(value(first));
  return rows.some((row) => plainValue(value(row)) !== known);
}

const isTextType = (type: ColumnType): boolean =>
  type === 'text' || type === 'rollout' || type === 'prompt' || type === 'curve' || type === 'bar';

/** Numbers are right-aligned. */
export const endsRight = ({ type }: Pick<ReportColumn<never>, 'type'>): boolean => !isTextType(type);
