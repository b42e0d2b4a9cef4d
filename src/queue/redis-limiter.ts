import { randomUUID } from 'node:crypto';
import { Limiter, type RateLimiter, type RunOptions } from '../async/limiter.ts';
import { pause } from '../async/timeout.ts';
import type { SharedRedis } from './redis.ts';

/** A place that its holder does not renew is free again: its process was killed, and what it had asked for has ended by then. */
const LEASE_MS = 30_000;
const RENEW_MS = 5_000;
/** Who waits asks again when a place is left, and from time to time: a message may be lost. */
const ASK_MS = 500;

/** KEYS: the places; ARGV: the limit, who asks, the lease. The time is that of Redis: clocks of machines differ. */
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[1]) then return 0 end
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[3]), ARGV[2])
return 1`;

const RENEW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for index = 2, #ARGV do redis.call('ZADD', KEYS[1], now + tonumber(ARGV[1]), ARGV[index]) end`;

const LEAVE = `
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('PUBLISH', KEYS[1], 'left')`;

/**
 * One number for all processes at a Redis: verl's `enable_global_rate_limit`, which there is an actor of the whole cluster. Within a process
 * the first come is the first served; between processes it is who asks first once a place is left.
 */
export class RedisLimiter implements RateLimiter {
  readonly rateLimit: number;
  readonly #shared: SharedRedis;
  readonly #key: string;
  readonly #local: Limiter;
  readonly #held = new Set<string>();
  #renewing: NodeJS.Timeout | undefined;
  #left = () => {};

  constructor(shared: SharedRedis, name: string, rateLimit: number) {
    this.rateLimit = rateLimit;
    this.#shared = shared;
    this.#key = `${shared.prefix}:limit:${name}`;
    this.#local = new Limiter(rateLimit);
    void this.#listen();
  }

  get currentCount(): number {
    return this.#held.size;
  }

  get waitingCount(): number {
    return this.#local.waitingCount + this.#local.currentCount - this.#held.size;
  }

  run<T>(task: (signal: AbortSignal) => Promise<T> | T, options: RunOptions = {}): Promise<T> {
    const { timeoutMs, ...rest } = options;
    // The wait for a place of the cluster is no part of the task's time.
    return this.#local.run(async (signal) => {
      const place = await this.#take(signal);
      try {
        return await new Limiter(1).run(task, { signal, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
      } finally {
        await this.#leave(place);
      }
    }, rest);
  }

  async #take(signal: AbortSignal): Promise<string> {
    const place = randomUUID();
    while ((await this.#shared.redis.eval(TAKE, 1, this.#key, this.rateLimit, place, LEASE_MS)) !== 1) {
      const left = new Promise<void>((resolve) => {
        const others = this.#left;
        this.#left = () => {
          others();
          resolve();
        };
      });
      await Promise.race([left, pause(ASK_MS, signal)]);
      signal.throwIfAborted();
    }
    this.#held.add(place);
    this.#renewing ??= setInterval(() => void this.#renew(), RENEW_MS).unref();
    return place;
  }

  async #leave(place: string): Promise<void> {
    this.#held.delete(place);
    if (this.#held.size === 0) {
      clearInterval(this.#renewing);
      this.#renewing = undefined;
    }
    await this.#shared.redis.eval(LEAVE, 1, this.#key, place);
  }

  async #renew(): Promise<void> {
    await this.#shared.redis.eval(RENEW, 1, this.#key, LEASE_MS, ...this.#held).catch(() => {});
  }

  async #listen(): Promise<void> {
    const messages = this.#shared.another();
    messages.on('message', () => {
      const wake = this.#left;
      this.#left = () => {};
      wake();
    });
    await messages.subscribe(this.#key).catch(() => {});
  }
}
