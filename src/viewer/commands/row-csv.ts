import type { Printable } from '../../core/json/print.ts';
import { FACTS } from '../../core/rollout/facts.ts';
import { csvCell } from '../present/text-table.ts';

const KEYS = [
  'locator',
  'stream',
  'step',
  'sample',
  'score',
  ...FACTS.map(({ name }) => name),
  'group',
  'bytes',
  'findings',
  'error',
];

/** The number of cells in a line. */
export const COLUMNS = KEYS.length;

export const csvHead = (): string => `${KEYS.join(',')}\n`;

/** A row of `ls --json` as a CSV line; findings become their names, separated by spaces. */
export const csvLine = (row: { [key: string]: Printable }): string =>
  `${csvCells(KEYS.map((key) => (key === 'findings' ? namesOf(row[key]) : row[key])))}\n`;

export const csvCells = (values: readonly Printable[]): string =>
  values.map((value) => csvCell(csvText(value))).join(',');

export const namesOf = (findings: Printable): string =>
  Array.isArray(findings) ? [...new Set(findings.map((one) => (one as { check: string }).check))].join(' ') : '';

const csvText = (value: Printable): string => (value === null || value === undefined ? '' : String(value));
