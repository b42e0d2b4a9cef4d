import type { Redis } from 'ioredis';
import manifest from '../../package.json' with { type: 'json' };
import { reasonOf } from '../core/text/problems.ts';
import { errorMessage } from '../core/text/thrown.ts';
import { Refusals } from './refusals.ts';

type BullMq = typeof import('./packages.ts')['bullmq'];

/** A Redis shared by processes, and BullMQ on top of it. Both packages are loaded on first use, from files of their own in the bundle. */
export interface SharedRedis {
  redis: Redis;
  bullmq: BullMq;
  /** Prepended to every key. */
  prefix: string;
  /** Its address for display, without user and password. */
  name: string;
  /** Tracks what it refuses, and the callers waiting for that. */
  refusals: Refusals;
  /** A separate connection, for callers that block on it; closed together with this one. */
  another(): Redis;
  close(): Promise<void>;
}

export const VERSION: string = manifest.version;

const PREFIX = 'rollout-viewer';
/** A refused connection is final after this long, which allows for a Redis that is starting; one without any answer may be slow. */
const REFUSED_MS = 1_000;
const REACH_MS = 10_000;
/** A restarted Redis is back within seconds; retries continue as long as it takes. */
const AGAIN_MS = 500;
/** A connection that was never made would hold the process up for two seconds. */
const LEAVE_MS = 200;

/**
 * @param address redis:// or rediss://, with user and password; `?prefix=NAME` keeps teams apart
 * @param say called once when the connection is lost, and when it is back
 * @throws Error saying what to do
 */
export async function shareRedis(address: string, say: (message: string) => void): Promise<SharedRedis> {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !/^rediss?:$/.test(url.protocol))
    throw new Error(`--queue ${address}: expected redis://[USER:PASSWORD@]HOST:PORT, or rediss:// for TLS`);
  const prefix = url.searchParams.get('prefix') ?? PREFIX;
  url.search = '';
  const name = `${url.protocol}//${url.host}${url.pathname}`;
  const { bullmq, Redis } = await import('./packages.ts');
  const redis = new Redis(url.href, {
    maxRetriesPerRequest: null,
    retryStrategy: () => AGAIN_MS,
    disconnectTimeout: LEAVE_MS,
    ...(process.env.ROLLOUT_VIEWER_QUEUE_PASSWORD ? { password: process.env.ROLLOUT_VIEWER_QUEUE_PASSWORD } : {}),
  });
  let isThere = false;
  let isClosing = false;
  let last: string | null = null;
  redis.on('error', (error: Error) => {
    last = reasonOf(error);
  });
  redis.on('close', () => {
    if (isThere && !isClosing) say(`${name}: the connection is lost; trying again, nothing is given up`);
    isThere = false;
  });
  redis.on('ready', () => {
    if (hasBeenThere) say(`${name}: is back`);
    isThere = true;
    hasBeenThere = true;
  });
  let hasBeenThere = false;
  const others: Redis[] = [];
  const another = () => {
    const one = redis.duplicate();
    one.on('error', () => {});
    others.push(one);
    return one;
  };
  const close = async () => {
    isClosing = true;
    for (const one of [redis, ...others]) one.disconnect();
  };
  try {
    const late = () => new Error(`${name}: ${last ?? 'no answer'}; is a Redis there? (redis-server starts one)`);
    const isRefused = () => {
      if (last === null) say(`${name}: no answer yet; waiting up to ${REACH_MS / 1000} s`);
      return last !== null;
    };
    await withinTime(redis.ping(), isRefused, late);
    await checkMemoryPolicy(redis, name);
  } catch (error) {
    await close();
    throw /NOAUTH|WRONGPASS/.test(errorMessage(error))
      ? new Error(`${name}: ${errorMessage(error)}; the password is in ROLLOUT_VIEWER_QUEUE_PASSWORD, or in the URL`)
      : error;
  }
  return { redis, bullmq, prefix, name, refusals: new Refusals(name, say), another, close };
}

/** BullMQ's close waits for a Redis that is away. */
export const CLOSE_MS = 2_000;

/** Waits for the work, but no longer than this. */
export async function atMost(milliseconds: number, work: Promise<unknown> | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([work, limit]);
  clearTimeout(timer);
}

/** @param isRefused called once, early: whether waiting is useless */
async function withinTime<T>(work: Promise<T>, isRefused: () => boolean, late: () => Error): Promise<T> {
  const timers: NodeJS.Timeout[] = [];
  const limit = new Promise<never>((_, reject) => {
    timers.push(setTimeout(() => isRefused() && reject(late()), REFUSED_MS));
    timers.push(setTimeout(() => reject(late()), REACH_MS));
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    for (const timer of timers) clearTimeout(timer);
  }
}

/** A Redis that evicts keys when memory is short would lose work. */
async function checkMemoryPolicy(redis: Redis, name: string): Promise<void> {
  // A hosted Redis may forbid the query.
  const found = await redis.config('GET', 'maxmemory-policy').catch(() => null);
  const policy = Array.isArray(found) ? String(found[1]) : 'noeviction';
  if (policy !== 'noeviction')
    throw new Error(
      `${name}: maxmemory-policy is ${policy}, so that Redis may throw work away: redis-cli CONFIG SET maxmemory-policy noeviction`,
    );
}
