import { pause } from '../core/async/timeout.ts';
import type { SharedRedis } from './redis.ts';

/** Redis is asked this often while jobs end, and less often while none does. A job's four events cost less than one answer. */
const OFTEN_MS = 20;
const SELDOM_MS = 50;
/** After an answer that was an error. */
const AGAIN_MS = 500;
const MOST = 1000;

interface JobEndsOptions {
  /** The stream that BullMQ writes into. */
  key: string;
  isWaiting: () => boolean;
  onCompleted: (id: string, value: string) => void;
  onFailed: (id: string, reason: string) => void;
}

/**
 * Follows the ends of a queue's jobs. It never blocks on its connection: a blocked command that a lost connection took with it would be waited for
 * for ever. What it misses, as when Redis came back empty, is found by checking the jobs.
 */
export class JobEnds {
  readonly #redis: SharedRedis['redis'];
  readonly #options: JobEndsOptions;
  /** The last event that was read. */
  #seen = '0-0';
  #isOver = false;

  private constructor({ redis }: SharedRedis, options: JobEndsOptions) {
    this.#redis = redis;
    this.#options = options;
  }

  /** @throws Redis's error when it cannot say which event is the last */
  static async follow(shared: SharedRedis, options: JobEndsOptions): Promise<JobEnds> {
    const ends = new JobEnds(shared, options);
    const [last] = await shared.redis.xrevrange(options.key, '+', '-', 'COUNT', 1);
    if (last !== undefined) [ends.#seen] = last;
    void ends.#follow();
    return ends;
  }

  async #follow(): Promise<void> {
    for (let wait = OFTEN_MS; !this.#isOver; ) {
      await pause(wait);
      if (this.#isOver || !this.#options.isWaiting()) continue;
      const count = await this.#read().catch(() => null);
      wait = count === null ? AGAIN_MS : count > 0 ? OFTEN_MS : SELDOM_MS;
    }
  }

  /** @returns the number of events that were new */
  async #read(): Promise<number> {
    const { key, onCompleted, onFailed } = this.#options;
    const [stream] = (await this.#redis.xread('COUNT', MOST, 'STREAMS', key, this.#seen)) ?? [];
    const events = stream?.[1] ?? [];
    for (const [id, fields] of events) {
      this.#seen = id;
      const { event, jobId = '', returnvalue = '', failedReason = '' } = streamValues(fields);
      if (event === 'completed') onCompleted(jobId, returnvalue);
      else if (event === 'failed') onFailed(jobId, failedReason);
    }
    return events.length;
  }

  /** Drops the events that were read: they hold results once more, and in a small Redis those would leave no room for work. */
  async trim(): Promise<void> {
    await this.#redis.xtrim(this.#options.key, 'MINID', this.#seen).catch(() => {});
  }

  close(): void {
    this.#isOver = true;
  }
}

/** The values of an entry of a stream, whose list has names and values in turn. */
const streamValues = (fields: readonly string[]): Record<string, string> =>
  Object.fromEntries(fields.flatMap((name, at) => (at % 2 === 0 ? [[name, fields[at + 1] ?? '']] : [])));
