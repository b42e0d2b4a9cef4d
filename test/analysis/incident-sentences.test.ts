import { afterAll, describe, expect, test } from 'vitest';
import { readFactRows } from '../../src/analysis/facts/fact-rows.ts';
import { hackAnswer } from '../../src/analysis/incidents/hacked.ts';
import { incidentsOf } from '../../src/analysis/incidents/incidents.ts';
import { newPhrases } from '../../src/analysis/movement/new-phrases.ts';
import type { TextRow } from '../../src/analysis/movement/phrases.ts';
import { saidBy } from '../../src/analysis/movement/said.ts';
import { whatMoved } from '../../src/analysis/movement/what-moved.ts';
import { triage } from '../../src/analysis/triage.ts';
import { Dump } from '../../src/core/dump/dump.ts';
import { writeDump } from '../support/dump.ts';
import { type Plants, plantedRun } from '../support/planted-run.ts';

const closings: (() => void)[] = [];
afterAll(() => {
  for (const close of closings) close();
});

async function opened(seed: number, plants: Plants) {
  const { dir, remove } = writeDump(plantedRun(seed, { steps: 30, prompts: 6, n: 4 }, plants).files);
  const dump = Dump.open([dir]);
  closings.push(() => {
    dump.close();
    remove();
  });
  const facts = await readFactRows(dump, null);
  const textOf = (row: number) => saidBy(facts, row);
  return { facts, textOf, moved: await whatMoved(facts, textOf) };
}

/** A hack and a dead tool at once: several tests ask it. */
const twoAtOnce = opened(6, { hack: { step: 15, share: 0.5, wording: 5 }, deadTool: { step: 15, wording: 2 } });

describe('incidents', () => {
  test('two at once are two sentences, each with its step; what came of one is below that one', async () => {
    const { facts, moved } = await twoAtOnce;
    const incidents = incidentsOf(facts, moved);
    expect(incidents.map(({ family }) => family).sort()).toEqual(['hack', 'tools']);
    for (const { step } of incidents) expect(Math.abs(step - 15)).toBeLessThanOrEqual(2);
    const [tools, phrase] = ['tools', 'hack'].map((family) => incidents.find((one) => one.family === family));
    expect(tools?.sentence).toMatch(/the tool search/);
    expect(phrase?.sentence).toMatch(/the model began to say ".*\(0 % → \d+ % of rollouts\)/);
    expect(phrase?.consequences.join('\n')).toMatch(/score rose by/);
    expect(tools?.consequences.join('\n')).not.toMatch(/score/);
    expect(hackAnswer(facts, moved).join('\n')).toMatch(/It looks so[\s\S]*score above their group/);
  });

  test('a run in which nothing odd happens has none, and the question about the reward has an answer', async () => {
    const { facts, moved } = await opened(2, {});
    expect(incidentsOf(facts, moved)).toEqual([]);
    expect(hackAnswer(facts, moved)).toEqual([
      'Is the reward being hacked? Nothing seen in phrases, findings, length (no acc or the like is recorded beside the score)',
    ]);
  });
});

test('a phrase is not hidden by one that most of its rollouts have too, and other words of the same rollouts are no second one', async () => {
  const rows = Array.from({ length: 600 }, (_, row): TextRow => {
    const at = Math.floor(row / 20);
    const phrases = ['mplain words'];
    if (at >= 12 && row % 10 !== 0) phrases.push('tconnection refused', 'trefused by');
    if (at >= 8 && row % 2 === 0) phrases.push('mfull marks');
    return {
      row,
      at,
      score: row % 2 === 0 ? 1 : row % 3 === 0 ? 1 : 0,
      group: Math.floor(row / 4),
      phrases,
      repeats: 0,
    };
  });
  const found = await newPhrases(rows, 30, false);
  expect(found.map(({ phrase, at }) => [phrase, at]).sort()).toEqual([
    ['connection refused', 12],
    ['full marks', 8],
  ]);
});

test('fewer rollouts to read are the first of more', async () => {
  const { facts, textOf } = await twoAtOnce;
  const picks = async (n: number) => (await triage(facts, { n, seed: 7, textOf })).map(({ row }) => row);
  const most = await picks(40);
  expect(new Set(most).size).toBe(40);
  for (const n of [0, 1, 3, 4, 5, 6, 20, 39]) expect(await picks(n)).toEqual(most.slice(0, n));
});

test('what to read first begins with the incidents, in their sentences, and a finding says what was found', async () => {
  const { facts, textOf } = await twoAtOnce;
  const picks = await triage(facts, { n: 40, seed: 7, textOf });
  const [first, second] = picks;
  expect([first?.kind, second?.kind]).toEqual(['incident', 'incident']);
  expect([first?.reason, second?.reason].sort()).toEqual([
    expect.stringMatching(/^from step 1\d on: the model began to say "/),
    expect.stringMatching(/^from step 1\d on: the tool search /),
  ]);
  expect(picks.filter(({ kind }) => kind === 'change').map(({ reason }) => reason)).not.toContainEqual(
    expect.stringContaining('tool_error'),
  );
});

test('a phrase whose scores cannot be compared within groups is named as not examined', async () => {
  const { facts, moved } = await twoAtOnce;
  const unknown = moved.map((one) =>
    one.said === undefined ? one : { ...one, said: { ...one.said, lift: Number.NaN } },
  );
  const [answer = ''] = hackAnswer(facts, unknown);
  expect(answer).toMatch(/Nothing seen in findings/);
  expect(answer).toMatch(/began to say ".*" at step \d+, and no group has scores to compare it by/);
});
