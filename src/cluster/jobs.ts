import { z } from 'zod';
import { errorMessage } from '../core/text/thrown.ts';
import { mendQueue } from './aside.ts';
import { JobEnds } from './job-ends.ts';
import { ATTEMPTS, JobQueue } from './job-queue.ts';
import { atMost, CLOSE_MS, type SharedRedis } from './redis.ts';
import { Admission, isRefusal } from './refusals.ts';
import { headOf, type JobData, queueOf, type RunHead, Runs } from './runs.ts';
import { countsOf, stagesOf, type WorkStatus } from './status.ts';
import { TextPlace, type TextStore } from './texts.ts';
import { WorkerNews } from './worker-news.ts';
import { workersAt } from './workers.ts';

/** A Redis that went down may lose events: open jobs are rechecked periodically, a limited number at a time. */
const CHECK_MS = 3_000;
const MOST_CHECKED = 500;
/** How long workers have to hand over unfinished work. */
const HAND_OVER_MS = 60_000;

/**
 * How a job ended. `lost`: given up after its tries; `unsent`: could not be stored; `idle`: nobody had started it when the run
 * was ended.
 */
export type JobEnd<T> = { made: T } | { lost: string } | { unsent: string } | 'idle';

interface JobRequest {
  text: string;
  /** Parses its outcome. */
  read: (text: string) => unknown;
  /** The place of its text, for workers. */
  place?: TextPlace;
  lookedAt: number;
  /** How often its outcome could not be read. */
  tries: number;
  /** It was admitted, and takes up room in Redis. */
  isInside: boolean;
  /** It was in none of the queue's lists at the last check. */
  isAstray: boolean;
  resolve: (end: JobEnd<unknown>) => void;
}

export interface JobsOptions extends Pick<RunHead, 'id' | 'kind' | 'what'> {
  /** The part of the run that workers need. */
  data: object;
  texts: TextStore;
  say: (message: string) => void;
  signal: AbortSignal;
  /** Hands over unfinished work, and starts nothing more. */
  suspend?: AbortSignal | undefined;
  /** Maximum jobs under way in the whole cluster; by default as many as the workers take. */
  most?: number | undefined;
}

/** A run's work among its workers; each job counts once. */
export interface RunJobs {
  /** The environment that its workers agreed on. */
  readonly runs: Pick<Runs, 'surroundings' | 'forgetSurroundings'>;
  readonly status: WorkStatus;
  /**
   * @param id the same for the same job in every process
   * @param read throws for an outcome that no worker of this version wrote
   */
  ask<T>(id: string, text: string, read: (text: string) => T): Promise<JobEnd<T>>;
  /** @param isOver the run will not be resumed */
  close(isOver: boolean): Promise<void>;
}

