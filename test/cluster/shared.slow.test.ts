// Processes share one limit and texts of any size through a real Redis.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SharedRedis, shareRedis } from '../../src/cluster/redis.ts';
import { RedisLimiter } from '../../src/cluster/redis-limiter.ts';
import { Texts } from '../../src/cluster/texts.ts';
import { Limiter, type RateLimiter } from '../../src/core/async/limiter.ts';
import { limitedModel } from '../../src/engine/model/limited.ts';
import { fakeModel } from '../engine/fake-model.ts';
import { directoryWith, execute } from '../program.ts';
import { bundled } from './bundled.ts';
import { hasRedis, noRedis, TestRedis } from './redis-server.ts';

let redis: TestRedis;
const open: SharedRedis[] = [];
/** As a separate process has it. */
async function connection(): Promise<SharedRedis> {
  const shared = await shareRedis(redis.url, () => {});
  open.push(shared);
  return shared;
}

beforeAll(async () => {
  if (hasRedis) redis = await TestRedis.start();
});
afterAll(async () => {
  for (const one of open) await one.close();
  await redis?.down();
});

let names = 0;
const kinds: [string, (rateLimit: number, count: number) => Promise<RateLimiter[]>, boolean][] = [
  ['of one process', async (rateLimit, count) => Array(count).fill(new Limiter(rateLimit)), false],
  [
    'of all processes at a Redis',
    async (rateLimit, count) => {
      const name = `limit${names++}`;
      return Promise.all(
        Array.from({ length: count }, async () => new RedisLimiter(await connection(), name, rateLimit)),
      );
    },
    true,
  ],
];

describe.each(kinds)(`a limit %s${noRedis}`, (_, limiters, needsRedis) => {
  const isOff = needsRedis && !hasRedis;
  const rest = () => new Promise<void>((resolve) => setTimeout(resolve, 20));

  it.skipIf(isOff)('is one number for two that ask, and every task has its result', async () => {
    const two = await limiters(6, 2);
    let running = 0;
    let most = 0;
    const task = (index: number) => async () => {
      most = Math.max(most, ++running);
      await rest();
      running--;
      return index;
    };
    const asked = two.flatMap((limiter) => Array.from({ length: 20 }, (_, index) => limiter.run(task(index))));
    expect(await Promise.all(asked)).toEqual([...Array(20).keys(), ...Array(20).keys()]);
    expect(most).toBe(6);
    expect(two.map(({ currentCount, waitingCount }) => [currentCount, waitingCount])).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });

  it.skipIf(isOff)('gives the place back when a task throws, runs out of time, or is not wanted any more', async () => {
    const [limiter] = await limiters(1, 1);
    await expect(
      limiter!.run(() => {
        throw new Error('rotten');
      }),
    ).rejects.toThrow('rotten');
    await expect(limiter!.run(() => new Promise(() => {}), { timeoutMs: 20 })).rejects.toThrow('timed out after 20 ms');
    const stop = new AbortController();
    const broken = limiter!.run(() => new Promise(() => {}), { signal: stop.signal });
    const waiting = limiter!.run(() => 'next');
    stop.abort(new Error('enough'));
    await expect(broken).rejects.toThrow('enough');
    expect(await waiting).toBe('next');
  });

  it.skipIf(isOff)('holds the place of a task that was given up until it has ended, if asked to', async () => {
    const [limiter] = await limiters(1, 1);
    let die = () => {};
    const dying = limiter!.run(() => new Promise<void>((resolve) => (die = resolve)), {
      timeoutMs: 20,
      holdUntilEnded: true,
    });
    await expect(dying).rejects.toThrow('timed out after 20 ms');
    let isStarted = false;
    const next = limiter!.run(() => {
      isStarted = true;
      return 'next';
    });
    await rest();
    expect(isStarted).toBe(false);
    die();
    expect(await next).toBe('next');
  });

  it.skipIf(isOff)('never runs what was given up while it waited', async () => {
    const [limiter] = await limiters(1, 1);
    let end = () => {};
    let first: Promise<void> = Promise.resolve();
    await new Promise<void>((begun) => {
      first = limiter!.run(
        () =>
          new Promise<void>((resolve) => {
            end = resolve;
            begun();
          }),
      );
    });
    const stop = new AbortController();
    const ran: string[] = [];
    const waiting = limiter!.run(() => ran.push('given up'), { signal: stop.signal });
    const refused = expect(waiting).rejects.toThrow('gone');
    const last = limiter!.run(() => ran.push('last'));
    stop.abort(new Error('gone'));
    await refused;
    end();
    await Promise.all([first, last]);
    expect(ran).toEqual(['last']);
  });

  it.skipIf(isOff)('is that of a model server, too: so many turns are asked of it at once', async () => {
    const two = await limiters(3, 2);
    let running = 0;
    let most = 0;
    const { model } = fakeModel(async () => {
      most = Math.max(most, ++running);
      await rest();
      running--;
      return { text: 'yes' };
    });
    const asked = { messages: [], tools: [], sampling: {}, maxNewTokens: null, inputIds: null };
    const models = two.map((limiter) => limitedModel(model, limiter));
    const turns = await Promise.all(
      models.flatMap((one) => Array.from({ length: 8 }, () => one.generate({ ...asked }))),
    );
    expect(turns.map(({ text }) => text)).toEqual(Array(16).fill('yes'));
    expect(most).toBe(3);
  });
});

describe(`document 000's counter of a cluster${noRedis}`, () => {
  it.skipIf(!hasRedis)(
    'is one for two processes: the limit holds over both, a rotten execution gives its place back, and all have their results (TestMultiNodeRateLimiterCase)',
    async () => {
      const outfile = await bundled('counter-process');
      try {
        const processes = await Promise.all(
          [0, 1].map(() => execute(process.execPath, [outfile, redis.url, 'counter', '3', '40'])),
        );
        const expected = Array.from({ length: 40 }, (_, index) => (index === 3 ? 'rotten' : index));
        for (const { stdout, stderr } of processes)
          expect([JSON.parse(stdout || '{}'), stderr]).toEqual([{ given: expected, left: [0, 0] }, '']);
        const { redis: client } = await connection();
        expect(await client.mget('counter:most', 'counter:now')).toEqual(['3', '0']);
      } finally {
        rmSync(outfile);
      }
    },
  );
});

describe(`texts on their way${noRedis}`, () => {
  it.skipIf(!hasRedis)('lie in the job, in Redis or in a shared folder by their size, and are checked', async () => {
    const shared = await connection();
    const folder = directoryWith({});
    const texts = new Texts(shared, folder);
    for (const length of [10, 100_000, 17 << 20]) {
      const text = 'ä'.repeat(length / 2);
      const place = await texts.put(text);
      expect('text' in place).toBe(length === 10);
      expect((await new Texts(await connection(), folder).get(place)) === text).toBe(true);
    }
    const large = 'x'.repeat(17 << 20);
    const place = await texts.put(large);
    const alone = new Texts(await connection());
    await expect(alone.put(large)).rejects.toThrow('give producer and workers --share DIR');
    await expect(alone.get(place)).rejects.toThrow('a text is neither in redis://127.0.0.1');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, (place as { sha256: string }).sha256), 'another');
    await expect(texts.get(place)).rejects.toThrow('its content is not what its name says');
  });

  it.skipIf(!hasRedis)('a Redis that throws keys away is refused, with the command that ends it', async () => {
    const shared = await connection();
    await shared.redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await expect(connection()).rejects.toThrow('redis-cli CONFIG SET maxmemory-policy noeviction');
    await shared.redis.config('SET', 'maxmemory-policy', 'noeviction');
  });
});
