import { hostname } from 'node:os';
import { z } from 'zod';
import { noteAside, putWrongTypesAside, readAs } from './aside.ts';
import { type SharedRedis, VERSION } from './redis.ts';
import { Register } from './register.ts';
import { TextPlace } from './texts.ts';

/** The kind of a run's work: making rollouts, executing the programs of recorded calls, or rescoring. */
export const RunKind = z.enum(['rollouts', 'executions', 'scores']);
export type RunKind = z.infer<typeof RunKind>;

/** A run as seen by workers. */
export const RunHead = z.object({
  /** Part of the names of keys. */
  id: z.string().regex(/^[\w-]{1,100}$/),
  kind: RunKind,
  version: z.string().max(1000),
  host: z.string().max(1000),
  /** The dump that it writes or reads. */
  what: z.string().max(10_000),
  /** When its process started, in ms since 1970. */
  started: z.number(),
  /** Workers hand over unfinished work of this start or an earlier one. */
  suspended: z.boolean(),
});
export type RunHead = z.infer<typeof RunHead>;

/** A run whose process no longer signs is over: it was killed, and continues when restarted. */
const KEPT_MS = 20_000;
const DATA_SECONDS = 7 * 86_400;
/** How long abandoned jobs are listed. */
const POISON_SECONDS = 7 * 86_400;
const MOST_POISONED = 1000;

export const headOf = (run: Pick<RunHead, 'id' | 'kind' | 'what'>): RunHead => ({
  ...run,
  version: VERSION,
  host: hostname(),
  started: Date.now(),
  suspended: false,
});

/** The data of a job: the start of the run that stored it, and the request. */
export const JobData = z.object({ started: z.number(), text: TextPlace });

/** The name of a run's queue at BullMQ. */
export const queueOf = (run: string): string => `run-${run}`;

export const Poisoned = z.object({ run: z.string(), id: z.string(), reason: z.string(), at: z.string() });
/** A job given up after its tries. */
export type Poisoned = z.infer<typeof Poisoned>;

/** The channel on which runs say that they begin. */
export const newsOf = ({ prefix }: Pick<SharedRedis, 'prefix'>): string => `${prefix}:news`;

/** The runs at a Redis. */
export class Runs {
  readonly #shared: SharedRedis;
  readonly #register: Register<RunHead>;

  constructor(shared: SharedRedis) {
    this.#shared = shared;
    this.#register = new Register(shared, 'runs', RunHead, KEPT_MS);
  }

  sign(head: RunHead): Promise<void> {
    return this.#register.sign(head);
  }

  /** Tells waiting workers at once; those that do not hear it find the run by looking. */
  async announce(id: string): Promise<void> {
    await this.#shared.redis.publish(newsOf(this.#shared), id).catch(() => {});
  }

  leave(id: string): Promise<void> {
    return this.#register.leave(id);
  }

  list(): Promise<RunHead[]> {
    return this.#register.list();
  }

  /** Stores the settings of its work. */
  async setData(id: string, data: object): Promise<void> {
    await this.#ask(id, () => this.#shared.redis.set(this.#key('data', id), JSON.stringify(data), 'EX', DATA_SECONDS));
  }

  async hasData(id: string): Promise<boolean> {
    return (await this.#shared.redis.exists(this.#key('data', id))) === 1;
  }

  async data(id: string): Promise<unknown> {
    const text = await this.#ask(id, () => this.#shared.redis.get(this.#key('data', id)));
    if (text === null) throw new Error(`run ${id} is not at ${this.#shared.name}`);
    return JSON.parse(text);
  }

  /** Sets the environment of a run's work, unless another worker has set it before. @returns the one in force */
  async agree(id: string, surroundings: string): Promise<string> {
    const key = this.#key('surroundings', id);
    await this.#ask(id, () => this.#shared.redis.set(key, surroundings, 'EX', DATA_SECONDS, 'NX'));
    return (await this.surroundings(id)) ?? surroundings;
  }

  surroundings(id: string): Promise<string | null> {
    return this.#ask(id, () => this.#shared.redis.get(this.#key('surroundings', id)));
  }

  /** The stored value is unreadable: the next worker sets it again. */
  async forgetSurroundings(id: string, text: string): Promise<void> {
    const key = this.#key('surroundings', id);
    await this.#shared.redis.del(key);
    await noteAside(this.#shared, { where: key, why: 'not the surroundings of a worker', text });
  }

  async drop(id: string): Promise<void> {
    await this.#shared.redis.del(this.#key('data', id), this.#key('surroundings', id));
  }

  async notePoisoned(one: Poisoned): Promise<void> {
    const key = this.#poisonedKey;
    const { redis } = this.#shared;
    await this.#listed(() => redis.lpush(key, JSON.stringify(one)));
    await redis.ltrim(key, 0, MOST_POISONED - 1);
    await redis.expire(key, POISON_SECONDS);
  }

  async poisoned(most: number): Promise<Poisoned[]> {
    const texts = await this.#listed(() => this.#shared.redis.lrange(this.#poisonedKey, 0, most - 1));
    const found: Poisoned[] = [];
    for (const text of texts) {
      const one = readAs(Poisoned, text);
      if (one !== null) found.push(one);
      else {
        await this.#shared.redis.lrem(this.#poisonedKey, 0, text);
        await noteAside(this.#shared, { where: this.#poisonedKey, why: 'not a job that was given up', text });
      }
    }
    return found;
  }

  get #poisonedKey(): string {
    return `${this.#shared.prefix}:poisoned`;
  }

  #listed<T>(work: () => Promise<T>): Promise<T> {
    const mend = () => putWrongTypesAside(this.#shared, { [this.#poisonedKey]: 'list' });
    return this.#shared.refusals.ask(work, { mend });
  }

  #ask<T>(id: string, work: () => Promise<T>): Promise<T> {
    const mend = () =>
      putWrongTypesAside(this.#shared, {
        [this.#key('data', id)]: 'string',
        [this.#key('surroundings', id)]: 'string',
      });
    return this.#shared.refusals.ask(work, { mend });
  }

  #key = (what: string, id: string): string => `${this.#shared.prefix}:run:${id}:${what}`;
}
