import { column } from '../analysis/report/columns.ts';
import type { Report, ReportColumn } from '../analysis/report/report.ts';
import { keysIn } from '../core/json/value.ts';
import type { ReplayOutcome } from './outcome.ts';

/** Outcomes of calls that share a property: a tool, a step, an interpreter, an environment. */
export interface DriftRow {
  value: string;
  calls: number;
  same: number;
  drift: number;
  /** Calls with drift whose result changes each time. */
  flaky: number;
  infra: number;
  unknown: number;
  skipped: number;
  error: number;
}

/** The counts of a row. */
type CountedOutcome = Pick<ReplayOutcome, 'name' | 'status' | 'verdict' | 'backend' | 'environment'>;

export const TABLES = ['tool', 'step', 'interpreter', 'environment'] as const;
export type TableName = (typeof TABLES)[number];

/** Counts outcomes by a shared property. */
export class DriftTable {
  readonly #tables = new Map<TableName, Map<string, DriftRow>>(TABLES.map((name) => [name, new Map()]));

  /** @param step of the rollout; null if its record names none */
  add(outcome: CountedOutcome, step: number | null): void {
    const { status, verdict } = outcome;
    for (const [name, rows] of this.#tables) {
      const value = tableKey(name, outcome, step);
      const row = rows.get(value) ?? { value, ...EMPTY };
      rows.set(value, row);
      row.calls++;
      if (verdict === 'infra') row.infra++;
      else row[status]++;
      if (verdict === 'flaky') row.flaky++;
    }
  }

  /** Steps in order; everything else with the most drift first. */
  rows(name: TableName): DriftRow[] {
    const rows = [...this.#tables.get(name)!.values()];
    if (name === 'step') return rows.sort((a, b) => Number(a.value) - Number(b.value));
    return rows.sort((a, b) => b.drift - a.drift || b.calls - a.calls);
  }
}

const EMPTY = { calls: 0, same: 0, drift: 0, flaky: 0, infra: 0, unknown: 0, skipped: 0, error: 0 };

function tableKey(name: TableName, outcome: CountedOutcome, step: number | null): string {
  const { backend, environment } = outcome;
  if (name === 'tool') return outcome.name ?? 'none';
  if (name === 'step') return step === null ? 'none' : String(step);
  if (name === 'interpreter') return environment?.python ? `Python ${environment.python}` : 'unknown';
  const packages = Object.entries(environment?.packages ?? {}).map(([module, version]) => `${module} ${version}`);
  return [backend ?? 'nowhere', ...packages.sort()].join(', ');
}

const COUNTS = {
  calls: 'recorded calls',
  same: 'calls with the recorded result',
  drift: 'calls with another result',
  flaky: 'of those, calls whose result changes each time',
  infra: 'calls that failed for a reason of this machine',
  unknown: 'calls whose result cannot be compared',
  skipped: 'calls that were not run',
  error: 'calls that could not be run',
} as const satisfies Partial<Record<keyof DriftRow, string>>;

/** The outcomes of calls by a property that they share. */
export const driftReport = (name: TableName, rows: readonly DriftRow[]): Report<DriftRow> => ({
  title: `drift by ${name}`,
  columns: [
    column('table', 'by', 'text', 'property that the calls share', () => name, { hidesFromPeople: true }),
    column('value', name, 'text', 'its value', ({ value }) => value, { width: 24, identifies: true }),
    ...keysIn(COUNTS).map(
      (key): ReportColumn<DriftRow> => ({
        key,
        title: key,
        type: 'count',
        meaning: COUNTS[key],
        value: (row) => row[key],
      }),
    ),
    {
      ...{ key: 'share.drift', title: 'share', type: 'share' },
      meaning: 'drift among the calls that were the same or drifted; the outcome of the others is unknown',
      value: ({ same, drift }) => (same + drift === 0 ? null : drift / (same + drift)),
    },
  ],
  rows,
  empty: 'no calls',
});
