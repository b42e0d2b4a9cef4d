import { Command } from 'commander';
import { printJson } from '../../core/json/print.ts';
import { plural } from '../../core/text/numbers.ts';
import { sanitiseLine } from '../../core/text/sanitise.ts';
import { DONE, print, run, say } from './output.ts';
import { placeAt, QUEUE_PLACES } from './queue-flags.ts';

export function queueCommand(): Command {
  return new Command('queue')
    .description('show what the workers of a queue are doing, and what waits for them')
    .argument('<where>', QUEUE_PLACES)
    .option('--json', 'one JSON object')
    .action((url: string, flags: { json?: boolean }) => run(() => queue(url, flags.json === true)));
}

async function queue(url: string, isJson: boolean): Promise<number> {
  const { stagesOf } = await import('../../cluster/status.ts');
  const shared = await placeAt({ queue: url }, say);
  try {
    const status = await shared.status();
    if (isJson) {
      await print(`${printJson(status)}\n`);
      return DONE;
    }
    const { workers, runs, waiting, active, failed, perMinute, poisoned, aside, refusal } = status;
    const told = [`${active} in flight`, `${waiting} waiting`, `${failed} failed`, `${perMinute}/min`];
    const line = (text: string) => print(`${sanitiseLine(text)}\n`);
    if (refusal !== null)
      await line(`${shared.name}: ${refusal}: work waits, and workers cannot say that they are there`);
    await print(`${plural(workers.length, 'worker')}, ${told.join(', ')}\n`);
    for (const { id, kind, host, what, active: own, waiting: left } of runs)
      await line(`  ${kind} of ${what} on ${host}: ${own} in flight, ${left} waiting  ${id}`);
    for (const worker of workers) {
      const { host, pid, version, concurrency, done, failed: own, inFlight, perMinute: rate, refused } = worker;
      const list = Object.entries(stagesOf([worker])).map(([stage, count]) => `${count} ${stage}`);
      const stages = list.join(', ') || 'idle';
      await line(
        `  ${host} ${pid}  ${version}  ${inFlight} of ${concurrency}: ${stages}  ${done} done, ${own} failed, ${rate}/min`,
      );
      for (const { run, why } of refused) await line(`    refused ${run}: ${why}`);
    }
    for (const { run, id, reason, at } of poisoned) await line(`  given up ${at}  ${run} ${id}: ${reason}`);
    for (const { where, why, text, at } of aside) await line(`  put aside ${at}  ${where}: ${why}  ${text}`);
    return DONE;
  } finally {
    await shared.close();
  }
}
