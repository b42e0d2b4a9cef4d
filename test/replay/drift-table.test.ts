import { expect, test } from 'vitest';
import { DriftTable, driftReport, type ReplayOutcome } from '../../src/replay/index.ts';
import { reportText } from '../../src/viewer/present/report/lines.ts';

const outcome = (values: Partial<ReplayOutcome>): ReplayOutcome =>
  ({
    name: 'python',
    backend: 'bubblewrap',
    environment: { python: '3.11.2', packages: {} },
    ...values,
  }) as ReplayOutcome;

function table(): DriftTable {
  const table = new DriftTable();
  table.add(outcome({ status: 'same', verdict: 'same' }), 10);
  table.add(outcome({ status: 'drift', verdict: 'flaky', name: 'bash', environment: null }), 2);
  table.add(
    outcome({ status: 'drift', verdict: 'different', environment: { python: '3.11.2', packages: { numpy: '2.0' } } }),
    2,
  );
  table.add(outcome({ status: 'error', verdict: 'infra' }), null);
  return table;
}

test('calls are counted by tool, step, interpreter and environment', () => {
  const values = (name: 'tool' | 'step' | 'interpreter' | 'environment') =>
    table()
      .rows(name)
      .map(({ value, calls, drift }) => [value, calls, drift]);
  expect(values('tool')).toEqual([
    ['python', 3, 1],
    ['bash', 1, 1],
  ]);
  expect(values('step').slice(0, 2)).toEqual([
    ['2', 2, 2],
    ['10', 1, 0],
  ]);
  expect(values('interpreter')).toEqual([
    ['Python 3.11.2', 3, 1],
    ['unknown', 1, 1],
  ]);
  expect(values('environment')).toEqual([
    ['bubblewrap', 3, 1],
    ['bubblewrap, numpy 2.0', 1, 1],
  ]);
});

test('a host that failed is no drift, and the share is of what was judged', () => {
  const [python] = table().rows('tool');
  expect(python).toMatchObject({ same: 1, drift: 1, flaky: 0, infra: 1, error: 0 });
  expect(reportText(driftReport('tool', table().rows('tool')), 100)[1]).toMatch(
    /^python\s+3\s+1\s+1\s+0\s+1\s+0\s+0\s+0\s+50 %$/,
  );
});
