import { pause } from '../core/async/timeout.ts';
import { FolderJobs } from './folder-jobs.ts';
import { FolderQueue, LEASE_MS, textsInJobs } from './folder-queue.ts';
import { LeaseWatch } from './lease-watch.ts';
import type { QueuePlace } from './place.ts';
import type { QueueStatus } from './status.ts';

/** Runs and workers sign every 2 s: who is there is known when the second look shows a change. */
const BETWEEN_MS = 2_500;
const MOST_LISTED = 100;

export async function folderPlace(root: string, say: (message: string) => void): Promise<QueuePlace> {
  const queue = new FolderQueue(root, say);
  return {
    name: root,
    refusals: queue.refusals,
    texts: () => textsInJobs,
    jobs: async (options) => {
      await queue.refusals.ask(() => queue.open(), { signal: options.signal });
      return FolderJobs.open(queue, options);
    },
    hub: () => queue.hub(),
    status: () => folderStatus(queue),
    isAway: () => false,
    close: async () => {},
  };
}

async function folderStatus(queue: FolderQueue): Promise<QueueStatus> {
  const [running, working] = [new LeaseWatch(LEASE_MS), new LeaseWatch(LEASE_MS)];
  await queue.runs(running);
  await queue.workers(working);
  await pause(BETWEEN_MS);
  const workers = await queue.workers(working);
  const poisoned = await queue.poisoned(MOST_LISTED);
  const runs: QueueStatus['runs'] = [];
  for (const { suspended: _, ...head } of await queue.runs(running)) {
    const active = (await queue.claims(head.id)).length;
    const waiting = (await queue.files.names(queue.run(head.id, 'waiting'))).length;
    const failed = poisoned.filter(({ run }) => run === head.id).length;
    runs.push({ ...head, active, waiting, failed });
  }
  return {
    workers,
    runs,
    waiting: runs.reduce((sum, one) => sum + one.waiting, 0),
    active: runs.reduce((sum, one) => sum + one.active, 0),
    failed: poisoned.length,
    perMinute: workers.reduce((sum, one) => sum + one.perMinute, 0),
    poisoned,
    aside: await queue.aside(MOST_LISTED),
    refusal: queue.refusals.current,
  };
}
