import { Command } from 'commander';
import { bucketsOf } from '../../analysis/charts/buckets.ts';
import { troublesOf } from '../../analysis/errors/troubles.ts';
import type { FactRows } from '../../analysis/facts/fact-rows.ts';
import { FIELD_NAMES } from '../../analysis/query/fields.ts';
import { toolsReport } from '../../analysis/report/errors.ts';
import {
  curvesReport,
  histogramReport,
  spreadReport,
  summaryReport,
  validationReport,
} from '../../analysis/report/stats.ts';
import { UsageError } from '../../core/dump/paths.ts';
import { nearestWord } from '../../core/text/nearest.ts';
import { type FactsFlags, withFacts, withTable } from './facts-of.ts';
import { DONE, run } from './output.ts';
import { printReport } from './print-report.ts';
import { sortOf } from './query-options.ts';

interface StatsOptions extends FactsFlags {
  by: string;
  of?: string;
  histogram?: boolean;
  best?: boolean;
  curves?: boolean;
}

export const statsCommand = (): Command =>
  withTable(
    new Command('stats')
      .description('summarise rollouts by step, or by another key: scores, lengths, calls, findings')
      .argument('<paths...>', 'directories, files or patterns of dumps')
      .option('--by <key>', 'one row per value of this key: step, stream, ended, tool, or a key of the records', 'step')
      .option('--of <names>', 'only these numbers, with their distribution: score,turns,reward.extra …')
      .option('--histogram', 'with --of: print a histogram, each bar with its filter')
      .option('--curves', 'print every number that varies, with its means by step')
      .option('--best', 'print mean@N, best@N, worst@N and maj@N (by pred) over prompts, bootstrapped as in verl'),
  ).action((paths: string[], options: StatsOptions) => run(() => stats(paths, options)));

/** A row for each stream and value. */
export async function stats(paths: readonly string[], options: StatsOptions): Promise<number> {
  const names = columnNames(options);
  if (options.by === 'tool') return byTool(paths, options);
  const order = sortOf(options.by, '--by');
  if (order === null) throw new UsageError('--by needs a key');
  return withFacts(paths, options, async (facts) => {
    if (options.curves) await printReport(await curvesReport(facts), options);
    else {
      const buckets = bucketsOf(facts, order.key, order.descending);
      // Rollouts without a step are one row; a key that nobody knows is probably a typo.
      if (!FIELD_NAMES.includes(order.key) && buckets.every(({ value }) => value === null))
        throw unknownName('--by', order.key, facts);
      for (const name of names ?? [])
        if (facts.numbers(name).every(Number.isNaN)) throw unknownName('--of', name, facts);
      if (options.best) await printReport(validationReport(facts, names ?? ['score'], order.key, buckets), options);
      else if (names === null) await printReport(summaryReport(facts, order.key, order.descending), options);
      else if (options.histogram) await printReport(histogramReport(facts, names), options);
      else await printReport(spreadReport(facts, names, order.key, buckets), options);
    }
    return DONE;
  });
}

const byTool = (paths: readonly string[], options: StatsOptions): Promise<number> =>
  withFacts(paths, options, async (facts) => {
    await printReport(toolsReport((await troublesOf(facts)).tools), options);
    return DONE;
  });

/** @throws UsageError for conflicting flags */
function columnNames({ by, of, histogram, best, curves }: StatsOptions): readonly string[] | null {
  if (by === 'tool' && (of !== undefined || histogram || best || curves))
    throw new UsageError('--by tool counts calls; it takes no --of, --histogram, --curves or --best');
  if (of !== undefined) return of.split(',').flatMap((name) => sortOf(name.trim(), '--of')?.key ?? []);
  if (histogram) throw new UsageError('--histogram needs a number; try --of score');
  return null;
}

/** No rollout has the name: perhaps a typo. */
function unknownName(option: string, name: string, facts: FactRows): UsageError {
  const names = facts.numberNames;
  const near = FIELD_NAMES.includes(name)
    ? null
    : nearestWord(name, [...names, ...FIELD_NAMES], (one) =>
        Math.min(2, Math.floor(Math.min(one.length, name.length) / 3)),
      );
  const hint = near === null ? `numbers here: ${names.join(', ')}` : `did you mean ${near}?`;
  return new UsageError(`${option}: no rollout here has ${name}; ${hint}`);
}
