// How many programs run at the same time. A place is processor time: a sleeping program gives up its place while it
// sleeps, so a dozen programs waiting for their time limit never block working ones. Memory is counted as it is
// used, against one budget. Every execution of the server goes through here. Clients take turns, and each client's programs
// run in order; programs of a client that has more than its share of the processors yield to the others'.
import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';
import { linked, onAbort } from '../../core/async/abort.ts';
import { RequestError } from '../request-error.ts';
import type { Backend, Job, Outcome, Usage } from './backends/backend.ts';
import { clientOf } from './clients.ts';

const LOOK_MS = 100;
/** Measuring takes at most this part of the time: 1 in 10. */
const LOOK_SHARE = 10;
/** A program's assumed share of a processor before it is measured. Most have ended by then. */
const UNKNOWN_SHARE = 0.5;
const UNKNOWN_BYTES = 64 * 1024 * 1024;
/** verl's clients give up after 30 s: beyond this wait, running slowly together beats running late one by one. */
const LONGEST_WAIT_MS = 5000;
/** With this many places, and in the queue, one client gets at most three quarters of what others leave. */
const MANY = 32;
/** A program that has used this much processor time, of a client above its share, yields to others. */
const LONG_MS = 500;
const LOWEST_PRIORITY = 19;

export interface PlacesOptions {
  processors: number;
  /** Concurrent programs, asleep or not. */
  most: number;
  /** Bytes of all programs together. */
  memory: number;
  /** Programs that may wait before the next one is rejected with a retry hint. */
  maxQueue: number;
}

interface PlaceWaiter {
  client: string;
  since: number;
  grant: () => void;
}

interface PlaceHolder {
  client: string;
  givesWay: boolean;
  share: number;
  bytes: number;
  sample: (() => Usage | null) | null;
  last: { at: number; cpuMs: number } | null;
  abort: AbortController;
}

export class Places {
  readonly #options: PlacesOptions;
  /** By client, the next in turn first. */
  readonly #queues = new Map<string, Set<PlaceWaiter>>();
  readonly #running = new Set<PlaceHolder>();
  #clock: NodeJS.Timeout | null = null;
  #draining = false;

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  get running(): number {
    return this.#running.size;
  }

