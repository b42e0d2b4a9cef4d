import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { shareLimits } from '../async/limiter.ts';
import { type CodeRunner, openCodeRunner } from '../engine/collect/code-runner.ts';
import { makeRollout } from '../engine/collect/collector.ts';
import { stageOf } from '../engine/collect/live.ts';
import { prepareRun, type RunSetup } from '../engine/collect/prepare.ts';
import type { Settings } from '../engine/collect/settings.ts';
import { type OwnParts, openOwn } from '../engine/own/open-own.ts';
import type { RolloutRequest } from '../engine/request/request.ts';
import { ROLLOUTS, type SharedRedis, VERSION } from './redis.ts';
import { RedisLimiter } from './redis-limiter.ts';
import { receivedSettings } from './sent-run.ts';
import { Texts } from './texts.ts';
import { decodeJob, encodeOutcome, JobData, SentRun } from './wire.ts';
import { BEAT_MS, beat, leave, type WorkerBeat } from './workers.ts';

/** A worker that does not renew its hold on a job for so long is taken as gone, and the job is given to another. */
const LOCK_MS = 15_000;
const STALLED_MS = 5_000;
/** A job whose worker died so often may be what kills them. */
const MOST_STALLED = 3;
const MOST_RUNS = 4;

export interface WorkerOptions {
  concurrency: number;
  /** What this machine says for itself: model_url, sandbox, … */
  own: Partial<Settings>;
  share?: string | undefined;
  apiKey?: string | undefined;
  say: (message: string) => void;
  signal: AbortSignal;
}

interface OpenRun {
  setup: RunSetup;
  settings: Settings;
  close(): Promise<void>;
}

interface Under {
  run: string;
  task: number;
  rollout: number;
  request: RolloutRequest;
  since: number;
  isScoring: boolean;
}

/** Makes the rollouts of any run at a Redis until it is ended. What it has begun then is brought to its end. */
export async function serveWorker(shared: SharedRedis, options: WorkerOptions): Promise<void> {
  const worker = new RolloutWorker(shared, options);
  await worker.serve();
}

class RolloutWorker {
  readonly #shared: SharedRedis;
  readonly #options: WorkerOptions;
  readonly #texts: Texts;
  readonly #word: WorkerBeat;
  readonly #under = new Set<Under>();
  readonly #runs = new LRUCache<string, Promise<OpenRun>>({
    max: MOST_RUNS,
    dispose: (run) => void run.then(({ close }) => close()).catch(() => {}),
  });

  constructor(shared: SharedRedis, options: WorkerOptions) {
    this.#shared = shared;
    this.#options = options;
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
      at: [],
    };
    shareLimits((name, rateLimit) => new RedisLimiter(shared, name, rateLimit));
  }

  async serve(): Promise<void> {
    const { bullmq, prefix } = this.#shared;
    const { concurrency, signal } = this.#options;
    const worker = new bullmq.Worker(
      ROLLOUTS,
      async ({ data }) => ({ made: await this.#texts.put(await this.#make(JobData.parse(data))) }),
      {
        connection: this.#shared.another(),
        prefix,
        concurrency,
        lockDuration: LOCK_MS,
        stalledInterval: STALLED_MS,
        maxStalledCount: MOST_STALLED,
      },
    );
    worker.on('error', () => {});
    worker.on('completed', () => this.#word.done++);
    worker.on('failed', (_, error) => {
      this.#word.failed++;
      this.#options.say(error.message);
    });
    await this.#beat();
    const beating = setInterval(() => void this.#beat(), BEAT_MS);
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    // Without a Redis nothing could be handed in.
    await worker.close(this.#shared.redis.status !== 'ready');
    clearInterval(beating);
    this.#runs.clear();
    if (this.#shared.redis.status === 'ready') await leave(this.#shared, this.#word.id).catch(() => {});
  }

  async #make({ run, job: place }: JobData): Promise<string> {
    let opened = this.#runs.get(run);
    if (opened === undefined) {
      opened = this.#open(run);
      this.#runs.set(run, opened);
      opened.catch(() => this.#runs.delete(run));
    }
    const { setup, settings } = await opened;
    const job = decodeJob(await this.#texts.get(place));
    const live = {
      add: (task: number, rollout: number, _step: number, request: RolloutRequest) => {
        const under: Under = { run, task, rollout, request, since: Date.now(), isScoring: false };
        this.#under.add(under);
        return {
          scoring: () => {
            under.isScoring = true;
          },
          end: () => this.#under.delete(under),
        };
      },
    };
    return encodeOutcome(await makeRollout(job, { ...setup, gamma: settings.gamma ?? 1, live }));
  }

  /** @throws Error that says what this machine lacks for the run */
  async #open(id: string): Promise<OpenRun> {
    const { say, own, apiKey } = this.#options;
    const text = await this.#shared.redis.get(`${this.#shared.prefix}:run:${id}`);
    if (text === null) throw new Error(`run ${id} is not at ${this.#shared.name}`);
    const run = SentRun.parse(JSON.parse(text)) as SentRun;
    const folder = await mkdtemp(join(tmpdir(), 'rollout-viewer-worker-'));
    const settings = await receivedSettings(run, this.#texts, folder, own);
    let runner: CodeRunner | null = null;
    let parts: OwnParts | null = null;
    const close = async () => {
      parts?.close();
      await runner?.close();
      await rm(folder, { recursive: true, force: true });
    };
    try {
      if (settings.sandbox !== undefined) runner = await openCodeRunner(settings.sandbox);
      const runCode = runner?.run;
      parts = await openOwn(settings, { say, runCode, allowOwn: refuseOwn });
      const setup = await prepareRun({ settings, apiKey, runCode }, parts);
      say(`run ${id} of ${run.host} (${run.out}): at ${settings.model_url}`);
      return { setup, settings, close };
    } catch (error) {
      await close();
      throw new Error(`run ${id} of ${run.host}: ${(error as Error).message}`);
    }
  }

  async #beat(): Promise<void> {
    const now = Date.now();
    const at = [...this.#under].map(({ run, task, rollout, request, since, isScoring }) => ({
      run,
      task,
      rollout,
      stage: stageOf(request, isScoring),
      seconds: Math.round((now - since) / 100) / 10,
    }));
    await beat(this.#shared, { ...this.#word, at }).catch(() => {});
  }
}

/** Code of a producer runs with a worker's rights; there is no way yet to allow it here. */
async function refuseOwn(uses: readonly { what: string }[]): Promise<void> {
  if (uses.length > 0) throw new Error(`${uses[0]!.what}: classes and programs of your own do not run on workers`);
}
