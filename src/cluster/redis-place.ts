import { errorMessage } from '../core/text/thrown.ts';
import { mendQueue } from './aside.ts';
import { QueuedJobs } from './jobs.ts';
import type { QueuePlace } from './place.ts';
import { type SharedRedis, shareRedis } from './redis.ts';
import { RedisLimiter } from './redis-limiter.ts';
import { isRefusal, isWrongType } from './refusals.ts';
import { newsOf, queueOf, Runs } from './runs.ts';
import { queueStatus } from './status.ts';
import { Texts } from './texts.ts';
import type { WorkerHub } from './worker.ts';
import { beat, leave } from './workers.ts';

/** A worker that does not renew its lock on a job for this long counts as gone, and another worker gets the job. */
const LOCK_MS = 15_000;
/** A job whose worker died this often may be what kills them. */
const MOST_STALLED = 6;

export async function redisPlace(address: string, say: (message: string) => void): Promise<QueuePlace> {
  const shared = await shareRedis(address, say);
  return {
    name: shared.name,
    refusals: shared.refusals,
    texts: (share) => new Texts(shared, share),
    jobs: (options) => QueuedJobs.open(shared, options),
    hub: (share) => redisHub(shared, share),
    status: () => queueStatus(shared),
    isAway: () => shared.redis.status !== 'ready',
    close: () => shared.close(),
  };
}

/** A worker's side of a Redis. */
export function redisHub(shared: SharedRedis, share?: string, lockMs = LOCK_MS): WorkerHub {
  const { bullmq, prefix, refusals } = shared;
  const runs = new Runs(shared);
  return {
    isThere: () => shared.redis.status === 'ready',
    list: () => runs.list(),
    data: (id) => runs.data(id),
    parts: { texts: new Texts(shared, share), runs },
    limiter: (name, rateLimit) => new RedisLimiter(shared, name, rateLimit),
    onNews: (tell) => {
      const heard = shared.another();
      heard.on('message', tell);
      heard.subscribe(newsOf(shared)).catch(() => {});
    },
    beat: (word) =>
      beat(shared, word).then(
        () => refusals.served(),
        (error) => {
          if (isRefusal(error)) refusals.refused(errorMessage(error));
        },
      ),
    leave: (id) => leave(shared, id),
    consume({ run, places, make, done, failed }) {
      const worker = new bullmq.Worker(queueOf(run), ({ id, data }) => make(String(id), data), {
        connection: shared.another(),
        prefix,
        concurrency: places,
        lockDuration: lockMs,
        stalledInterval: lockMs / 3,
        maxStalledCount: MOST_STALLED,
      });
      worker.on('error', (error) => {
        if (isRefusal(error)) refusals.refused(error.message);
        if (isWrongType(error)) void mendQueue(shared, queueOf(run)).catch(() => {});
      });
      worker.on('completed', done);
      worker.on('failed', (_, error) => failed(error.message));
      return worker;
    },
  };
}
