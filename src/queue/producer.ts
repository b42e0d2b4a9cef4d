import { randomUUID } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Queue, QueueEvents } from 'bullmq';
import type { CollectedRollout, RolloutJob, RolloutOutcome } from '../engine/collect/collector.ts';
import { STATE_DIRECTORY } from '../engine/collect/run-state.ts';
import type { Settings } from '../engine/collect/settings.ts';
import { ROLLOUTS, type SharedRedis, VERSION } from './redis.ts';
import { runToSend } from './sent-run.ts';
import { Texts } from './texts.ts';
import { decodeOutcome, encodeJob, failedOutcome, outcomePlace } from './wire.ts';
import { workersAt } from './workers.ts';

/** Events may be lost with a Redis that was ended: what is asked for is looked after so often. */
const CHECK_MS = 3_000;
const RUN_SECONDS = 7 * 86_400;
/** A rollout whose worker died so often is not tried again. */
const ATTEMPTS = 3;

interface Asked {
  job: RolloutJob;
  since: number;
  resolve: (made: CollectedRollout<RolloutOutcome>) => void;
}

export interface ProducerOptions {
  settings: Settings;
  /** A folder that workers see too, for texts that are too large for Redis. */
  share?: string | undefined;
  say: (message: string) => void;
  signal: AbortSignal;
}

/** Has rollouts made by workers. It alone writes the dump; a run that was killed takes up what its workers made meanwhile. */
export class QueuedRollouts {
  readonly #shared: SharedRedis;
  readonly #queue: Queue;
  readonly #events: QueueEvents;
  readonly #texts: Texts;
  readonly #run: string;
  readonly #say: (message: string) => void;
  readonly #asked = new Map<string, Asked>();
  #timer: NodeJS.Timeout | undefined;
  #isAlone: boolean | null = null;

  private constructor(shared: SharedRedis, run: string, { share, say, signal }: ProducerOptions) {
    const { bullmq, prefix, redis } = shared;
    this.#shared = shared;
    this.#run = run;
    this.#say = say;
    this.#texts = new Texts(shared, share);
    this.#queue = new bullmq.Queue(ROLLOUTS, { connection: redis, prefix });
    this.#events = new bullmq.QueueEvents(ROLLOUTS, { connection: shared.another(), prefix });
    this.#queue.on('error', () => {});
    this.#events.on('error', () => {});
    this.#events.on('completed', ({ jobId, returnvalue }) => void this.#take(jobId, returnvalue));
    this.#events.on('failed', ({ jobId, failedReason }) => void this.#fail(jobId, failedReason));
    signal.addEventListener('abort', () => this.#giveUp(), { once: true });
  }

  static async open(shared: SharedRedis, options: ProducerOptions): Promise<QueuedRollouts> {
    const { settings } = options;
    const run = await runIn(settings.out!);
    const producer = new QueuedRollouts(shared, run, options);
    const sent = JSON.stringify(await runToSend(settings, producer.#texts));
    await shared.redis.set(`${shared.prefix}:run:${run}`, sent, 'EX', RUN_SECONDS);
    await producer.#events.waitUntilReady();
    producer.#timer = setInterval(() => void producer.#check().catch(() => {}), CHECK_MS);
    await producer.#tellOfWorkers();
    return producer;
  }

  readonly make = (job: RolloutJob): Promise<CollectedRollout<RolloutOutcome>> =>
    new Promise((resolve) => {
      const id = `${this.#run}.${job.step}.${job.task.key}.${job.rollout}`;
      this.#asked.set(id, { job, since: Date.now(), resolve });
      this.#add(id, job).catch((error: Error) => this.#settle(id, failedOutcome(job, 'own_fault', error.message)));
    });

  async #add(id: string, job: RolloutJob): Promise<void> {
    const data = { run: this.#run, job: await this.#texts.put(encodeJob(job)) };
    // One that stands there already is left as it is.
    await this.#queue.add('rollout', data, {
      jobId: id,
      attempts: ATTEMPTS,
      backoff: { type: 'exponential', delay: 1000 },
      removeOnComplete: { age: 86_400 },
      removeOnFail: { age: 86_400 },
    });
  }

  async #take(id: string, value: unknown): Promise<void> {
    const asked = this.#asked.get(id);
    if (asked === undefined) return;
    try {
      const text = await this.#texts.get(outcomePlace(value));
      this.#settle(id, decodeOutcome(text, asked.job));
    } catch (error) {
      this.#settle(id, failedOutcome(asked.job, 'own_fault', (error as Error).message));
    }
    await this.#queue.remove(id).catch(() => {});
  }

  async #fail(id: string, reason: string): Promise<void> {
    const asked = this.#asked.get(id);
    if (asked === undefined) return;
    this.#settle(id, failedOutcome(asked.job, 'worker_lost', reason));
    await this.#queue.remove(id).catch(() => {});
  }

  #settle(id: string, made: CollectedRollout<RolloutOutcome>): void {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    asked?.resolve(made);
  }

  /** Looks after what was asked for a while ago: a Redis that was ended may have lost its job, or the word of its end. */
  async #check(): Promise<void> {
    await this.#tellOfWorkers();
    for (const [id, { job, since }] of this.#asked) {
      if (Date.now() - since < CHECK_MS) continue;
      const found = await this.#queue.getJob(id);
      if (found === undefined) await this.#add(id, job);
      else if (found.finishedOn !== undefined && found.failedReason === undefined)
        await this.#take(id, found.returnvalue);
      else if (found.finishedOn !== undefined) await this.#fail(id, found.failedReason);
    }
  }

  async #tellOfWorkers(): Promise<void> {
    const workers = await workersAt(this.#shared);
    const isAlone = !workers.some(({ version }) => version === VERSION);
    if (isAlone === this.#isAlone) return;
    const others = [...new Set(workers.map(({ version }) => version))].filter((version) => version !== VERSION);
    const but = others.length === 0 ? '' : ` (${others.join(', ')} is there, which makes rollouts differently)`;
    const { name } = this.#shared;
    if (isAlone)
      this.#say(`${name}: no worker of version ${VERSION} is there${but}: rollout-viewer worker --queue ${name}`);
    else if (this.#isAlone !== null) this.#say(`${name}: a worker is there`);
    this.#isAlone = isAlone;
  }

  /** What waits is taken back; what a worker is at comes to its end there, and to nothing. */
  #giveUp(): void {
    for (const [id, { job }] of this.#asked) {
      this.#settle(id, failedOutcome(job, 'interrupted', 'interrupted'));
      void this.#queue.remove(id).catch(() => {});
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.allSettled([this.#queue.close(), this.#events.close()]);
  }
}

const runFile = (out: string): string => join(out, STATE_DIRECTORY, 'queue.json');

/** Whether a run with a queue was started in the folder before. */
export const hasRun = (out: string): Promise<boolean> =>
  stat(runFile(out)).then(
    () => true,
    () => false,
  );

/** The name of the run that writes a folder: one that is started again takes up what was made for it. */
async function runIn(out: string): Promise<string> {
  const path = runFile(out);
  const kept = await readFile(path, 'utf8').catch(() => null);
  if (kept !== null) {
    const { run } = JSON.parse(kept) as { run?: unknown };
    if (typeof run === 'string') return run;
  }
  const run = randomUUID();
  await writeFile(path, `${JSON.stringify({ run })}\n`);
  return run;
}
