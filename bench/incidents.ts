import { readFactRows } from '../src/analysis/facts/fact-rows.ts';
import { type Incident, incidentsOf } from '../src/analysis/incidents/incidents.ts';
import { saidBy } from '../src/analysis/movement/said.ts';
import { whatMoved } from '../src/analysis/movement/what-moved.ts';
import { Dump } from '../src/core/dump/dump.ts';
import { drawnAgentRun } from '../test/support/drawn-agent-run.ts';
import { drawnRun, drawnTroubles } from '../test/support/drawn-run.ts';
import { writeDump } from '../test/support/dump.ts';

const argument = (name: string): number | null => {
  const found = process.argv.find((one) => one.startsWith(`--${name}=`));
  return found === undefined ? null : Number(found.slice(name.length + 3));
};

/** A sentence has the right step if it is at most so many written steps off. */
const NEAR = 2;
/** Rows of the page that a reader looks at first. */
const FIRST = 5;

/** Draws new runs each time (`--seed=` repeats them; `--agents`: of other worlds) and counts the troubles whose sentence has the right cause and step, and sentences about clean runs. */
export async function run(): Promise<void> {
  const seed = argument('seed') ?? Math.floor(Math.random() * 1e6);
  const runs = argument('runs') ?? 16;
  const isAgent = process.argv.includes('--agents');
  let seconds = 0;
  const tally = { troubles: 0, named: 0, dated: 0, clean: 0, silent: 0, more: 0 };
  for (let i = 0; i < runs; i++) {
    const own = seed + i;
    const start = performance.now();
    const { files, troubles, spacing, shape } = isAgent
      ? drawnAgentRun(own, i % 4)
      : drawnRun(own, drawnTroubles(own, i % 4));
    const found = await incidentsIn(files);
    seconds += (performance.now() - start) / 1000;
    const first = found.slice(0, FIRST);
    const lost: string[] = [];
    let known = 0;
    for (const { trouble, step, sign, how } of troubles) {
      const named = first.filter(({ sentence }) => sign.test(sentence));
      const isDated = named.some((one) => Math.abs(one.step - step) <= NEAR * spacing);
      tally.troubles++;
      tally.named += Number(named.length > 0);
      tally.dated += Number(isDated);
      known += Number(named.length > 0);
      if (!isDated) lost.push(`${named.length === 0 ? 'not named' : 'another step'}: ${trouble} at ${step} (${how})`);
    }
    if (troubles.length === 0) {
      tally.clean++;
      tally.silent += Number(found.length === 0);
    }
    tally.more += found.length - known;
    if (lost.length === 0 && found.length <= troubles.length) continue;
    console.log(
      `seed ${own}: ${shape}\n  planted ${troubles.map(({ trouble, step }) => `${trouble} at ${step}`).join(', ')}`,
    );
    for (const line of lost) console.log(`  ${line}`);
    for (const { step, sentence } of found) console.log(`    ${step}: ${sentence}`);
  }
  const { troubles, named, dated, clean, silent, more } = tally;
  console.log(
    `seed ${seed}: ${troubles} troubles, named ${named}, with the right step ${dated}; clean runs ${clean}, silent ${silent}; other sentences ${more}; ${(seconds / runs).toFixed(1)} s a run`,
  );
}

async function incidentsIn(files: Parameters<typeof writeDump>[0]): Promise<Incident[]> {
  const { dir, remove } = writeDump(files);
  const dump = Dump.open([dir]);
  try {
    const facts = await readFactRows(dump, null);
    return incidentsOf(facts, await whatMoved(facts, (row) => saidBy(facts, row)));
  } finally {
    dump.close();
    remove();
  }
}
