import type { Command } from 'commander';
import type { QueuePlace } from '../../cluster/place.ts';
import { UsageError } from '../../core/dump/paths.ts';

export interface QueueFlags {
  queue?: string;
  share?: string;
}

/** The forms of --queue. */
export const QUEUE_PLACES =
  'redis://[USER:PASSWORD@]HOST:PORT, rediss:// for TLS, ?prefix=NAME; or a folder that all machines see';

export const withQueue = (command: Command): Command =>
  command
    .option('--queue <where>', `let workers do the work: ${QUEUE_PLACES}`)
    .option('--share <dir>', 'with --queue: a folder shared with the workers, for texts too large for Redis');

/** The place that the flags name; null if absent. BullMQ is loaded only for it. @throws UsageError */
export async function openQueue(
  { queue, share }: QueueFlags,
  say: (message: string) => void,
): Promise<QueuePlace | null> {
  if (queue === undefined) {
    if (share === undefined) return null;
    throw new UsageError('--share goes with --queue: without it no worker reads that folder');
  }
  return placeAt({ queue, share }, say);
}

/** @throws UsageError */
export async function placeAt(
  { queue, share }: { queue: string; share?: string | undefined },
  say: (message: string) => void,
): Promise<QueuePlace> {
  const { openPlace } = await import('../../cluster/open-place.ts');
  return openPlace(queue, say, share).catch((error: Error) => {
    throw new UsageError(error.message);
  });
}

/** BullMQ keeps retrying an unreachable Redis; the process must still end once everything is printed. */
export async function leaveQueue(shared: QueuePlace): Promise<void> {
  const isAway = shared.isAway();
  await shared.close();
  if (isAway) setTimeout(() => process.exit(), 1000).unref();
}
