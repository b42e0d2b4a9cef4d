import { Command } from 'commander';
import { saidBy } from '../../analysis/movement/said.ts';
import { whatMoved } from '../../analysis/movement/what-moved.ts';
import { movementReport } from '../../analysis/report/movement.ts';
import { type FactsFlags, readingTexts, withFacts, withTable } from './facts-of.ts';
import { DONE, run, say } from './output.ts';
import { printReport } from './print-report.ts';

export const movementCommand = (): Command =>
  withTable(
    new Command('movement')
      .description('list the numbers and phrases that changed, with their jumps and their correlation with the score')
      .argument('<paths...>', 'directories, files or patterns of dumps'),
  ).action((paths: string[], flags: FactsFlags) =>
    run(() =>
      withFacts(paths, flags, async (facts) => {
        const report = movementReport(facts, await whatMoved(facts, (row) => saidBy(facts, row), readingTexts));
        await printReport(report, flags);
        say(report.title);
        return DONE;
      }),
    ),
  );
