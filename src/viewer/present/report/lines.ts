import { type ColumnType, endsRight, plainValue, type Report, shownColumns } from '../../../analysis/report/report.ts';
import type { Printable } from '../../../core/json/print.ts';
import { printJson } from '../../../core/json/print.ts';
import { csvCell, textTable } from '../text-table.ts';
import { cellText } from './cell-text.ts';

/** A table for people. @param width of the terminal in cells; infinite for a file */
export function reportText<Row>(report: Report<Row>, width: number): string[] {
  if (report.rows.length === 0) return [];
  const columns = shownColumns(report);
  const lines = [
    columns.map(({ title }) => title),
    ...report.rows.map((row) => columns.map(({ type, value }) => cellText(value(row), type))),
  ];
  const columnType = (column: number): ColumnType => columns[column]?.type ?? 'text';
  // The end of a locator tells rollouts of one dump apart.
  const keepsEnd = (column: number): boolean => columnType(column) === 'rollout' || columnType(column) === 'prompt';
  return textTable(lines, (column) => endsRight({ type: columnType(column) }), width, keepsEnd);
}

/** Comma-separated values with a header; numbers have all their digits. */
export function* reportCsv<Row>({ columns, rows }: Report<Row>): Generator<string> {
  const line = (cells: readonly string[]): string => cells.map(csvCell).join(',');
  yield line(columns.map(({ title }) => title));
  for (const row of rows)
    yield line(
      columns.map(({ value }) => {
        const plain = plainValue(value(row));
        return plain === null ? '' : typeof plain === 'object' ? plain.join(' ') : String(plain);
      }),
    );
}

/** One JSON object per row. */
export function* reportJson<Row>(report: Report<Row>): Generator<string> {
  for (const row of report.rows) yield printJson(reportRow(report, row));
}

/** A column with a dot in its key is part of a detail, which already contains it. */
function reportRow<Row>({ columns, details }: Report<Row>, row: Row): { [key: string]: Printable } {
  const json: { [key: string]: Printable } = {};
  for (const { key, value } of columns)
    if (!key.includes('.')) {
      const plain = plainValue(value(row));
      json[key] = typeof plain === 'object' && plain !== null ? [...plain] : plain;
    }
  return { ...json, ...details?.(row) };
}
