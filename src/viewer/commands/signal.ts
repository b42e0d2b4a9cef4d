import { Command } from 'commander';
import { layWhole } from '../../analysis/facts/fact-rows.ts';
import { sentencesOf } from '../../analysis/report/report.ts';
import { fewOfEach, type SignalOfStep, signalJson, signalReport } from '../../analysis/report/signal.ts';
import { lessonOf } from '../../analysis/signal/lesson.ts';
import { readSignal, type SignalStep } from '../../analysis/signal/read-signal.ts';
import { auditSignal } from '../../analysis/signal/signal-audit.ts';
import { Dump } from '../../core/dump/dump.ts';
import { printJson } from '../../core/json/print.ts';
import { sanitiseLine } from '../../core/text/sanitise.ts';
import { reportText } from '../present/report/lines.ts';
import { countOf } from './count.ts';
import { dumpOptions, type ReadingFlags, withReading } from './dump-options.ts';
import { sayOfFiles } from './file-notes.ts';
import { ANSWER_IS_NO, DONE, print, run, say, USAGE } from './output.ts';
import { terminalWidth } from './print-report.ts';
import { filterOf } from './query-options.ts';

interface SignalOptions extends ReadingFlags {
  filter?: string;
  limit: number;
  json?: boolean;
}

export const signalCommand = (): Command =>
  withReading(
    new Command('signal')
      .description(
        'learning signal of each step: trained tokens by role, advantages, weights, and where signal was lost',
      )
      .argument('<paths...>', 'directories, files or patterns of dumps')
      .option('--filter <expr>', 'only rollouts that match it; groups then hold only these')
      .option('--limit <n>', 'at most this many findings of one kind per step', countOf, 3)
      .option('--json', 'one JSON object per step, with all findings'),
  ).action((paths: string[], options: SignalOptions) => run(() => signal(paths, options)));

async function signal(paths: readonly string[], options: SignalOptions): Promise<number> {
  const filter = filterOf(options.filter);
  const dump = Dump.open(paths, await dumpOptions(options));
  for (const notice of dump.notices) say(notice);
  let rollouts = 0;
  try {
    await layWhole(dump, filter);
    for await (const step of readSignal(dump, filter)) {
      if (step.rows.length === 0) continue;
      rollouts += step.rows.length;
      const judged = judgedStep(step);
      for (const line of options.json ? [printJson(signalJson(judged, step))] : stepLines(judged, options.limit))
        await print(`${line}\n`);
    }
    sayOfFiles(dump.files, rollouts === 0 && filter === null);
  } finally {
    dump.close();
  }
  if (rollouts > 0) return DONE;
  if (dump.hasRefused || dump.files.every(({ state }) => state === 'failed')) return USAGE;
  say(filter === null ? 'no rollout is trained on' : 'nothing matches --filter');
  return ANSWER_IS_NO;
}

function judgedStep({ stream, step, rows, leftOut }: SignalStep): SignalOfStep {
  const audit = auditSignal(rows);
  return {
    name: `${stream} step ${step ?? 'unknown'}`,
    audit,
    lesson: lessonOf(rows, audit.fit),
    leftOut,
    placeOf: (row) => {
      const found = rows[row];
      if (found === undefined) throw new RangeError(`the step has no row ${row}`);
      return found.at;
    },
  };
}

function stepLines(step: SignalOfStep, limit: number): string[] {
  const report = signalReport(step, fewOfEach(step.audit.findings, limit));
  return [
    report.title,
    ...sentencesOf(report).map((note) => `  ${note}`),
    ...(report.rows.length === 0
      ? [`  ${report.empty}`]
      : reportText(report, terminalWidth() - 2).map((line) => `  ${line}`)),
  ].map(sanitiseLine);
}
