import type { Printable } from '../../core/json/print.ts';
import { FACTS, mostFailed } from '../../core/rollout/facts.ts';
import type { Finding } from '../../core/rollout/finding.ts';
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
  'error.tool',
  'error',
];

/** The number of cells in a line. */
export const COLUMNS = KEYS.length;

export const csvHead = (): string => `${KEYS.join(',')}\n`;

/** A row of `ls --json` as a CSV line; findings become their names, separated by spaces. */
export const csvLine = (row: { [key: string]: Printable }): string =>
  `${csvCells(KEYS.flatMap((key) => (key === 'error.tool' ? [] : key === 'findings' ? findingCells(row[key]) : [row[key]])))}\n`;

export const csvCells = (values: readonly Printable[]): string => values.map(csvText).join(',');

/** The names of the findings, and the tool of the failed calls that `error.kind` names. */
export function findingCells(findings: Printable): [names: string, tool: string | null] {
  // As findingJson wrote them.
  const known = Array.isArray(findings) ? (findings as readonly Pick<Finding, 'check' | 'error'>[]) : [];
  return [[...new Set(known.map(({ check }) => check))].join(' '), mostFailed({ findings: known })?.tool ?? null];
}

export function csvText(value: Printable): string {
  if (value === null || value === undefined) return '';
  // Nothing in them needs quotes.
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return String(value);
  return csvCell(String(value));
}
