// Calls whose truth follows from how they were built; `npm run bench replay` makes thousands of them.
import { afterAll, expect, test } from 'vitest';
import { type ReplayCase, replayCases } from '../../bench/support/replay-cases.ts';
import { planCalls, ReplayTools, replayMany } from '../../src/replay/index.ts';
import { backend, closeBackend, rowsOf, SANDBOX } from './fixture.ts';

afterAll(closeBackend);

test.skipIf(SANDBOX !== 'bubblewrap')(
  'a sample of built calls gets the verdicts that it was built for (skipped without bubblewrap)',
  async () => {
    const cases = replayCases(30, 7);
    const { rows } = await rowsOf(cases.map(({ line }) => line));
    const tools = new ReplayTools();
    const rollouts = rows.map((row) => planCalls(row, { tools }));
    const wrong: string[] = [];
    let at = 0;
    for await (const { outcome } of replayMany({ rollouts, tools, backend: await backend(), repeat: 2 })) {
      const { truth, about } = cases[at++] as ReplayCase;
      const expected = truth === 'same' ? 'same' : 'drift';
      if (outcome.status !== expected) wrong.push(`${about}: ${outcome.status} (${outcome.reason})`);
    }
    expect(wrong).toEqual([]);
    expect(new Set(cases.map(({ truth }) => truth)).size).toBe(3);
  },
);

test('the same seed makes the same cases', () => {
  expect(replayCases(20, 3)).toEqual(replayCases(20, 3));
  expect(replayCases(20, 3)).not.toEqual(replayCases(20, 4));
});
