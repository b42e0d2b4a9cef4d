import { z } from 'zod';
import type { SharedRedis } from './redis.ts';
import { isWrongType } from './refusals.ts';

type KeyType = 'string' | 'list' | 'set' | 'zset' | 'hash' | 'stream';

const MOST = 100;
const KEPT_SECONDS = 7 * 86_400;
const LONGEST = 500;

const PutAside = z.object({ at: z.string(), where: z.string(), why: z.string(), text: z.string() });
/** A Redis entry that this program did not write; `text` is its beginning. */
export type PutAside = z.infer<typeof PutAside>;

const asideKey = ({ prefix }: SharedRedis): string => `${prefix}:aside`;

/** Lists a bad entry for `queue`. Never throws: work continues without it. */
export async function noteAside(shared: SharedRedis, one: Omit<PutAside, 'at'>): Promise<void> {
  const { redis } = shared;
  const key = asideKey(shared);
  const text = JSON.stringify({ ...one, text: one.text.slice(0, LONGEST), at: new Date().toISOString() });
  const note = () =>
    redis
      .multi()
      .lpush(key, text)
      .ltrim(key, 0, MOST - 1)
      .expire(key, KEPT_SECONDS)
      .exec();
  const done = await note().catch(() => null);
  if (done?.some(([error]) => isWrongType(error))) {
    await redis.del(key).catch(() => {});
    await note().catch(() => {});
  }
}

export async function listAside(shared: SharedRedis): Promise<PutAside[]> {
  const texts = await shared.redis.lrange(asideKey(shared), 0, MOST - 1).catch(() => []);
  return texts.flatMap((text) => readAs(PutAside, text) ?? []);
}

/** Parses untrusted text; null if it is not JSON or has another shape. */
export function readAs<T>(schema: z.ZodType<T>, text: string): T | null {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Renames keys of the wrong type, so they can be created again. */
export async function putWrongTypesAside(shared: SharedRedis, types: Readonly<Record<string, KeyType>>): Promise<void> {
  for (const [key, type] of Object.entries(types)) {
    const found = await shared.redis.type(key);
    if (found === type || found === 'none') continue;
    await shared.redis.rename(key, `${key}:aside`).catch(() => {});
    await noteAside(shared, { where: key, why: `a ${found}, expected a ${type}`, text: '' });
  }
}

/** BullMQ's keys of a queue. */
const QUEUE_KEYS: Readonly<Record<string, KeyType>> = {
  id: 'string',
  wait: 'list',
  paused: 'list',
  active: 'list',
  prioritized: 'zset',
  pc: 'string',
  delayed: 'zset',
  completed: 'zset',
  failed: 'zset',
  stalled: 'set',
  'stalled-check': 'string',
  limiter: 'string',
  marker: 'zset',
  events: 'stream',
  meta: 'hash',
  'waiting-children': 'zset',
};

export const mendQueue = (shared: SharedRedis, queue: string): Promise<void> =>
  putWrongTypesAside(
    shared,
    Object.fromEntries(Object.entries(QUEUE_KEYS).map(([name, type]) => [`${shared.prefix}:${queue}:${name}`, type])),
  );
