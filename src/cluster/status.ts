import type { Queue } from 'bullmq';
import { listAside, mendQueue, type PutAside } from './aside.ts';
import type { SharedRedis } from './redis.ts';
import { memoryUse } from './refusals.ts';
import { type Poisoned, queueOf, type RunHead, Runs } from './runs.ts';
import { type WorkerBeat, workersAt } from './workers.ts';

const MOST_LISTED = 100;

interface Counts {
  waiting: number;
  active: number;
  failed: number;
}

/** A run's work as reported by its own process. */
export interface WorkStatus extends Counts {
  workers: number;
  /** Jobs that its workers finished in the last minute. */
  perMinute: number;
  /** Number of jobs per stage, as last reported by the workers. */
  stages: Record<string, number>;
  /** The Redis does not answer, and is waited for. */
  isAway: boolean;
}

export interface QueueStatus extends Counts {
  workers: WorkerBeat[];
  runs: (Omit<RunHead, 'suspended'> & Counts)[];
  perMinute: number;
  /** Jobs given up after their tries, newest first. */
  poisoned: Poisoned[];
  /** Entries that this program did not write, put aside, newest first. */
  aside: PutAside[];
  /** Why the Redis currently serves nobody; the workers' reports are then old or missing. Null: it serves. */
  refusal: string | null;
}

export async function countsOf(queue: Queue): Promise<Counts> {
  const { waiting = 0, delayed = 0, prioritized = 0, active = 0, failed = 0 } = await queue.getJobCounts();
  return { waiting: waiting + delayed + prioritized, active, failed };
}

/** Number of jobs per stage, of one run or all. */
export function stagesOf(workers: readonly WorkerBeat[], run?: string): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { stages } of workers)
    for (const [id, counts] of Object.entries(stages))
      if (run === undefined || id === run)
        for (const [stage, count] of Object.entries(counts)) sums[stage] = (sums[stage] ?? 0) + count;
  return sums;
}

/** The jobs waiting in a Redis, and the workers with their current stages. */
export async function queueStatus(shared: SharedRedis): Promise<QueueStatus> {
  const { bullmq, prefix, redis: connection } = shared;
  const known = new Runs(shared);
  const use = await memoryUse(shared.redis);
  const runs = await Promise.all(
    (await known.list()).map(async ({ suspended: _, ...head }) => {
      const queue = new bullmq.Queue(queueOf(head.id), { connection, prefix });
      queue.on('error', () => {});
      try {
        const counts = () =>
          countsOf(queue).catch(() => mendQueue(shared, queueOf(head.id)).then(() => countsOf(queue)));
        return { ...head, ...(await counts()) };
      } finally {
        await queue.close();
      }
    }),
  );
  const sum = (key: keyof Counts) => runs.reduce((all, run) => all + run[key], 0);
  const workers = await workersAt(shared);
  const poisoned = await known.poisoned(MOST_LISTED);
  return {
    workers,
    runs,
    waiting: sum('waiting'),
    active: sum('active'),
    failed: poisoned.length,
    perMinute: workers.reduce((all, { perMinute }) => all + perMinute, 0),
    poisoned,
    aside: await listAside(shared),
    refusal: use !== null && use.used >= use.most ? 'its memory is full' : null,
  };
}
