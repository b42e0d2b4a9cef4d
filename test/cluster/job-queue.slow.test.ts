// Jobs and texts that are stored, forgotten and looked for together, held equal to what each is alone.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { JobQueue } from '../../src/cluster/job-queue.ts';
import { type SharedRedis, shareRedis } from '../../src/cluster/redis.ts';
import { Texts } from '../../src/cluster/texts.ts';
import { hasRedis, noRedis, TestRedis } from './redis-server.ts';

let redis: TestRedis;
let shared: SharedRedis;
beforeAll(async () => {
  if (!hasRedis) return;
  redis = await TestRedis.start();
  shared = await shareRedis(redis.url, () => {});
});
afterAll(async () => {
  await shared?.close();
  await redis?.down();
});

const dataOf = (text: string) => ({ started: 1, text: { text } });

it.skipIf(!hasRedis)(
  `jobs of a batch are stored once each, and those not wanted any more are not${noRedis}`,
  async () => {
    const queue = new JobQueue(shared, 'run-many', (id) => id !== 'unwanted');
    await queue.add('j7', dataOf('first'));
    const ids = Array.from({ length: 250 }, (_, at) => `j${at}`);
    await Promise.all([...ids, 'unwanted'].map((id) => queue.add(id, dataOf(id))));
    expect(await queue.bullmq.getWaitingCount()).toBe(250);
    expect((await queue.bullmq.getJob('j7'))?.data).toEqual(dataOf('first'));
    expect(await queue.open([...ids, 'unwanted', 'never'])).toEqual(new Set(ids));
    await queue.bullmq.close();
  },
);

it.skipIf(!hasRedis)(`a job is open while BullMQ has it in a list and stored${noRedis}`, async () => {
  const queue = new JobQueue(shared, 'run-states', () => true);
  const ids = ['ended', 'spoilt', 'later', 'begun', 'next', 'lost', 'astray'];
  await Promise.all(ids.map((id) => queue.add(id, dataOf(id))));
  const { Worker } = shared.bullmq;
  const worker = new Worker('run-states', null, { connection: shared.another(), prefix: shared.prefix });
  const taken = async () => (await worker.getNextJob('t'))!;
  await (await taken()).moveToCompleted({ made: { text: '' } }, 't', false);
  const failed = await taken();
  failed.opts.attempts = 1;
  await failed.moveToFailed(new Error('no'), 't', false);
  await (await taken()).moveToFailed(new Error('again'), 't', false);
  await taken();
  await shared.redis.del(queue.keyOf('lost'));
  await shared.redis.lrem(queue.keyOf('wait'), 0, 'astray');
  expect(await queue.open(ids)).toEqual(new Set(['later', 'begun', 'next']));
  const states = await Promise.all(ids.map((id) => queue.bullmq.getJobState(id)));
  expect(states).toEqual(['completed', 'failed', 'delayed', 'active', 'waiting', 'waiting', 'unknown']);
  queue.forget('ended');
  await queue.send();
  expect(await queue.bullmq.getJobState('ended')).toBe('unknown');
  expect(await queue.bullmq.getJob('ended')).toBeUndefined();
  await worker.close();
  await queue.bullmq.close();
});

it.skipIf(!hasRedis)(`texts that are dropped together are gone, and no others${noRedis}`, async () => {
  const texts = new Texts(shared);
  const names = Array.from({ length: 20 }, (_, at) => `own${at}`);
  const places = await Promise.all(names.map((own) => texts.put(`the text of ${own}`, { own, inline: 0 })));
  await Promise.all(places.slice(5).map((place) => texts.drop(place)));
  expect(await Promise.all(places.slice(0, 5).map((place) => texts.get(place)))).toHaveLength(5);
  for (const place of places.slice(5)) await expect(texts.get(place)).rejects.toThrow('a text is neither in');
});
