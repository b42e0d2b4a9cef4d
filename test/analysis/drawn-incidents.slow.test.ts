import { afterEach, expect, test } from 'vitest';
import { readFactRows } from '../../src/analysis/facts/fact-rows.ts';
import { incidentsOf } from '../../src/analysis/incidents/incidents.ts';
import { saidBy } from '../../src/analysis/movement/said.ts';
import { whatMoved } from '../../src/analysis/movement/what-moved.ts';
import { Dump } from '../../src/core/dump/dump.ts';
import { drawnRun, type Trouble } from '../support/drawn-run.ts';
import { writeDump } from '../support/dump.ts';
import { coreOf } from '../support/tier.ts';

let close = () => {};
afterEach(() => close());

const RUNS: readonly (readonly [seed: number, troubles: readonly Trouble[]])[] = [
  [41, ['sudden hack', 'dead tool']],
  [42, ['growing hack', 'other language', 'length limit']],
  [43, ['growing loops', 'slow tool']],
  [44, ['dead groups', 'mixed script']],
  [45, ['repeated text', 'slow cut', 'sudden hack']],
  [46, ['sudden loops']],
  // Its results become empty while another tool has errors.
  [1049, ['dead tool']],
  [47, []],
  [48, []],
];

const CORE = [42, 43, 45, 47];

test.each(coreOf(RUNS, ([seed]) => CORE.includes(seed)))(
  'run %i: %j, each a sentence among the first five with its step',
  async (seed, wanted) => {
    const { files, troubles } = drawnRun(seed, wanted);
    const { dir, remove } = writeDump(files);
    const dump = Dump.open([dir]);
    close = () => {
      dump.close();
      remove();
    };
    const facts = await readFactRows(dump, null);
    const found = incidentsOf(facts, await whatMoved(facts, (row) => saidBy(facts, row)));
    const said = found.map(({ step, sentence }) => `${step}: ${sentence}`);
    if (wanted.length === 0) expect(said).toEqual([]);
    for (const { trouble, step, sign } of troubles)
      expect(
        // The first rollouts of a slow growth are few.
        found
          .slice(0, 5)
          .some(
            (one) => sign.test(one.sentence) && Math.abs(one.step - step) <= (trouble.startsWith('growing') ? 4 : 2),
          ),
        `${trouble} at ${step} in ${JSON.stringify(said, null, 1)}`,
      ).toBe(true);
  },
);
