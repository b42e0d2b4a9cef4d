import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { pause } from '../core/async/timeout.ts';
import { errorCode, errorMessage } from '../core/text/thrown.ts';
import { readAs } from './aside.ts';
import { type EntryPath, isFolderRefusal, SharedFolder } from './folder-files.ts';
import { LeaseWatch } from './lease-watch.ts';
import { Refusals } from './refusals.ts';
import { Poisoned, RunHead } from './runs.ts';
import type { TextStore } from './texts.ts';
import { TextPlace } from './texts.ts';
import type { WorkerHub } from './worker.ts';
import { Beat, type WorkerBeat } from './workers.ts';

/** A member whose file did not change for this long counts as gone; it changes it every 2 s. */
export const LEASE_MS = 20_000;
const POLL_MS = 200;
/** Workers choose among this many times their free places, so that two seldom want the same job. */
const CHOICE = 8;
/** Abandoned work is kept for this long. */
const KEPT_MS = 7 * 86_400_000;

export const JobName = z.string().regex(/^[0-9a-f]{32}$/);
export const JobResult = z.union([z.object({ made: TextPlace }), z.object({ failed: z.string() })]);
const Id = z.string().regex(/^[\w-]{1,100}$/);
const Marked = z.object({ mark: z.string().max(200) });
const markOf = (text: string): string | null => readAs(Marked, text)?.mark ?? null;
const Claim = /^([0-9a-f]{32})~([\w-]{1,100})$/;

const PARTS = ['waiting', 'taken', 'done', 'temporary'] as const;

/** Jobs hold their texts. */
export const textsInJobs: TextStore = {
  put: async (text) => ({ text }),
  drop: async () => {},
  get: async (place) => {
    if ('text' in place) return place.text;
    throw new Error('the job does not hold its text');
  },
};

const workerFile = (id: string): EntryPath => ['workers', `${id}.json`];

/** A folder in which runs and workers meet; each state of a job is a folder, and a job is taken by moving it. */
export class FolderQueue {
  readonly files: SharedFolder;
  readonly refusals: Refusals;
  readonly #own = randomUUID();
  #count = 0;
  #isReadable = true;

  constructor(root: string, say: (message: string) => void) {
    this.files = new SharedFolder(root);
    this.refusals = new Refusals(root, say, 'the folder', isFolderRefusal);
  }

  get isReadable(): boolean {
    return this.#isReadable;
  }

  /** Makes its folders. */
  async open(): Promise<void> {
    for (const name of ['runs', 'workers', 'aside', 'poisoned']) await this.files.make([name]);
  }

  run(id: string, ...names: string[]): EntryPath {
    return ['runs', id, ...names];
  }

  async openRun(id: string, data: object): Promise<void> {
    await this.files.make(this.run(id));
    for (const part of PARTS) await this.files.make(this.run(id, part));
    await this.write(id, this.run(id, 'data.json'), JSON.stringify(data));
  }

  write(run: string, path: EntryPath, text: string): Promise<void> {
    return this.files.write(this.run(run, 'temporary'), path, text);
  }

  /** Empties the folder of a run that is over; a worker may be writing into it. */
  async dropRun(run: string): Promise<void> {
    for (let tries = 0; tries < 3; tries++)
      if (
        await this.files.removeFolder(this.run(run), PARTS).then(
          () => true,
          () => false,
        )
      )
        return;
  }

  /** Removes what killed processes left long ago. A file's age is that between two files: both times are the file server's. */
  async sweep(own: string): Promise<void> {
    const { files } = this;
    const now = await files.modified(this.run(own, 'data.json'));
    const isOld = async (path: EntryPath) => now !== null && now - ((await files.modified(path)) ?? now) > KEPT_MS;
    for (const folder of ['aside', 'poisoned'])
      for (const name of await files.names([folder]))
        if (await isOld([folder, name])) await files.remove([folder, name]);
    for (const id of await files.names(['runs'], 'folders'))
      if (
        Id.safeParse(id).success &&
        (await isOld(this.run(id, 'data.json'))) &&
        (await isOld(this.run(id, 'run.json')))
      )
        await this.dropRun(id);
  }

  #mark = (): string => `${this.#own}.${this.#count++}`;

