import { Command } from 'commander';
import { PASS } from '../../analysis/prompts/group-stats.ts';
import { groupTable } from '../../analysis/prompts/group-table.ts';
import { promptMatrix } from '../../analysis/prompts/matrix.ts';
import { matrixReport } from '../../analysis/report/matrix.ts';
import { countOf } from './count.ts';
import { type FactsFlags, withFacts, withTable } from './facts-of.ts';
import { scoreOf } from './groups.ts';
import { ANSWER_IS_NO, DONE, run } from './output.ts';
import { printReport } from './print-report.ts';

interface MatrixFlags extends FactsFlags {
  pass: number;
  limit?: number;
}

export const matrixCommand = (): Command =>
  withTable(
    new Command('matrix')
      .description('mean score of each prompt in each step: when it was learned or forgotten; largest swing first')
      .argument('<paths...>', 'directories, files or patterns of dumps')
      .option('--pass <score>', 'a prompt with at least this mean counts as solved', scoreOf, PASS)
      .option('--limit <n>', 'at most this many prompts', countOf),
  ).action((paths: string[], flags: MatrixFlags) =>
    run(() =>
      withFacts(paths, flags, async (facts) => {
        const { steps, rows } = promptMatrix(groupTable(facts, flags.pass), flags.pass);
        await printReport(matrixReport(facts, { steps, rows: rows.slice(0, flags.limit) }), flags);
        return rows.length === 0 ? ANSWER_IS_NO : DONE;
      }),
    ),
  );
