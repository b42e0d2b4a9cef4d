import { Command } from 'commander';
import { queueRunsReport, queueWorkersReport } from '../../analysis/report/queue.ts';
import type { Report } from '../../analysis/report/report.ts';
import { printJson } from '../../core/json/print.ts';
import { plural } from '../../core/text/numbers.ts';
import { sanitiseLine } from '../../core/text/sanitise.ts';
import { DONE, print, run, say } from './output.ts';
import { printReport } from './print-report.ts';
import { placeAt, QUEUE_PLACES } from './queue-flags.ts';

export function queueCommand(): Command {
  return new Command('queue')
    .description('show the work of a queue: what its workers are doing, and what is waiting')
    .argument('<where>', QUEUE_PLACES)
    .option('--json', 'one JSON object')
    .action((url: string, flags: { json?: boolean }) => run(() => queue(url, flags.json === true)));
}

async function queue(url: string, isJson: boolean): Promise<number> {
  const shared = await placeAt({ queue: url }, say);
  try {
    const status = await shared.status();
    if (isJson) {
      await print(`${printJson(status)}\n`);
      return DONE;
    }
    const { workers, runs, waiting, active, failed, perMinute, poisoned, aside, refusal } = status;
    const line = (text: string) => print(`${sanitiseLine(text)}\n`);
    if (refusal !== null)
      await line(`${shared.name}: ${refusal}: work waits, and workers cannot say that they are there`);
    await line(
      `${plural(workers.length, 'worker')}, ${active} in flight, ${waiting} waiting, ${failed} failed, ${perMinute}/min`,
    );
    await printTable(queueRunsReport(runs));
    await printTable(queueWorkersReport(workers));
    for (const { run, id, reason, at } of poisoned) await line(`given up ${at}  ${run} ${id}: ${reason}`);
    for (const { where, why, text, at } of aside) await line(`put aside ${at}  ${where}: ${why}  ${text}`);
    return DONE;
  } finally {
    await shared.close();
  }
}

async function printTable<Row>(report: Report<Row>): Promise<void> {
  if (report.rows.length === 0) return;
  await print('\n');
  await printReport(report, {});
}
