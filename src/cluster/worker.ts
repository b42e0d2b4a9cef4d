import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Worker } from 'bullmq';
import { untilAborted } from '../core/async/abort.ts';
import { shareLimits } from '../core/async/limiter.ts';
import { pause } from '../core/async/timeout.ts';
import { errorMessage } from '../core/text/thrown.ts';
import { mendQueue } from './aside.ts';
import { atMost, CLOSE_MS, type SharedRedis, VERSION } from './redis.ts';
import { RedisLimiter } from './redis-limiter.ts';
import { isRefusal, isWrongType } from './refusals.ts';
import { JobData, queueOf, type RunHead, type RunKind, Runs } from './runs.ts';
import { Texts } from './texts.ts';
import { BEAT_MS, beat, leave, type WorkerBeat } from './workers.ts';

/** A worker that does not renew its lock on a job for this long counts as gone, and another worker gets the job. */
const LOCK_MS = 15_000;
/** A job whose worker died this often may be what kills them. */
const MOST_STALLED = 6;
const LOOK_MS = 500;
/** A refused run is checked again: the missing part may have been supplied. */
const AGAIN_MS = 15_000;
/** A run whose process no longer signs is abandoned. */
const GONE_MS = 15_000;
const MOST_LISTED = 64;
/** Bytes of a result stored in the job; its event holds them once more. */
const INLINE = 4_000;
const LONGEST_REASON = 2_000;

