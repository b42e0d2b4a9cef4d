import { ROLLOUTS, type SharedRedis } from './redis.ts';
import { type WorkerBeat, workersAt } from './workers.ts';

const MOST_LISTED = 100;

export interface QueueStatus {
  workers: WorkerBeat[];
  waiting: number;
  active: number;
  failed: number;
  /** Rollouts that the workers made a minute since they were started; null where there is none. */
  perMinute: number | null;
  /** Jobs that were given up after their tries. */
  poisoned: { id: string; reason: string }[];
}

/** What waits at a Redis, and who is at what. */
export async function queueStatus(shared: SharedRedis): Promise<QueueStatus> {
  const queue = new shared.bullmq.Queue(ROLLOUTS, { connection: shared.redis, prefix: shared.prefix });
  queue.on('error', () => {});
  try {
    const { wait = 0, delayed = 0, prioritized = 0, active = 0, failed = 0 } = await queue.getJobCounts();
    const jobs = await queue.getFailed(0, MOST_LISTED - 1);
    const workers = await workersAt(shared);
    const rates = workers.map(({ done, started }) => (done * 60_000) / Math.max(1, Date.now() - Date.parse(started)));
    return {
      workers,
      waiting: wait + delayed + prioritized,
      active,
      failed,
      perMinute: workers.length === 0 ? null : Math.round(rates.reduce((sum, rate) => sum + rate, 0)),
      poisoned: jobs.map(({ id, failedReason }) => ({ id: String(id), reason: failedReason })),
    };
  } finally {
    await queue.close();
  }
}