  get waiting(): number {
    let sum = 0;
    for (const queue of this.#queues.values()) sum += queue.size;
    return sum;
  }

  /** Wraps the backend so that every execution waits for its place. Rejects with a RequestError if the queue is full or the server is shutting down. */
  before(backend: Backend): Pick<Backend, 'name' | 'languages' | 'limits' | 'execute'> {
    const { name, languages, limits } = backend;
    const execute: Backend['execute'] = (job, signal) => this.#execute(backend, job, signal);
    return { name, languages, limits, execute };
  }

  /** Running requests may finish; waiting ones are rejected. */
  drain(): void {
    this.#draining = true;
    for (const queue of [...this.#queues.values()]) for (const { grant } of queue) grant();
  }

  async #execute(backend: Backend, job: Job, signal: AbortSignal | undefined): Promise<Outcome> {
    const client = clientOf(signal);
    const queued = this.#queues.get(client)?.size ?? 0;
    const waiting = this.waiting;
    if (waiting >= this.#options.maxQueue || queued >= threeQuarters(this.#options.maxQueue - waiting + queued))
      throw new RequestError(504, `the queue is full: ${this.running} programs run and ${waiting} wait`);
    if (queued > 0 || !this.#hasRoom(client, 0)) await this.#turn(client, signal);
    if (this.#draining) {
      this.#pump();
      throw new RequestError(503, 'the server is shutting down');
    }
    const { abort, unlink } = linked(signal);
    const running: PlaceHolder = {
      client,
      givesWay: false,
      share: UNKNOWN_SHARE,
      bytes: UNKNOWN_BYTES,
      sample: null,
      last: null,
      abort,
    };
    this.#running.add(running);
    this.#clock ??= setTimeout(() => this.#look(), LOOK_MS);
    const metered = (sample: () => Usage | null) => {
      running.sample = sample;
    };
    const ended = backend.execute({ ...job, metered }, abort.signal);
    // Its processes take a moment to die after the caller has left, and count until then.
    ended
      .catch(() => {})
      .finally(() => {
        unlink();
        if (running.last !== null) job.onUse?.(running.last.cpuMs);
        this.#running.delete(running);
        if (this.#running.size === 0 && this.#queues.size === 0) this.#stopClock();
        this.#pump();
      });
    return ended;
  }

  #turn(client: string, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const queue = this.#queues.get(client) ?? new Set<PlaceWaiter>();
      this.#queues.set(client, queue);
      const leave = () => {
        queue.delete(waiting);
        if (queue.size === 0 && this.#queues.get(client) === queue) this.#queues.delete(client);
        forget();
      };
      const waiting: PlaceWaiter = {
        client,
        since: performance.now(),
        grant: () => {
          leave();
          resolve();
        },
      };
      const forget = onAbort(signal, () => {
        leave();
        reject(signal?.reason);
      });
      queue.add(waiting);
    });
  }

  #hasRoom(client: string, waitedMs: number): boolean {
    const { processors, most, memory } = this.#options;
    if (this.#running.size === 0) return true;
    if (this.#running.size >= most) return false;
    const [all, own] = [
      { share: 0, bytes: 0 },
      { count: 0, share: 0 },
    ];
    const active = new Set([client, ...this.#queues.keys()]);
    for (const running of this.#running) {
      // A program that yields to this client takes little from it.
      if (!running.givesWay || running.client === client) all.share += running.share;
      all.bytes += running.bytes;
      active.add(running.client);
      if (running.client !== client) continue;
      own.count++;
      own.share += running.share;
    }
    if (own.count >= threeQuarters(most - this.#running.size + own.count)) return false;
    // A client with nothing running is not blocked by what others are merely estimated to use.
    if (all.bytes + (own.count === 0 ? 0 : UNKNOWN_BYTES) > memory) return false;
    if (all.share + UNKNOWN_SHARE <= processors) return true;
    // A client above its share starts nothing more at the others' cost.
    const isGreedy = active.size > 1 && own.share > processors / active.size;
    return waitedMs > LONGEST_WAIT_MS && !isGreedy;
  }

  /** One at a time: the next is considered once this one has its place. */
  #pump(): void {
    for (const [client, queue] of this.#queues) {
      const [first] = queue;
      if (!first || !this.#hasRoom(client, performance.now() - first.since)) continue;
      // Its next turn comes after all others.
      this.#queues.delete(client);
      if (queue.size > 1) this.#queues.set(client, queue);
      first.grant();
      queueMicrotask(() => queueMicrotask(() => this.#pump()));
      return;
    }
  }

  #look(): void {
    const now = performance.now();
    let bytes = 0;
    let largest: PlaceHolder | null = null;
    for (const running of this.#running) {
      const usage = running.sample?.() ?? null;
      if (usage === null) continue;
      if (running.last !== null && now > running.last.at) {
        const recent = (usage.cpuMs - running.last.cpuMs) / (now - running.last.at);
        // Decays slowly: a program that reads its input for a tenth of a second is not asleep.
        running.share = Math.max(recent, recent < 0.1 ? running.share / 2 : recent);
      }
      running.last = { at: now, cpuMs: usage.cpuMs };
      running.bytes = usage.bytes;
      bytes += usage.bytes;
      if (usage.cpuMs > LONG_MS && !running.givesWay && this.#hasMore(running.client)) {
        running.givesWay = true;
        giveWay(usage.pids);
      }
      if (largest === null || usage.bytes > largest.bytes) largest = running;
    }
    if (bytes > this.#options.memory && largest !== null) {
      const detail = 'the programs of this server took more memory together than it has; ask again later';
      largest.abort.abort(new RequestError(504, detail));
    }
    // Process bombs take long to measure.
    this.#clock = setTimeout(() => this.#look(), Math.max(LOOK_MS, LOOK_SHARE * (performance.now() - now)));
    this.#pump();
  }

  /** Other clients are active, and have less than this one. */
  #hasMore(client: string): boolean {
    const active = new Set(this.#queues.keys());
    let own = 0;
    for (const running of this.#running) {
      active.add(running.client);
      if (running.client === client) own += running.share;
    }
    return active.size > 1 && own > this.#options.processors / active.size;
  }

  #stopClock(): void {
    if (this.#clock) clearTimeout(this.#clock);
    this.#clock = null;
  }
}

/** All of a small number: nothing needs to be kept free. */
const threeQuarters = (places: number): number =>
  places < MANY || places === Number.POSITIVE_INFINITY ? places : Math.ceil((places * 3) / 4);

/** Each thread individually: on Linux each has its own priority. Their children inherit it. */
function giveWay(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), LOWEST_PRIORITY);
    } catch {
      // It has ended since, or there is no /proc.
    }
  }
}
