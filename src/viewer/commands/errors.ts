import { Command } from 'commander';
import { troublesOf } from '../../analysis/errors/troubles.ts';
import { errorsReport } from '../../analysis/report/errors.ts';
import { type FactsFlags, withFacts, withTable } from './facts-of.ts';
import { DONE, run } from './output.ts';
import { printReport } from './print-report.ts';

export const errorsCommand = (): Command =>
  withTable(
    new Command('errors')
      .description('count tool errors by tool and step, with their kind, who caused them, and the number of calls')
      .argument('<paths...>', 'directories, files or patterns of dumps')
      .option('--no-step', 'count all steps together'),
  ).action((paths: string[], flags: FactsFlags & { step: boolean }) =>
    run(() =>
      withFacts(paths, flags, async (facts) => {
        await printReport(errorsReport(await troublesOf(facts, { byStep: flags.step }), flags.step), flags);
        return DONE;
      }),
    ),
  );
