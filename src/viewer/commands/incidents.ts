import { Command } from 'commander';
import { saidBy } from '../../analysis/movement/said.ts';
import { whatMoved } from '../../analysis/movement/what-moved.ts';
import { incidentsReport } from '../../analysis/report/incidents.ts';
import { type FactsFlags, readingTexts, withFacts, withTable } from './facts-of.ts';
import { DONE, run } from './output.ts';
import { printReport } from './print-report.ts';

export const incidentsCommand = (): Command =>
  withTable(
    new Command('incidents')
      .description(
        'list what happened during the run, a sentence each: failing tools, new phrases, loops; is the reward hacked?',
      )
      .argument('<paths...>', 'directories, files or patterns of dumps'),
  ).action((paths: string[], flags: FactsFlags) =>
    run(() =>
      withFacts(paths, flags, async (facts) => {
        const moved = await whatMoved(facts, (row) => saidBy(facts, row), readingTexts);
        // In JSON, consequences are nested in their incident.
        await printReport(
          incidentsReport(facts, moved, () => flags.json !== true),
          flags,
        );
        return DONE;
      }),
    ),
  );
