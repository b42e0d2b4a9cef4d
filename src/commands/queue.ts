import { Command } from 'commander';
import { UsageError } from '../dump/paths.ts';
import { printJson } from '../json/print.ts';
import { sanitiseLine } from '../text/sanitise.ts';
import { DONE, print, run, say } from './output.ts';

export function queueCommand(): Command {
  return new Command('queue')
    .description('tell what workers at a Redis are at, and what waits for them')
    .argument('<url>', 'redis://[USER:PASSWORD@]HOST:PORT, rediss:// for TLS; ?prefix=NAME')
    .option('--json', 'one JSON object')
    .action((url: string, flags: { json?: boolean }) => run(() => queue(url, flags.json === true)));
}

async function queue(url: string, isJson: boolean): Promise<number> {
  const { shareRedis } = await import('../queue/redis.ts');
  const { queueStatus } = await import('../queue/status.ts');
  const shared = await shareRedis(url, say).catch((error: Error) => {
    throw new UsageError(error.message);
  });
  try {
    const status = await queueStatus(shared);
    if (isJson) {
      await print(`${printJson({ ...status })}\n`);
      return DONE;
    }
    const { workers, waiting, active, failed, perMinute, poisoned } = status;
    const rate = perMinute === null ? '' : `, ${perMinute}/min`;
    await print(`${workers.length} workers, ${active} in flight, ${waiting} waiting, ${failed} failed${rate}\n`);
    for (const { host, pid, version, concurrency, done, failed: own, at } of workers) {
      const stages = new Map<string, number>();
      for (const { stage } of at) stages.set(stage, (stages.get(stage) ?? 0) + 1);
      const list = [...stages].map(([stage, count]) => `${count} ${stage}`).join(', ') || 'idle';
      await print(
        `  ${sanitiseLine(host)} ${pid}  ${version}  ${at.length} of ${concurrency}: ${list}  ${done} done, ${own} failed\n`,
      );
    }
    for (const { id, reason } of poisoned) await print(`  ${sanitiseLine(`${id}: ${reason}`)}\n`);
    return DONE;
  } finally {
    await shared.close();
  }
}
