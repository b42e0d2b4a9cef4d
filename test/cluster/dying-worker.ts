// A worker that does jobs until one kills it, or one says that it may end.
import { shareRedis } from '../../src/cluster/redis.ts';
import { redisHub } from '../../src/cluster/redis-place.ts';
import { type OpenRun, serveWorker } from '../../src/cluster/worker.ts';

const shared = await shareRedis(process.argv[2]!, () => {});
const stop = new AbortController();
const open: OpenRun = async () => ({
  concurrency: 4,
  make: async (text) => {
    if (text === 'poison') process.kill(process.pid, 'SIGKILL');
    if (text === 'end') setTimeout(() => stop.abort(), 100);
    return `made ${text}`;
  },
  close: async () => {},
});
const openers = { rollouts: open, executions: open, scores: open };
await serveWorker(redisHub(shared, undefined, 1500), { concurrency: 4, openers, say: () => {}, signal: stop.signal });
await shared.close();