/** A run's work in a Redis: workers do each job exactly once, whichever process is killed meanwhile. */
export class QueuedJobs implements RunJobs {
  readonly #shared: SharedRedis;
  readonly #queue: JobQueue;
  #ends: JobEnds | null = null;
  readonly #runs: Runs;
  readonly #texts: TextStore;
  readonly #data: object;
  readonly #most: number | undefined;
  readonly #asked = new Map<string, JobRequest>();
  readonly #admission: Admission;
  readonly #signal: AbortSignal;
  #head: RunHead;
  readonly #news: WorkerNews;
  #lost = 0;
  #isLooking = false;
  #timer: NodeJS.Timeout | undefined;
  #status: Omit<WorkStatus, 'isAway'> = {
    workers: 0,
    active: 0,
    waiting: 0,
    failed: 0,
    perMinute: 0,
    stages: {},
  };

  private constructor(shared: SharedRedis, { texts, say, signal, ...run }: JobsOptions) {
    const { id, kind, what, data, most } = run;
    this.#data = data;
    this.#most = most;
    this.#shared = shared;
    this.#head = headOf({ id, kind, what });
    this.#texts = texts;
    this.#news = new WorkerNews(id, shared.name, say);
    this.#runs = new Runs(shared);
    this.#signal = signal;
    this.#admission = new Admission(shared.redis, async () => this.#ends?.trim(), shared.refusals);
    this.#queue = new JobQueue(shared, queueOf(id), (job) => this.#asked.has(job));
  }

  static async open(shared: SharedRedis, options: JobsOptions): Promise<QueuedJobs> {
    const { signal, suspend } = options;
    const jobs = new QueuedJobs(shared, options);
    await jobs.#prepare();
    await jobs.#follow();
    await jobs.#look();
    await jobs.#runs.announce(options.id);
    jobs.#timer = setInterval(() => void jobs.#look().catch(() => {}), CHECK_MS);
    suspend?.addEventListener('abort', () => void jobs.#suspend(), { once: true });
    signal.addEventListener('abort', () => jobs.#giveUp(), { once: true });
    return jobs;
  }

  /** Calls BullMQ, tolerating foreign changes to its keys. */
  #do<T>(work: () => Promise<T>): Promise<T> {
    const mend = () => mendQueue(this.#shared, queueOf(this.#head.id));
    return this.#shared.refusals.ask(work, { signal: this.#signal, mend });
  }

  async #prepare(): Promise<void> {
    const most = this.#most;
    if (most === undefined) await this.#do(() => this.#queue.bullmq.removeGlobalConcurrency());
    else await this.#do(() => this.#queue.bullmq.setGlobalConcurrency(most));
    await this.#runs.setData(this.#head.id, this.#data);
  }

  async #follow(): Promise<void> {
    const options = {
      key: this.#queue.keyOf('events'),
      isWaiting: () => this.#asked.size > 0,
      onCompleted: (id: string, value: string) => void this.#take(id, value),
      onFailed: (id: string, reason: string) => void this.#fail(id, reason),
    };
    this.#ends = await this.#do(() => JobEnds.follow(this.#shared, options));
  }

  get runs(): Runs {
    return this.#runs;
  }

  /** The jobs that workers were recently working on. */
  get status(): WorkStatus {
    const isAway = this.#shared.redis.status !== 'ready' || this.#shared.refusals.current !== null;
    return { ...this.#status, failed: this.#lost, isAway };
  }

  ask<T>(id: string, text: string, read: (text: string) => T): Promise<JobEnd<T>> {
    return new Promise((resolve) => {
      const asked = { text, read, lookedAt: Date.now(), tries: 0, isInside: false, isAstray: false };
      this.#asked.set(id, { ...asked, resolve: resolve as JobRequest['resolve'] });
      this.#enter(id, text).catch((error: Error) => this.#settle(id, { unsent: error.message }));
    });
  }

  async #enter(id: string, text: string): Promise<void> {
    const isIn = await this.#admission.enter(text.length, () => this.#asked.has(id), this.#signal);
    const asked = this.#asked.get(id);
    if (!isIn) return;
    if (asked === undefined) return this.#admission.leave();
    asked.isInside = true;
    await this.#add(id, text);
  }

  async #add(id: string, text: string): Promise<void> {
    // An existing one is left unchanged.
    const place = await this.#texts.put(text, { own: `${this.#head.id}-${id}` });
    const data: z.infer<typeof JobData> = { started: this.#head.started, text: place };
    const asked = this.#asked.get(id);
    if (asked !== undefined) asked.place = place;
    await this.#do(() => this.#queue.add(id, data));
  }

  async #take(id: string, value: unknown): Promise<void> {
    const asked = this.#asked.get(id);
    if (asked === undefined) return;
    try {
      const place = madeAt(value);
      this.#settle(id, { made: asked.read(await this.#texts.get(place)) });
      this.#queue.forget(id);
      await this.#texts.drop(place);
    } catch (error) {
      if (this.#asked.get(id) !== asked) return;
      // A killed process may have removed the text, and left the job.
      if (++asked.tries >= ATTEMPTS) return this.#settle(id, { unsent: errorMessage(error) });
      await this.#queue.bullmq.remove(id).catch(() => {});
      await this.#add(id, asked.text).catch(() => {});
    }
  }

  async #fail(id: string, reason: string): Promise<void> {
    const asked = this.#asked.get(id);
    if (asked === undefined) return;
    // Redis refused a worker's result: that is not the job's fault.
    if (isRefusal(new Error(reason))) {
      await this.#queue.bullmq.remove(id).catch(() => {});
      return this.#add(id, asked.text).catch(() => {});
    }
    this.#lost++;
    this.#settle(id, { lost: reason });
    const at = new Date().toISOString();
    await this.#runs.notePoisoned({ run: this.#head.id, id, reason, at }).catch(() => {});
    await this.#queue.bullmq.remove(id).catch(() => {});
  }

  #settle(id: string, end: JobEnd<unknown>): void {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    if (asked?.isInside) this.#admission.leave();
    asked?.resolve(end);
    if (asked?.place !== undefined) void this.#texts.drop(asked.place).catch(() => {});
  }

  /** Renews the run's entry, reports its workers, and rechecks jobs that have been open for a while. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      await this.#lookAfter();
    } finally {
      this.#isLooking = false;
    }
  }

  async #lookAfter(): Promise<void> {
    // A Redis without persistence comes back empty.
    if (!(await this.#runs.hasData(this.#head.id))) await this.#prepare();
    const { refusals } = this.#shared;
    await this.#runs.sign(this.#head).then(
      () => refusals.served(),
      (error: Error) => {
        if (!isRefusal(error)) throw error;
        refusals.refused(error.message);
      },
    );
    await this.#tellOfWorkers();
    if (await this.#admission.measure()) await this.#takeBack();
    const old = [...this.#asked].filter(([, { lookedAt }]) => Date.now() - lookedAt >= CHECK_MS).slice(0, MOST_CHECKED);
    if (old.length === 0) return;
    const open = await this.#do(() => this.#queue.open(old.map(([id]) => id)));
    for (const [id, asked] of old) {
      if (!this.#asked.has(id)) continue;
      // Moved to the end, so that each has its turn.
      this.#asked.delete(id);
      asked.lookedAt = Date.now();
      this.#asked.set(id, asked);
      if (open.has(id)) asked.isAstray = false;
      if (open.has(id) || asked.place === undefined) continue;
      const found = await this.#do(() => this.#queue.bullmq.getJob(id));
      if (!this.#asked.has(id)) continue;
      if (found === undefined) await this.#add(id, asked.text);
      else if (found.finishedOn === undefined) await this.#find(id, asked);
      else if (found.failedReason === undefined) await this.#take(id, found.returnvalue);
      else await this.#fail(id, found.failedReason);
    }
  }

  /** If Redis is full, no worker can take a job: half of the waiting jobs are withdrawn, and return when there is room. */
  async #takeBack(): Promise<void> {
    const placed = [...this.#asked].filter(([, { place }]) => place !== undefined);
    for (const [id, asked] of placed.slice(Math.floor(placed.length / 2))) {
      if ((await this.#queue.bullmq.getJobState(id)) !== 'waiting') continue;
      const count = await this.#queue.bullmq.remove(id).catch(() => 0);
      if (count === 0 || asked.place === undefined || !this.#asked.has(id)) continue;
      await this.#texts.drop(asked.place).catch(() => {});
      delete asked.place;
      asked.isInside = false;
      this.#admission.leave();
      this.#enter(id, asked.text).catch((error: Error) => this.#settle(id, { unsent: error.message }));
    }
  }

  /** If Redis refuses in the middle of a job's end, the job is in none of its lists. */
  async #find(id: string, asked: JobRequest): Promise<void> {
    const isAstray = (await this.#queue.bullmq.getJobState(id)) === 'unknown';
    if (isAstray && asked.isAstray) {
      await this.#queue.bullmq.remove(id).catch(() => {});
      await this.#add(id, asked.text);
    }
    asked.isAstray = isAstray && !asked.isAstray;
  }

  async #tellOfWorkers(): Promise<void> {
    const own = this.#news.see(await workersAt(this.#shared));
    const perMinute = own.reduce((sum, one) => sum + one.perMinute, 0);
    const stages = stagesOf(own, this.#head.id);
    this.#status = { workers: own.length, perMinute, stages, ...(await countsOf(this.#queue.bullmq)) };
  }

  /** Withdraws waiting jobs; a worker hands over the job in progress as it is. */
  async #suspend(): Promise<void> {
    this.#head = { ...this.#head, suspended: true };
    await this.#queue.send();
    await this.#runs.sign(this.#head).catch(() => {});
    for (const [id, { place }] of [...this.#asked]) {
      const isTakenBack =
        place === undefined ||
        (await this.#queue.bullmq.remove(id).then(
          (count) => count > 0,
          () => false,
        ));
      if (isTakenBack) this.#settle(id, 'idle');
    }
    setTimeout(() => this.#giveUp(), HAND_OVER_MS).unref();
  }

  /** Withdraws waiting jobs; a job in progress finishes on its worker, and its result is dropped. */
  #giveUp(): void {
    for (const id of [...this.#asked.keys()]) {
      this.#settle(id, 'idle');
      void this.#queue.bullmq.remove(id).catch(() => {});
    }
  }

  async close(isOver: boolean): Promise<void> {
    clearInterval(this.#timer);
    this.#ends?.close();
    if (this.#shared.redis.status === 'ready') {
      await this.#queue.send();
      await this.#runs.leave(this.#head.id).catch(() => {});
      if (isOver) {
        await this.#queue.bullmq.obliterate({ force: true }).catch(() => {});
        await this.#runs.drop(this.#head.id).catch(() => {});
      }
    }
    await atMost(CLOSE_MS, Promise.allSettled([this.#queue.bullmq.close()]));
  }
}

const MadeAt = z.object({ made: TextPlace });

/** A worker's answer: the place of the outcome. BullMQ's events deliver it as JSON. */
const madeAt = (value: unknown): TextPlace => MadeAt.parse(typeof value === 'string' ? JSON.parse(value) : value).made;
