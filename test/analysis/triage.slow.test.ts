// Runs with something hidden in them: triage shows it, whatever words it has; a run without shows next to nothing.
import { describe, expect, test } from 'vitest';
import { readFactRows } from '../../src/analysis/facts/fact-rows.ts';
import { saidBy } from '../../src/analysis/movement/said.ts';
import { whatMoved } from '../../src/analysis/movement/what-moved.ts';
import { triage } from '../../src/analysis/triage.ts';
import { Dump } from '../../src/core/dump/dump.ts';
import { writeDump } from '../support/dump.ts';
import { numbersFrom, type Plants, plantedRun, type RunShape } from '../support/planted-run.ts';
import { countOf } from '../support/tier.ts';

const SEEDS = Array.from({ length: countOf(4, 20) }, (_, i) => i + 1);

/** Opens the run, and gives the picks of its triage by what was planted in them, and its alarms. */
async function looked(seed: number, shape: RunShape, plants: Plants) {
  const { files, truth } = plantedRun(seed, shape, plants);
  const { dir, remove } = writeDump(files);
  const dump = Dump.open([dir]);
  try {
    const facts = await readFactRows(dump, null);
    const picks = await triage(facts, { n: 50, seed: 1, textOf: (row) => saidBy(facts, row) });
    const nameOf = (row: number): string => {
      const { file, record } = facts.place(row);
      return `${file.stem}:${record + 1}`;
    };
    const found = Object.fromEntries(
      Object.entries(truth).map(([kind, rows]) => [kind, picks.filter(({ row }) => rows.has(nameOf(row))).length]),
    );
    const alarms = (await whatMoved(facts, (row) => saidBy(facts, row))).filter(({ isAlarm }) => isAlarm);
    return { picks, found, alarms, truth };
  } finally {
    dump.close();
    remove();
  }
}

describe('planted runs', () => {
  test.each(SEEDS)('of seed %i show all four among 50', async (seed) => {
    const next = numbersFrom(seed + 1000);
    const plants: Plants = {
      hack: { step: 40, share: 0.1 + next() * 0.5, wording: seed },
      loop: { rollouts: 1 + Math.floor(next() * 6), kind: seed },
      deadTool: { step: 60, wording: seed },
      deadGroups: 0.3,
    };
    const { picks, found } = await looked(seed, { steps: 90, prompts: 3, n: 4 }, plants);
    expect(picks).toHaveLength(50);
    expect(new Set(picks.map(({ row }) => row)).size).toBe(50);
    expect(Object.entries(found).filter(([, count]) => count === 0)).toEqual([]);
  });
});

describe('a clean run', () => {
  test.each(SEEDS)('of seed %i gives at most two alarms', async (seed) => {
    const next = numbersFrom(seed + 2000);
    const { alarms } = await looked(
      seed,
      { steps: 80, prompts: 3, n: 4, learning: [0.1 + next() * 0.4, 0.5 + next() * 0.4] },
      {},
    );
    expect(alarms.map(({ name }) => name).length).toBeLessThanOrEqual(2);
  });
});