/** A worker's part in one run. */
interface OpenWork {
  /** Concurrent jobs. */
  concurrency: number;
  /** Does a job. `tell` reports its stage for `queue`; `suspend` makes it hand over unfinished work. */
  make(text: string, tell: (stage: () => string) => void, suspend: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

/** Prepares for a run. @throws Error naming what this machine lacks for it */
export type OpenRun = (run: RunHead, data: unknown, parts: { texts: Texts; runs: Runs }) => Promise<OpenWork>;

export interface WorkerOptions {
  concurrency: number;
  share?: string | undefined;
  lockMs?: number;
  openers: Readonly<Record<RunKind, OpenRun>>;
  /** Ends after so long without work. */
  idleMs?: number | undefined;
  /** Takes no more work after so long. */
  mostMs?: number | undefined;
  /** Gets a function that says how the worker is doing now. */
  watch?: ((now: () => WorkerBeat) => void) | undefined;
  say: (message: string) => void;
  signal: AbortSignal;
}

/** Why a worker ended. */
export type WorkerEnd = 'stopped' | 'idle' | 'time';

/** Does the work of any run in a Redis until stopped, idle or out of time. Work already started is finished. */
export async function serveWorker(shared: SharedRedis, options: WorkerOptions): Promise<WorkerEnd> {
  shareLimits((name, rateLimit) => new RedisLimiter(shared, name, rateLimit));
  const worker = new RunWorker(shared, options);
  options.watch?.(() => worker.state());
  return worker.serve();
}

interface Under {
  run: string;
  id: string;
  since: number;
  stage: () => string;
}

class RunWorker {
  readonly #shared: SharedRedis;
  readonly #options: WorkerOptions;
  readonly #runs: Runs;
  readonly #texts: Texts;
  readonly #word: WorkerBeat;
  readonly #under = new Set<Under>();
  readonly #served = new Map<string, ServedRun>();
  readonly #refused = new Map<string, { why: string; at: number }>();
  readonly #ended: number[] = [];
  readonly #began = performance.now();
  /** When a job was last under way. */
  #busy = this.#began;

  constructor(shared: SharedRedis, options: WorkerOptions) {
    this.#shared = shared;
    this.#options = options;
    this.#runs = new Runs(shared);
    this.#texts = new Texts(shared, options.share);
    this.#word = {
      id: randomUUID(),
      version: VERSION,
      host: hostname(),
      pid: process.pid,
      started: new Date().toISOString(),
      concurrency: options.concurrency,
      done: 0,
      failed: 0,
      perMinute: 0,
      runs: [],
      refused: [],
      inFlight: 0,
      stages: {},
      at: [],
    };
  }

  async serve(): Promise<WorkerEnd> {
    const { signal } = this.#options;
    await this.#beat();
    const beating = setInterval(() => void this.#beat(), BEAT_MS);
    let end: WorkerEnd | null = null;
    while (end === null) {
      // Without a Redis there is nothing to see, and no run is abandoned for that.
      if (this.#shared.redis.status === 'ready') await untilAborted(this.#look(), signal).catch(() => {});
      await pause(LOOK_MS, signal).catch(() => {});
      end = signal.aborted ? 'stopped' : this.#whyOver(performance.now());
    }
    await Promise.all([...this.#served.values()].map((run) => run.close()));
    clearInterval(beating);
    if (this.#shared.redis.status === 'ready') await leave(this.#shared, this.#word.id).catch(() => {});
    return end;
  }

  #whyOver(now: number): WorkerEnd | null {
    const { idleMs = Number.POSITIVE_INFINITY, mostMs = Number.POSITIVE_INFINITY } = this.#options;
    if (this.#under.size > 0) this.#busy = now;
    if (now - this.#began >= mostMs) return 'time';
    return now - this.#busy >= idleMs ? 'idle' : null;
  }

  async #look(): Promise<void> {
    const heads = await this.#runs.list();
    const now = Date.now();
    let isNew = false;
    for (const head of heads) {
      const served = this.#served.get(head.id);
      if (served !== undefined) served.see(head, now);
      else if (now - (this.#refused.get(head.id)?.at ?? 0) > AGAIN_MS) {
        await this.#take(head);
        isNew = true;
      }
    }
    for (const id of this.#refused.keys()) if (!heads.some((head) => head.id === id)) this.#refused.delete(id);
    for (const [id, run] of this.#served) {
      if (now - run.seenAt < GONE_MS) continue;
      this.#served.delete(id);
      await run.close();
    }
    if (isNew) await this.#beat();
  }

  /** Starts working for a run, or reports why not. */
  async #take(head: RunHead): Promise<void> {
    const { say, openers } = this.#options;
    try {
      if (head.version !== VERSION) throw new Error(`version ${VERSION} here, ${head.version} is the run's`);
      const data = await this.#runs.data(head.id);
      const work = await openers[head.kind](head, data, { texts: this.#texts, runs: this.#runs });
      const served = new ServedRun(head, work, this.#shared);
      served.serve(this.#workerFor(head, served));
      this.#served.set(head.id, served);
      this.#refused.delete(head.id);
      say(`${head.kind} of ${head.what} on ${head.host}`);
    } catch (error) {
      const why = errorMessage(error);
      if (this.#refused.get(head.id)?.why !== why) say(`refused, ${head.kind} of ${head.what} on ${head.host}: ${why}`);
      this.#refused.set(head.id, { why, at: Date.now() });
    }
  }

  #workerFor(head: RunHead, run: ServedRun): Worker {
    const { bullmq, prefix, refusals } = this.#shared;
    const { lockMs = LOCK_MS } = this.#options;
    const worker = new bullmq.Worker(
      queueOf(head.id),
      async ({ id, data }) => {
        const under: Under = { run: head.id, id: String(id), since: Date.now(), stage: () => 'waiting' };
        this.#under.add(under);
        try {
          const { started, text } = JobData.parse(data);
          const made = await run.make(await this.#texts.get(text), started, (stage) => {
            under.stage = stage;
          });
          return { made: await this.#texts.put(made, { own: `${head.id}-${id}`, inline: INLINE }) };
        } catch (error) {
          throw new Error(errorMessage(error).slice(0, LONGEST_REASON));
        } finally {
          this.#under.delete(under);
          this.#busy = performance.now();
        }
      },
      {
        connection: this.#shared.another(),
        prefix,
        concurrency: run.concurrency,
        lockDuration: lockMs,
        stalledInterval: lockMs / 3,
        maxStalledCount: MOST_STALLED,
      },
    );
    worker.on('error', (error) => {
      if (isRefusal(error)) refusals.refused(error.message);
      if (isWrongType(error)) void mendQueue(this.#shared, queueOf(head.id)).catch(() => {});
    });
    worker.on('completed', () => {
      this.#word.done++;
      this.#ended.push(Date.now());
    });
    worker.on('failed', (_, error) => {
      this.#word.failed++;
      this.#options.say(error.message);
    });
    return worker;
  }

  state(): WorkerBeat {
    const now = Date.now();
    const old = this.#ended.findIndex((at) => at > now - 60_000);
    this.#ended.splice(0, old === -1 ? this.#ended.length : old);
    const under = [...this.#under].map(({ run, id, since, stage }) => ({
      run,
      id,
      stage: stage(),
      seconds: Math.round((now - since) / 100) / 10,
    }));
    const stages: WorkerBeat['stages'] = {};
    for (const { run, stage } of under) {
      stages[run] ??= {};
      stages[run][stage] = (stages[run][stage] ?? 0) + 1;
    }
    const refused = [...this.#refused].map(([run, { why }]) => ({ run, why }));
    const word = { perMinute: this.#ended.length, runs: [...this.#served.keys()], refused, inFlight: under.length };
    return { ...this.#word, ...word, stages, at: under.slice(0, MOST_LISTED) };
  }

  async #beat(): Promise<void> {
    const { refusals } = this.#shared;
    await beat(this.#shared, this.state()).then(
      () => refusals.served(),
      (error) => isRefusal(error) && refusals.refused(error.message),
    );
  }
}

class ServedRun {
  seenAt = Date.now();
  readonly #shared: SharedRedis;
  readonly #work: OpenWork;
  readonly #making = new Set<{ started: number; suspend: AbortController }>();
  #worker: Worker | null = null;
  /** The last start of the run that was ended early. */
  #suspended = 0;

  constructor(head: RunHead, work: OpenWork, shared: SharedRedis) {
    this.#shared = shared;
    this.#work = work;
    this.see(head, this.seenAt);
  }

  get concurrency(): number {
    return this.#work.concurrency;
  }

  serve(worker: Worker): void {
    this.#worker = worker;
  }

  see({ suspended, started }: RunHead, now: number): void {
    this.seenAt = now;
    if (!suspended) return;
    this.#suspended = started;
    for (const one of this.#making) if (one.started <= started) one.suspend.abort(ENDED);
  }

  async make(text: string, started: number, tell: (stage: () => string) => void): Promise<string> {
    const one = { started, suspend: new AbortController() };
    if (started <= this.#suspended) one.suspend.abort(ENDED);
    this.#making.add(one);
    try {
      return await this.#work.make(text, tell, one.suspend.signal);
    } finally {
      this.#making.delete(one);
    }
  }

  /** Finishes started jobs, unless there is no Redis to deliver them to. */
  async close(): Promise<void> {
    const isThere = this.#shared.redis.status === 'ready';
    const closing = this.#worker?.close(!isThere).catch(() => {});
    await (isThere ? closing : atMost(CLOSE_MS, closing));
    await this.#work.close();
  }
}

const ENDED = new Error('the run was ended');
