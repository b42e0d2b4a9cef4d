import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { Limiter } from '../core/async/limiter.ts';
import { pause } from '../core/async/timeout.ts';
import { errorMessage } from '../core/text/thrown.ts';
import { readAs } from './aside.ts';
import type { EntryPath } from './folder-files.ts';
import { type FolderQueue, JobName, JobResult, LEASE_MS } from './folder-queue.ts';
import type { JobEnd, JobsOptions, RunJobs } from './jobs.ts';
import { LeaseWatch } from './lease-watch.ts';
import { headOf, type JobData, type RunHead } from './runs.ts';
import { stagesOf, type WorkStatus } from './status.ts';
import { WorkerNews } from './worker-news.ts';

const LOOK_MS = 200;
/** The run signs, and looks after its workers, this often. */
const SIGN_MS = 2_000;
/** A job is given up after it failed this often, or outlived so many workers that it may be what kills them. */
const ATTEMPTS = 3;
const MOST_WORKERS = 7;
/** How long workers have to hand over unfinished work. */
const HAND_OVER_MS = 60_000;

interface FolderRequest {
  id: string;
  text: string;
  read: (text: string) => unknown;
  resolve: (end: JobEnd<unknown>) => void;
  /** It is in one of the run's folders. */
  isPlaced: boolean;
  tries: number;
  deaths: number;
}

/** File names are of one length, whatever a task is called. */
const jobFileName = (id: string): string => createHash('sha256').update(id).digest('hex').slice(0, 32);

/** A run's work in a shared folder. This process alone returns the jobs of workers that are gone. */
export class FolderJobs implements RunJobs {
  readonly #queue: FolderQueue;
  readonly #options: JobsOptions;
  readonly #news: WorkerNews;
  readonly #places: Limiter;
  readonly #asked = new Map<string, FolderRequest>();
  readonly #settled = new Set<string>();
  readonly #watch = new LeaseWatch(LEASE_MS);
  /** RunJobs are marked as missing while they are in no folder: a network file system may show one late. */
  readonly #missing = new LeaseWatch(LEASE_MS);
  /** Those in a folder when the run was resumed. */
  #found = new Set<string>();
  readonly #closing = new AbortController();
  #looking: Promise<void> = Promise.resolve();
  #head: RunHead;
  #lost = 0;
  #signed = Number.NEGATIVE_INFINITY;
  #status: Omit<WorkStatus, 'isAway' | 'failed'> = { workers: 0, active: 0, waiting: 0, perMinute: 0, stages: {} };

  private constructor(queue: FolderQueue, options: JobsOptions) {
    const { id, kind, what, say, most = Number.POSITIVE_INFINITY } = options;
    this.#queue = queue;
    this.#options = options;
    this.#head = headOf({ id, kind, what });
    this.#news = new WorkerNews(id, queue.files.root, say);
    this.#places = new Limiter(most);
  }

  static async open(queue: FolderQueue, options: JobsOptions): Promise<FolderJobs> {
    const { id, data, signal, suspend } = options;
    const jobs = new FolderJobs(queue, options);
    await jobs.#do(() => queue.openRun(id, data));
    await jobs.#do(async () => {
      const [waiting, done] = [await jobs.#names('waiting'), await jobs.#names('done')];
      jobs.#found = new Set([...waiting, ...done, ...(await queue.claims(id)).map(([name]) => name)]);
    });
    await queue.sweep(id).catch(() => {});
    jobs.#looking = jobs.#serve();
    suspend?.addEventListener('abort', () => void jobs.#suspend(), { once: true });
    signal.addEventListener('abort', () => jobs.#giveUp(), { once: true });
    return jobs;
  }

  #path(...names: string[]): EntryPath {
    return this.#queue.run(this.#head.id, ...names);
  }

