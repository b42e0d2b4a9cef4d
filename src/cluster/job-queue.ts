import type { Queue } from 'bullmq';
import type { z } from 'zod';
import type { SharedRedis } from './redis.ts';
import type { JobData } from './runs.ts';

/** A job is given up after its worker died, or it failed, this often. */
export const ATTEMPTS = 3;
/** Events that Redis keeps for a process that lags behind; it finds missed ones by polling. */
const EVENTS = 1000;
const KEPT_SECONDS = 86_400;
/** Redis serves nobody else while it takes a batch. */
const MOST_AT_ONCE = 100;
/** The lists of jobs that are still to be done. */
const LISTS = ['wait', 'paused', 'active'] as const;
const SORTED = ['delayed', 'prioritized'] as const;

interface Adding {
  id: string;
  data: z.infer<typeof JobData>;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * The queue of a run at a Redis. What is stored and forgotten in one turn of the event loop is sent together: each message costs both sides more
 * than a job does.
 */
export class JobQueue {
  readonly bullmq: Queue;
  readonly #redis: SharedRedis['redis'];
  readonly #isWanted: (id: string) => boolean;
  #adding: Adding[] = [];
  #ended: string[] = [];
  #isDue = false;

  /** @param isWanted a job that is no longer wanted when its turn comes is not sent */
  constructor({ bullmq, prefix, redis }: SharedRedis, name: string, isWanted: (id: string) => boolean) {
    this.#redis = redis;
    this.#isWanted = isWanted;
    // A job's outcome is also in its event.
    this.bullmq = new bullmq.Queue(name, { connection: redis, prefix, streams: { events: { maxLen: EVENTS } } });
    this.bullmq.on('error', () => {});
  }

  keyOf(name: string): string {
    return this.bullmq.toKey(name);
  }

  /** Resolves when it is stored; one that exists is left unchanged. @throws Redis's error */
  add(id: string, data: z.infer<typeof JobData>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#adding.push({ id, data, resolve, reject });
      this.#plan();
    });
  }

  /** Removes a job that was done and whose outcome is known, at some time. */
  forget(id: string): void {
    this.#ended.push(id);
    this.#plan();
  }

  #plan(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => void this.send());
  }

  /** Sends what is to be stored and forgotten. Never throws: who adds a job hears of it. */
  async send(): Promise<void> {
    this.#isDue = false;
    const ended = this.#ended.splice(0);
    const adding = this.#adding.splice(0);
    const sent: Promise<unknown>[] = [];
    if (ended.length > 0) {
      const keys = ended.map((id) => this.keyOf(id));
      sent.push(
        this.#redis
          .pipeline()
          .zrem(this.keyOf('completed'), ...ended)
          .del(...keys)
          .exec(),
      );
    }
    for (let at = 0; at < adding.length; at += MOST_AT_ONCE)
      sent.push(this.#store(adding.slice(at, at + MOST_AT_ONCE)));
    await Promise.allSettled(sent);
  }

  async #store(batch: readonly Adding[]): Promise<void> {
    const wanted = batch.filter(({ id }) => this.#isWanted(id));
    try {
      if (wanted.length > 0)
        await this.bullmq.addBulk(wanted.map(({ id, data }) => ({ name: 'job', data, opts: optionsOf(id) })));
      for (const { resolve } of batch) resolve();
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  /** Those of these jobs that are stored, and in one of the lists of what is to be done. @throws Redis's error */
  async open(ids: readonly string[]): Promise<Set<string>> {
    const asked = this.#redis.pipeline();
    for (const name of LISTS) asked.lrange(this.keyOf(name), 0, -1);
    for (const name of SORTED) asked.zrange(this.keyOf(name), '0', '-1');
    for (const id of ids) asked.exists(this.keyOf(id));
    const answers = ((await asked.exec()) ?? []).map(([error, answer]) => {
      if (error) throw error;
      return answer;
    });
    const stored = answers.splice(LISTS.length + SORTED.length);
    const listed = new Set(answers.flat());
    return new Set(ids.filter((id, at) => stored[at] === 1 && listed.has(id)));
  }
}

const optionsOf = (jobId: string) => ({
  jobId,
  attempts: ATTEMPTS,
  backoff: { type: 'exponential', delay: 1000 },
  removeOnComplete: { age: KEPT_SECONDS },
  removeOnFail: { age: KEPT_SECONDS },
  stackTraceLimit: 1,
});
