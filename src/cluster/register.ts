import type { z } from 'zod';
import { noteAside, putWrongTypesAside, readAs } from './aside.ts';
import type { SharedRedis } from './redis.ts';
import { isWrongType } from './refusals.ts';

/** The time is that of Redis: clocks of machines differ. KEYS: expiry times, entries; ARGV: the id, the entry, milliseconds. */
const SIGN = `
local time = redis.call('TIME')
redis.call('ZADD', KEYS[1], time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[3]), ARGV[1])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])`;

const LIST = `
local time = redis.call('TIME')
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', time[1] * 1000 + math.floor(time[2] / 1000))) do
  redis.call('ZREM', KEYS[1], id)
  redis.call('HDEL', KEYS[2], id)
end
return redis.call('HGETALL', KEYS[2])`;

/** A presence list. Each member signs every few seconds, and disappears from it when it stops. */
export class Register<T extends { id: string }> {
  readonly #shared: SharedRedis;
  readonly #schema: z.ZodType<T>;
  readonly #keys: [string, string];
  readonly #keptMs: number;

  constructor(shared: SharedRedis, name: string, schema: z.ZodType<T>, keptMs: number) {
    this.#shared = shared;
    this.#schema = schema;
    this.#keys = [`${shared.prefix}:${name}:until`, `${shared.prefix}:${name}`];
    this.#keptMs = keptMs;
  }

  /** Does not wait for a Redis that refuses: the member signs again later. */
  async sign(word: T): Promise<void> {
    await this.#do(() => this.#shared.redis.eval(SIGN, 2, ...this.#keys, word.id, JSON.stringify(word), this.#keptMs));
  }

  async leave(id: string): Promise<void> {
    const [until, says] = this.#keys;
    await this.#shared.redis.multi().zrem(until, id).hdel(says, id).exec();
  }

  /** Lists the entries of present members. An unreadable entry is put aside. */
  async list(): Promise<T[]> {
    const found = (await this.#do(() => this.#shared.redis.eval(LIST, 2, ...this.#keys))) as string[];
    const words: T[] = [];
    for (let at = 0; at + 1 < found.length; at += 2) {
      const [id, text] = [found[at] ?? '', found[at + 1] ?? ''];
      const word = readAs(this.#schema, text);
      if (word !== null && word.id === id) words.push(word);
      else await this.#putAside(id, text);
    }
    return words;
  }

  async #putAside(id: string, text: string): Promise<void> {
    const [until, says] = this.#keys;
    await this.#shared.redis.multi().zrem(until, id).hdel(says, id).exec();
    await noteAside(this.#shared, { where: `${says} ${id}`.slice(0, 200), why: 'not an entry of this version', text });
  }

  async #do<R>(work: () => Promise<R>): Promise<R> {
    try {
      return await work();
    } catch (error) {
      if (!isWrongType(error)) throw error;
      const [until, says] = this.#keys;
      await putWrongTypesAside(this.#shared, { [until]: 'zset', [says]: 'hash' });
      return work();
    }
  }
}