  #names(part: string): Promise<string[]> {
    return this.#queue.files.names(this.#path(part));
  }

  #remove(...names: string[]): Promise<boolean> {
    return this.#queue.files.remove(this.#path(...names));
  }

  #do<T>(work: () => Promise<T>): Promise<T> {
    return this.#queue.refusals.ask(work, { signal: AbortSignal.any([this.#options.signal, this.#closing.signal]) });
  }

  get runs(): RunJobs['runs'] {
    return {
      surroundings: () => this.#do(() => this.#queue.files.read(this.#path('surroundings.json'))),
      forgetSurroundings: () => this.#queue.files.putAside(this.#path('surroundings.json'), 'surroundings.json'),
    };
  }

  get status(): WorkStatus {
    return { ...this.#status, failed: this.#lost, isAway: this.#queue.refusals.current !== null };
  }

  ask<T>(id: string, text: string, read: (text: string) => T): Promise<JobEnd<T>> {
    return this.#places.run(
      () =>
        new Promise<JobEnd<T>>((resolve) => {
          const name = jobFileName(id);
          const asked = {
            id,
            text,
            read,
            isPlaced: false,
            tries: 0,
            deaths: 0,
            resolve: resolve as FolderRequest['resolve'],
          };
          this.#settled.delete(name);
          this.#asked.set(name, asked);
          if (this.#isEnding) this.#settle(name, 'idle');
          else if (this.#found.delete(name)) asked.isPlaced = true;
          else this.#add(name).catch((error) => this.#settle(name, { unsent: errorMessage(error) }));
        }),
    );
  }

  get #isEnding(): boolean {
    return this.#head.suspended || this.#options.signal.aborted;
  }

  async #add(name: string): Promise<void> {
    const asked = this.#asked.get(name);
    if (asked === undefined) return;
    asked.isPlaced = false;
    const data: z.infer<typeof JobData> = { started: this.#head.started, text: { text: asked.text } };
    await this.#do(() => this.#queue.write(this.#head.id, this.#path('waiting', name), JSON.stringify(data)));
    asked.isPlaced = true;
    if (!this.#asked.has(name)) await this.#remove('waiting', name);
  }

  async #serve(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await this.#do(() => this.#look()).catch(() => {});
      await pause(LOOK_MS, signal).catch(() => {});
    }
  }

  async #look(): Promise<void> {
    for (const name of await this.#names('done')) {
      if (this.#asked.has(name)) await this.#take(name);
      // A worker that seemed to be gone came back with it.
      else if (this.#settled.has(name)) await this.#remove('done', name);
    }
    if (performance.now() - this.#signed < SIGN_MS) return;
    this.#signed = performance.now();
    await this.#queue.signRun(this.#head);
    await this.#lookAfter();
  }

  async #take(name: string): Promise<void> {
    const asked = this.#asked.get(name);
    const path = this.#path('done', name);
    const text = await this.#queue.files.read(path).catch((error: Error) => error);
    if (asked === undefined || text === null) return;
    try {
      if (text instanceof Error) throw text;
      const ended = readAs(JobResult, text);
      if (ended === null) throw new Error('the result is not an entry of this version');
      if ('failed' in ended) {
        await this.#queue.files.remove(path);
        if (++asked.tries < ATTEMPTS) return await this.#add(name);
        return await this.#giveUpOn(name, asked, ended.failed);
      }
      if (!('text' in ended.made)) throw new Error('the result holds no text');
      this.#settle(name, { made: asked.read(ended.made.text) });
      await this.#queue.files.remove(path);
    } catch (error) {
      if (this.#asked.get(name) !== asked) return;
      await this.#queue.files.putAside(path, name);
      if (++asked.tries >= ATTEMPTS) this.#settle(name, { unsent: errorMessage(error) });
      else await this.#add(name);
    }
  }

  async #giveUpOn(name: string, { id }: FolderRequest, reason: string): Promise<void> {
    this.#lost++;
    this.#settle(name, { lost: reason });
    const at = new Date().toISOString();
    await this.#queue.notePoisoned({ run: this.#head.id, id, reason, at }).catch(() => {});
  }

  #settle(name: string, end: JobEnd<unknown>): void {
    const asked = this.#asked.get(name);
    this.#asked.delete(name);
    this.#settled.add(name);
    this.#missing.forget(name);
    asked?.resolve(end);
  }

  /** Takes back the jobs of workers that are gone, and puts there again those that got lost. */
  async #lookAfter(): Promise<void> {
    const claims = await this.#queue.claims(this.#head.id);
    for (const [, worker] of claims) this.#watch.expect(worker);
    const own = this.#news.see(await this.#queue.workers(this.#watch));
    const visible = new Set<string>();
    for (const [name, worker] of claims) {
      visible.add(name);
      const claim = this.#queue.claim(this.#head.id, name, worker);
      const asked = this.#asked.get(name);
      if (this.#settled.has(name)) await this.#queue.files.remove(claim);
      else if (!this.#watch.isGone(worker)) continue;
      else if (asked !== undefined && ++asked.deaths >= MOST_WORKERS) {
        await this.#queue.files.remove(claim);
        await this.#giveUpOn(name, asked, `${asked.deaths} workers died over it`);
      } else await this.#queue.files.move(claim, this.#path('waiting', name)).catch(() => {});
    }
    const waiting = (await this.#names('waiting')).filter((name) => JobName.safeParse(name).success);
    for (const name of waiting) {
      visible.add(name);
      if (this.#settled.has(name)) await this.#remove('waiting', name);
    }
    await this.#findMissing(visible);
    const perMinute = own.reduce((sum, one) => sum + one.perMinute, 0);
    const stages = stagesOf(own, this.#head.id);
    this.#status = { workers: own.length, perMinute, stages, active: claims.length, waiting: waiting.length };
  }

  async #findMissing(visible: ReadonlySet<string>): Promise<void> {
    const placed = [...this.#asked].filter(([, { isPlaced }]) => isPlaced).map(([name]) => name);
    const missing = placed.filter((name) => !visible.has(name));
    for (const name of missing) this.#missing.expect(name);
    // A visible one changes its mark each time.
    this.#missing.look(
      new Map(placed.filter((name) => visible.has(name)).map((name) => [name, String(performance.now())])),
    );
    for (const name of missing) {
      if (!this.#missing.isGone(name)) continue;
      this.#missing.forget(name);
      await this.#add(name);
    }
  }

  /** Withdraws waiting jobs; a worker hands over the job in progress as it is. */
  async #suspend(): Promise<void> {
    this.#head = { ...this.#head, suspended: true };
    await this.#queue.signRun(this.#head).catch(() => {});
    for (const [name, { isPlaced }] of [...this.#asked]) {
      const isTakenBack = await this.#remove('waiting', name).catch(() => false);
      if (isTakenBack || !isPlaced) this.#settle(name, 'idle');
    }
    setTimeout(() => this.#giveUp(), HAND_OVER_MS).unref();
  }

  /** Withdraws waiting jobs; a job in progress finishes on its worker, and its result is dropped. */
  #giveUp(): void {
    for (const name of [...this.#asked.keys()]) {
      this.#settle(name, 'idle');
      void this.#remove('waiting', name).catch(() => {});
    }
  }

  async close(isOver: boolean): Promise<void> {
    this.#closing.abort(new Error('the run was ended'));
    await this.#looking;
    if (isOver) await this.#queue.dropRun(this.#head.id);
    else await this.#remove('run.json').catch(() => {});
  }
}
