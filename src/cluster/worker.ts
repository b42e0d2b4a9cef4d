import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { untilAborted } from '../core/async/abort.ts';
import { type RateLimiter, shareLimits } from '../core/async/limiter.ts';
import { pause } from '../core/async/timeout.ts';
import { errorMessage } from '../core/text/thrown.ts';
import { atMost, CLOSE_MS, VERSION } from './redis.ts';
import { JobData, type RunHead, type RunKind, type Runs } from './runs.ts';
import type { TextPlace, TextStore } from './texts.ts';
import { BEAT_MS, type WorkerBeat } from './workers.ts';

const LOOK_MS = 500;
/** Whoever may write to the place may announce runs at any rate. */
const LEAST_MS = 50;
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
  /** Does a job. `report` takes its stage for `queue`; `suspend` makes it hand over unfinished work. */
  make(text: string, report: (stage: () => string) => void, suspend: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

/** The parts of a place that a run's work uses. */
interface WorkParts {
  texts: TextStore;
  runs: Pick<Runs, 'agree'>;
}

/** Prepares for a run. @throws Error naming what this machine lacks for it */
export type OpenRun = (run: RunHead, data: unknown, parts: WorkParts) => Promise<OpenWork>;

/** How a worker takes the jobs of one run. */
interface Consuming {
  run: string;
  worker: string;
  /** Concurrent jobs. */
  places: number;
  make: (id: string, data: unknown) => Promise<{ made: TextPlace }>;
  done: () => void;
  failed: (reason: string) => void;
}

/** A worker's side of the place where it meets runs. */
export interface WorkerHub {
  /** False: nothing can be seen there, and no run is abandoned for that. */
  isThere(): boolean;
  list(): Promise<RunHead[]>;
  data(run: string): Promise<unknown>;
  parts: WorkParts;
  /** One limit for all workers; without it each worker has a separate one. */
  limiter?: (name: string, rateLimit: number) => RateLimiter;
  /** Calls back when a run begins; without it, or if the message is lost, workers find the run by looking. */
  onNews?: (tell: () => void) => void;
  beat(word: WorkerBeat): Promise<void>;
  leave(worker: string): Promise<void>;
  /** Closing waits for jobs under way, unless forced. */
  consume(consuming: Consuming): { close(force?: boolean): Promise<void> };
}

export interface WorkerOptions {
  concurrency: number;
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

/** Does the work of any run in a place until stopped, idle or out of time. Work already started is finished. */
export async function serveWorker(hub: WorkerHub, options: WorkerOptions): Promise<WorkerEnd> {
  if (hub.limiter !== undefined) shareLimits(hub.limiter);
  const worker = new RunWorker(hub, options);
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
  readonly #hub: WorkerHub;
  readonly #options: WorkerOptions;
  readonly #word: WorkerBeat;
  readonly #under = new Set<Under>();
  readonly #served = new Map<string, ServedRun>();
  readonly #refused = new Map<string, { why: string; at: number }>();
  readonly #ended: number[] = [];
  readonly #began = performance.now();
  /** When a job was last under way. */
  #busy = this.#began;

  /** A run began since this worker last looked. */
  #isTold = false;
  #wake = (): void => {};

  constructor(hub: WorkerHub, options: WorkerOptions) {
    this.#hub = hub;
    this.#options = options;
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
    this.#hub.onNews?.(() => {
      this.#isTold = true;
      this.#wake();
    });
    let end: WorkerEnd | null = null;
    while (end === null) {
      this.#isTold = false;
      if (this.#hub.isThere()) await untilAborted(this.#look(), signal).catch(() => {});
      await this.#rest().catch(() => {});
      end = signal.aborted ? 'stopped' : this.#whyOver(performance.now());
    }
    await Promise.all([...this.#served.values()].map((run) => run.close()));
    clearInterval(beating);
    if (this.#hub.isThere()) await this.#hub.leave(this.#word.id).catch(() => {});
    return end;
  }

  /** Until a run begins, and no longer than until it is time to look anyway. @throws the reason of the signal */
  async #rest(): Promise<void> {
    const { signal } = this.#options;
    await pause(LEAST_MS, signal);
    const told = new Promise<void>((resolve) => (this.#wake = resolve));
    if (!this.#isTold) await Promise.race([pause(LOOK_MS - LEAST_MS, signal), told]);
  }

  #whyOver(now: number): WorkerEnd | null {
    const { idleMs = Number.POSITIVE_INFINITY, mostMs = Number.POSITIVE_INFINITY } = this.#options;
    if (this.#under.size > 0) this.#busy = now;
    if (now - this.#began >= mostMs) return 'time';
    return now - this.#busy >= idleMs ? 'idle' : null;
  }

  async #look(): Promise<void> {
    const heads = await this.#hub.list();
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
      const data = await this.#hub.data(head.id);
      const work = await openers[head.kind](head, data, this.#hub.parts);
      const served = new ServedRun(head, work, this.#hub);
      served.serve(this.#consume(head.id, served));
      this.#served.set(head.id, served);
      this.#refused.delete(head.id);
      say(`${head.kind} of ${head.what} on ${head.host}`);
    } catch (error) {
      const why = errorMessage(error);
      if (this.#refused.get(head.id)?.why !== why) say(`refused, ${head.kind} of ${head.what} on ${head.host}: ${why}`);
      this.#refused.set(head.id, { why, at: Date.now() });
    }
  }

  #consume(head: string, run: ServedRun): ReturnType<WorkerHub['consume']> {
    const { texts } = this.#hub.parts;
    return this.#hub.consume({
      run: head,
      worker: this.#word.id,
      places: run.concurrency,
      make: async (id, sent) => {
        const under: Under = { run: head, id, since: Date.now(), stage: () => 'waiting' };
        this.#under.add(under);
        try {
          const { started, text } = JobData.parse(sent);
          const made = await run.make(await texts.get(text), started, (stage) => {
            under.stage = stage;
          });
          return { made: await texts.put(made, { own: `${head}-${id}`, inline: INLINE }) };
        } catch (error) {
          throw new Error(errorMessage(error).slice(0, LONGEST_REASON));
        } finally {
          this.#under.delete(under);
          this.#busy = performance.now();
        }
      },
      done: () => {
        this.#word.done++;
        this.#ended.push(Date.now());
      },
      failed: (reason) => {
        this.#word.failed++;
        this.#options.say(reason);
      },
    });
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

  #beat(): Promise<void> {
    return this.#hub.beat(this.state());
  }
}

class ServedRun {
  seenAt = Date.now();
  readonly #hub: WorkerHub;
  readonly #work: OpenWork;
  readonly #making = new Set<{ started: number; suspend: AbortController }>();
  #worker: ReturnType<WorkerHub['consume']> | null = null;
  /** The last start of the run that was ended early. */
  #suspended = 0;

  constructor(head: RunHead, work: OpenWork, hub: WorkerHub) {
    this.#hub = hub;
    this.#work = work;
    this.see(head, this.seenAt);
  }

  get concurrency(): number {
    return this.#work.concurrency;
  }

  serve(worker: ReturnType<WorkerHub['consume']>): void {
    this.#worker = worker;
  }

  see({ suspended, started }: RunHead, now: number): void {
    this.seenAt = now;
    if (!suspended) return;
    this.#suspended = started;
    for (const one of this.#making) if (one.started <= started) one.suspend.abort(ENDED);
  }

  async make(text: string, started: number, report: (stage: () => string) => void): Promise<string> {
    const one = { started, suspend: new AbortController() };
    if (started <= this.#suspended) one.suspend.abort(ENDED);
    this.#making.add(one);
    try {
      return await this.#work.make(text, report, one.suspend.signal);
    } finally {
      this.#making.delete(one);
    }
  }

  /** Finishes started jobs, unless there is no place to deliver them to. */
  async close(): Promise<void> {
    const isThere = this.#hub.isThere();
    const closing = this.#worker?.close(!isThere).catch(() => {});
    await (isThere ? closing : atMost(CLOSE_MS, closing));
    await this.#work.close();
  }
}

const ENDED = new Error('the run was ended');
