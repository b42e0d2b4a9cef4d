import type { CellValue, ReportColumn } from './report.ts';

type More<Row> = Partial<Omit<ReportColumn<Row>, 'key' | 'title' | 'type' | 'meaning' | 'value'>>;

export const column = <Row>(
  key: string,
  title: string,
  type: ReportColumn<Row>['type'],
  meaning: string,
  value: (row: Row) => CellValue,
  more: More<Row> = {},
): ReportColumn<Row> => ({ key, title, type, meaning, value, ...more });

/** Shows a member of the rows under its name. */
export const ownColumn = <Key extends string>(
  key: Key,
  type: ReportColumn<never>['type'],
  meaning: string,
  more: More<never> = {},
): ReportColumn<Readonly<Record<Key, CellValue>>> => column(key, key, type, meaning, (row) => row[key], more);

/** A directory of steps, such as train or val. */
export const streamColumn = ownColumn('stream', 'text', 'directory of steps, such as train or val', {
  identifies: true,
  hidesIfSame: true,
  width: 8,
});

export const stepColumn = ownColumn('step', 'step', 'training step', { identifies: true });
