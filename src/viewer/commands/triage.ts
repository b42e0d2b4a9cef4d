import { Command } from 'commander';
import { saidBy } from '../../analysis/movement/said.ts';
import { triageReport } from '../../analysis/report/triage.ts';
import { triage } from '../../analysis/triage.ts';
import { countOf } from './count.ts';
import { type FactsFlags, readingTexts, withFacts, withTable } from './facts-of.ts';
import { DONE, run } from './output.ts';
import { printReport } from './print-report.ts';

interface TriageFlags extends FactsFlags {
  n: number;
  seed: number;
}

export const triageCommand = (): Command =>
  withTable(
    new Command('triage')
      .description('choose rollouts to read, each with a reason: changes, gaps, findings, extremes, and a random fifth')
      .argument('<paths...>', 'directories, files or patterns of dumps')
      .option('--n <n>', 'number of rollouts', countOf, 50)
      .option('--seed <n>', 'seed of the random choice', countOf, 1),
  ).action((paths: string[], flags: TriageFlags) =>
    run(() =>
      withFacts(paths, flags, async (facts) => {
        const picks = await triage(facts, { ...flags, rest: readingTexts, textOf: (row) => saidBy(facts, row) });
        await printReport(triageReport(facts, picks), flags);
        return DONE;
      }),
    ),
  );