  signRun(head: RunHead): Promise<void> {
    return this.files.overwrite(this.run(head.id, 'run.json'), JSON.stringify({ ...head, mark: this.#mark() }));
  }

  signWorker(word: WorkerBeat): Promise<void> {
    return this.files.overwrite(workerFile(word.id), JSON.stringify({ ...word, mark: this.#mark() }));
  }

  /** Reads the files of members, and notes which of them changed. @returns those that are there */
  async #members<T extends { id: string }>(
    paths: ReadonlyMap<string, EntryPath>,
    schema: z.ZodType<T>,
    watch: LeaseWatch,
  ) {
    const marks = new Map<string, string>();
    const words: T[] = [];
    for (const [id, path] of paths) {
      const text = await this.files.read(path).catch((error) => {
        if (isFolderRefusal(error)) throw error;
        return null;
      });
      const mark = text === null ? null : markOf(text);
      if (text === null || mark === null) continue;
      marks.set(id, mark);
      const word = readAs(schema, text);
      if (word !== null && word.id === id) words.push(word);
    }
    watch.look(marks);
    return words.filter(({ id }) => watch.isThere(id));
  }

  async runs(watch: LeaseWatch): Promise<RunHead[]> {
    try {
      const ids = (await this.files.names(['runs'], 'folders')).filter((id) => Id.safeParse(id).success);
      const found = await this.#members(new Map(ids.map((id) => [id, this.run(id, 'run.json')])), RunHead, watch);
      if (!this.#isReadable) this.refusals.served();
      this.#isReadable = true;
      return found;
    } catch (error) {
      this.#isReadable = false;
      this.refusals.refused(errorMessage(error));
      throw error;
    }
  }

  async workers(watch: LeaseWatch): Promise<WorkerBeat[]> {
    const ids = (await this.files.names(['workers'])).flatMap((name) =>
      name.endsWith('.json') && Id.safeParse(name.slice(0, -5)).success ? name.slice(0, -5) : [],
    );
    const paths = new Map(ids.map((id) => [id, workerFile(id)]));
    const there = await this.#members(paths, Beat, watch);
    // A killed worker leaves its file; one that was only held up writes it again.
    for (const [id, path] of paths) if (watch.isGone(id)) await this.files.remove(path).catch(() => {});
    return there.sort((a, b) => a.started.localeCompare(b.started));
  }

  /** The jobs that workers have taken: pairs of a job's name and a worker's id. */
  async claims(run: string): Promise<[string, string][]> {
    return (await this.files.names(this.run(run, 'taken'))).flatMap((name) => {
      const [, job, worker] = Claim.exec(name) ?? [];
      return job === undefined || worker === undefined ? [] : [[job, worker]];
    });
  }

  claim(run: string, job: string, worker: string): EntryPath {
    return this.run(run, 'taken', `${job}~${worker}`);
  }

  /** @returns the surroundings in force */
  async agree(run: string, text: string): Promise<string> {
    const path = this.run(run, 'surroundings.json');
    const part = this.run(run, 'temporary', randomUUID());
    await this.refusals.ask(async () => {
      await this.write(run, part, text);
      await this.files.link(part, path).catch((error) => {
        if (errorCode(error) !== 'EEXIST') throw error;
      });
      await this.files.remove(part);
    });
    return (await this.files.read(path)) ?? text;
  }

  notePoisoned(one: Poisoned): Promise<void> {
    return this.write(one.run, ['poisoned', `${randomUUID()}.json`], JSON.stringify(one));
  }

  async poisoned(most: number): Promise<Poisoned[]> {
    const found: Poisoned[] = [];
    for (const name of await this.files.names(['poisoned'])) {
      const text = await this.files.read(['poisoned', name]).catch(() => null);
      const one = text === null ? null : readAs(Poisoned, text);
      if (one !== null) found.push(one);
    }
    return found.sort((a, b) => b.at.localeCompare(a.at)).slice(0, most);
  }

  async aside(most: number): Promise<{ at: string; where: string; why: string; text: string }[]> {
    const found = [];
    for (const name of (await this.files.names(['aside'])).slice(0, most)) {
      const path: EntryPath = ['aside', name];
      const modified = await this.files.modified(path).catch(() => null);
      const at = modified === null ? '' : new Date(modified).toISOString();
      const text = (await this.files.read(path).catch(() => null))?.slice(0, 500) ?? '';
      found.push({ at, where: this.files.shown(path), why: 'not an entry of this version', text });
    }
    return found.sort((a, b) => b.at.localeCompare(a.at));
  }

  /** A worker's side. */
  hub(): WorkerHub {
    const watch = new LeaseWatch(LEASE_MS);
    return {
      isThere: () => true,
      list: () => this.runs(watch),
      data: async (run) => {
        const text = await this.files.read(this.run(run, 'data.json'));
        if (text === null) throw new Error(`run ${run} is not at ${this.files.root}`);
        return JSON.parse(text);
      },
      parts: { texts: textsInJobs, runs: { agree: (run, text) => this.agree(run, text) } },
      // Unwritten, it is a worker that seems to be gone: others repeat its work.
      beat: (word) =>
        this.signWorker(word)
          .catch(() => this.open().then(() => this.signWorker(word)))
          .catch(() => {}),
      leave: async (worker) => void (await this.files.remove(workerFile(worker))),
      consume: (consuming) => new FolderConsumer(this, consuming),
    };
  }
}

/** Takes jobs of a run as it has places for them. */
class FolderConsumer {
  readonly #queue: FolderQueue;
  readonly #consuming: Parameters<WorkerHub['consume']>[0];
  readonly #under = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;
  #wake = () => {};

  constructor(queue: FolderQueue, consuming: Parameters<WorkerHub['consume']>[0]) {
    this.#queue = queue;
    this.#consuming = consuming;
    this.#ended = this.#serve();
  }

  async close(force = false): Promise<void> {
    this.#stop.abort();
    this.#wake();
    await this.#ended;
    if (!force) await Promise.all(this.#under);
  }

  async #serve(): Promise<void> {
    const { places } = this.#consuming;
    while (!this.#stop.signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      const count = this.#under.size < places ? await this.#takeSome(places - this.#under.size).catch(() => 0) : 0;
      if (this.#under.size >= places) await woken;
      else if (count === 0) await pause(POLL_MS, this.#stop.signal).catch(() => {});
    }
  }

  async #takeSome(free: number): Promise<number> {
    const { run, worker } = this.#consuming;
    const { refusals, files } = this.#queue;
    const { signal } = this.#stop;
    const waiting = await refusals.ask(() => files.names(this.#queue.run(run, 'waiting')), { signal });
    const names = waiting.filter((name) => JobName.safeParse(name).success).slice(0, CHOICE * free);
    let count = 0;
    for (const name of inAnyOrder(names)) {
      if (count >= free || signal.aborted) break;
      const claim = this.#queue.claim(run, name, worker);
      const isTaken = await refusals.ask(
        () =>
          files.move(this.#queue.run(run, 'waiting', name), claim).then(
            () => true,
            async (error) => {
              if (errorCode(error) !== 'ENOENT') throw error;
              // Over NFS the answer to a rename that was done may get lost, and its repetition finds nothing.
              return (await files.modified(claim).catch(() => null)) !== null;
            },
          ),
        { signal },
      );
      if (!isTaken) continue;
      count++;
      const work = this.#work(name, claim).catch((error) => this.#consuming.failed(errorMessage(error)));
      this.#under.add(work);
      void work.then(() => {
        this.#under.delete(work);
        this.#wake();
      });
    }
    return count;
  }

  async #work(name: string, claim: EntryPath): Promise<void> {
    const { run, make, done, failed } = this.#consuming;
    const { refusals, files } = this.#queue;
    const text = await refusals.ask(() => files.read(claim)).catch(() => null);
    const sent = text === null ? null : readAs(z.unknown(), text);
    // The run puts a missing job there again.
    if (sent === null) return files.putAside(claim, name);
    const ended: z.infer<typeof JobResult> = await make(name, sent).catch((error) => ({ failed: errorMessage(error) }));
    try {
      await refusals.ask(() => this.#queue.write(run, this.#queue.run(run, 'done', name), JSON.stringify(ended)));
      await files.remove(claim);
    } catch (error) {
      // The run is over, and nobody wants the result.
      if (errorCode(error) !== 'ENOENT') throw error;
    }
    if ('failed' in ended) failed(ended.failed);
    else done();
  }
}

/** Each order is equally likely. */
function inAnyOrder<T>(list: readonly T[]): T[] {
  const drawn = list.map((one) => ({ one, at: Math.random() }));
  return drawn.sort((a, b) => a.at - b.at).map(({ one }) => one);
}
