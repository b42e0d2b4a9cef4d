import { threadCount } from '../async/thread-count.ts';
import type { JsonValue } from '../json/value.ts';
import { float64At, lastItem, numberInAt } from '../lists/at.ts';
import { FACT_ROW, isLookedAt } from '../rollout/fact-row.ts';
import type { GroupKey } from '../rollout/group-key.ts';

import type { DumpFile } from './dump-file.ts';
import { BATCH_RECORDS, batchOf, recordsFrom } from './fact-batches.ts';
import { HeavyRecords } from './heavy-records.ts';
import type { LineIndex } from './line-index.ts';
import { isHeavy } from './long-record.ts';
import type { Place, Progress } from './place.ts';
import { RecordWorker, type WorkerAnswer } from './record-worker-client.ts';

/** Each thread holds 40 MB. */
const MOST_THREADS = 8;
/** Requests queued at a thread, so that it is never idle. */
const AHEAD = 2;
/** Bytes that a running thread reads in the time that another one takes to start. */
const WORTH_A_THREAD = 4 << 20;

/**
 * Extracts everything that needs a parse: visible rows first, then every record of the dump, in threads, each record
 * once.
 */
export class FactsPass {
  readonly #workers: { worker: RecordWorker; asked: number }[];
  readonly #changed: () => void;
  readonly #fileDone: (file: DumpFile) => void;
  readonly #givesWay: boolean;
  #wanted: readonly Place[] = [];
  #queue: DumpFile[] = [];
  /** The background pass's position in the first file of its queue. */
  #next = 0;
  #asked = 0;
  #isClosed = false;
  /** Pending requests, by file, and their records, which are not requested again. */
  readonly #open = new Map<DumpFile, number>();
  readonly #underWay = new Map<LineIndex, Set<number>>();
  /** Records that could not be read; without this set the pass would request them forever. */
  readonly #lost = new Map<DumpFile, Set<number>>();
  /** Names of extra values in the records seen so far. */
  readonly extras = new Set<string>();
  #pauses = 0;
  /** Bytes of all requests so far: a small dump is read by one thread. */
  #askedBytes = 0;
  #waiting: (() => void)[] = [];
  readonly #heavy = new HeavyRecords();

  /** @param fileDone called when a file's records are done @param givesWay somebody is at the keyboard */
  constructor(changed: () => void, fileDone: (file: DumpFile) => void, givesWay: boolean) {
    this.#workers = Array.from({ length: threadCount(MOST_THREADS) }, () => ({ worker: new RecordWorker(), asked: 0 }));
    this.#changed = changed;
    this.#fileDone = fileDone;
    this.#givesWay = givesWay;
  }

  want(places: readonly Place[]): void {
    this.#wanted = places.filter((place) => this.#isMissing(place.file, place.record));
    this.#run();
  }

  background(files: readonly DumpFile[]): void {
    this.#queue = [...files];
    for (const file of files) this.#takeNames(file.index.columns.extras);
    this.#next = 0;
    this.#run();
  }

  /** @returns once the facts of these records are known, or cannot be */
  async lookAt(file: DumpFile, records: readonly number[], needsDetails = false): Promise<void> {
    const { details } = file.index.columns;
    const missing = records.filter(
      (record) =>
        this.#isMissing(file, record) || (needsDetails && !details.has(record) && !this.#isLost(file, record)),
    );
    const batches: number[][] = [];
    for (let at = 0; at < missing.length; at += lastItem(batches).length)
      batches.push(batchOf(file, missing.slice(at, at + BATCH_RECORDS)));
    await Promise.all(batches.map((batch) => this.#ask(file, batch)));
  }

  /**
   * A file has new records. They go before the rest of the queue, because users who follow a run ask about its newest
   * step.
   */
  add(file: DumpFile): void {
    this.#takeNames(file.index.columns.extras);
    this.#lost.delete(file);
    if (this.#queue[0] === file) this.#next = 0;
    else this.#queue = [...this.#queue.slice(0, 1), file, ...this.#queue.slice(1).filter((other) => other !== file)];
    this.#run();
  }

  /**
   * Pauses or resumes the background pass, to leave disk and processors to a user's request. Visible rows are still
   * examined. Each pause needs its own resume. @param isOfHeavy visible rows whose records are heavy wait, too
   */
  pause(isPaused: boolean, isOfHeavy = false): void {
    this.#pauses += isPaused ? 1 : -1;
    if (isOfHeavy) this.#heavy.pause(isPaused);
    this.#run();
  }

  /** Every record of the file was examined or could not be read. */
  isDone(file: DumpFile): boolean {
    return file.index.looked + (this.#lost.get(file)?.size ?? 0) >= file.count;
  }

  /** Records are examined, or wait for it. */
  get isBusy(): boolean {
    return this.#queue.length > 0 || this.#open.size > 0;
  }

  progress(files: readonly DumpFile[]): Progress {
    const total = files.reduce((sum, file) => sum + file.count, 0);
    const done = files.reduce((sum, file) => sum + file.index.looked + (this.#lost.get(file)?.size ?? 0), 0);
    return { phase: this.isBusy ? 'facts' : 'done', done: Math.min(done, total), total };
  }

  /** Resolves once nothing is pending, or the dump was closed. */
  whenDone(): Promise<void> {
    if (this.#isClosed || (this.#queue.length === 0 && this.#asked === 0)) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  close(): void {
    this.#isClosed = true;
    this.#heavy.close();
    for (const { worker } of this.#workers) worker.close();
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  async groupKeys(file: DumpFile): Promise<(GroupKey | null)[]> {
    const keys: (GroupKey | null)[] = [];
    while (keys.length < file.count) {
      const records = batchOf(file, recordsFrom(file, keys.length));
      if (!(await this.#ask(file, records, keys))) break;
    }
    return keys;
  }

  #run(): void {
    while (!this.#isClosed && this.#asked < this.#workers.length * AHEAD) {
      const [file, records] = this.#nextBatch();
      if (file === undefined) break;
      this.#asked++;
      this.#open.set(file, (this.#open.get(file) ?? 0) + 1);
      const { index } = file;
      const underWay = this.#underWay.get(index) ?? new Set();
      this.#underWay.set(index, underWay);
      for (const record of records) underWay.add(record);
      void this.#ask(file, records).then(() => {
        this.#asked--;
        for (const record of records) underWay.delete(record);
        if (underWay.size === 0) this.#underWay.delete(index);
        // A line that was longer by then is requested again.
        if (records.some((record) => record < file.count && this.#isMissing(file, record))) this.#again(file);
        this.#settle(file);
        this.#changed();
        this.#run();
      });
    }
    if (this.#queue.length > 0 || this.#asked > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
    this.#changed();
  }

  #again(file: DumpFile): void {
    if (this.#queue[0] === file) this.#next = 0;
    else if (!this.#queue.includes(file)) this.#queue.push(file);
  }

  #settle(file: DumpFile): void {
    const open = this.#open.get(file)! - 1;
    if (open > 0) {
      this.#open.set(file, open);
      return;
    }
    this.#open.delete(file);
    if (!this.#isClosed && this.isDone(file)) this.#fileDone(file);
  }

  #nextBatch(): [DumpFile | undefined, number[]] {
    this.#wanted = this.#wanted.filter(({ file, record }) => this.#isWaiting(file, record));
    // A long one is being read for the screen: together they would take twice the memory.
    const [first] = this.#wanted.filter(({ file, record }) => this.#pauses === 0 || !this.#isAlone(file, record));
    if (first !== undefined) {
      const { file } = first;
      const records = this.#wanted.filter((place) => place.file === file).map((place) => place.record);
      return [
        file,
        batchOf(file, this.#pauses === 0 ? records : records.filter((record) => !this.#isAlone(file, record))),
      ];
    }
    for (let file = this.#queue[0]; file !== undefined && this.#pauses === 0; file = this.#queue[0]) {
      const records = this.isDone(file) ? [] : batchOf(file, this.#waitingIn(file, this.#next));
      if (records.length > 0) {
        this.#next = (records.at(-1) as number) + 1;
        return [file, records];
      }
      this.#queue.shift();
      this.#next = 0;
    }
    return [undefined, []];
  }

  *#waitingIn(file: DumpFile, from: number): Generator<number> {
    for (const record of recordsFrom(file, from)) if (this.#isWaiting(file, record)) yield record;
  }

  /** Somebody is at the screen, and the record is heavy. */
  #isAlone({ index }: DumpFile, record: number): boolean {
    return this.#givesWay && isHeavy({ length: index.length(record) });
  }

  /** @returns false if the dump was closed */
  async #ask(file: DumpFile, records: readonly number[], keys?: (GroupKey | null)[]): Promise<boolean> {
    // A batch ends with its first long record.
    const last = records.at(-1);
    if (last === undefined || !this.#isAlone(file, last)) return this.#askThread(file, records, keys);
    const others = records.slice(0, -1);
    if (others.length > 0 && !(await this.#askThread(file, others, keys))) return false;
    return this.#heavy.ask(file, last, (own) => this.#askThread(file, [last], own), keys);
  }

  async #askThread(file: DumpFile, records: readonly number[], keys?: (GroupKey | null)[]): Promise<boolean> {
    const { index, generation } = file;
    const lengths = records.map((record) => index.length(record));
    const places = new Float64Array(records.length * 2);
    let hasParts = false;
    for (const [i, record] of records.entries()) {
      places[i * 2] = index.offset(record);
      places[i * 2 + 1] = numberInAt(lengths, i);
      hasParts ||= index.part(record) > 0;
    }
    const request = {
      path: file.readablePath,
      places,
      parts: hasParts ? records.map((record) => index.part(record)) : null,
      context: file.context,
      wantsKeys: keys !== undefined,
      // A person at the screen waits for the facts, and never sees these.
      wantsDetails: !this.#givesWay,
      givesWay: this.#givesWay,
    };
    this.#askedBytes += lengths.reduce((sum, length) => sum + length, 0);
    const started = this.#workers.slice(0, 1 + this.#askedBytes / WORTH_A_THREAD);
    const idlest = started.reduce((best, one) => (one.asked < best.asked ? one : best));
    idlest.asked++;
    const isAlone = records.some((record) => this.#isAlone(file, record));
    const answer = await (isAlone
      ? idlest.worker.askFrugally(request, Math.max(...lengths))
      : idlest.worker.ask(request, [places.buffer]));
    idlest.asked--;
    if (isAlone) idlest.worker.rest();
    if (answer === null) {
      if (this.#isClosed) return false;
      // One of these exceeds the thread's memory. Request each separately to find out which.
      if (records.length === 1) this.#markLost(file, numberInAt(records, 0));
      else for (const record of records) if (!(await this.#askThread(file, [record], keys))) return false;
      if (records.length === 1) keys?.push(null);
      return true;
    }
    this.#takeNames(answer.extras);
    // The answer refers to an earlier content; the file is in the queue again.
    if (generation !== file.generation || index !== file.index) return true;
    this.#take(file, records, lengths, answer);
    keys?.push(...records.map((_, i) => answer.keys[i] ?? null));
    return true;
  }

  #takeNames(names: Iterable<string>): void {
    for (const name of names) this.extras.add(name);
  }

  #take(file: DumpFile, records: readonly number[], lengths: readonly number[], answer: WorkerAnswer): void {
    const columns = file.index.ownColumns;
    for (const name of answer.extras) columns.extras.add(name);
    const taken: (number | null)[] = records.map(() => null);
    for (const [i, record] of records.entries()) {
      // A partial line that was read is complete now; it is requested separately.
      if (record >= file.count || file.index.length(record) !== lengths[i]) continue;
      if (!isLookedAt(answer.facts, i * FACT_ROW)) {
        this.#markLost(file, record);
        continue;
      }
      const cells = new Map<string, JsonValue>();
      for (const { name, values } of answer.cells) if (values[i] !== undefined) cells.set(name, values[i]);
      file.index.setFacts(record, {
        row: answer.facts.subarray(i * FACT_ROW, (i + 1) * FACT_ROW),
        score: answer.hasScore[i] === 1 ? float64At(answer.scores, i) : null,
        group: {
          group: float64At(answer.groups, i),
          prompt: float64At(answer.prompts, i),
          uid: float64At(answer.uids, i),
        },
        cells,
      });
      taken[i] = record;
    }
    if (answer.details !== null) columns.details.add(taken, answer.details);
  }

  #isMissing(file: DumpFile, record: number): boolean {
    return !file.index.isLooked(record) && !this.#isLost(file, record);
  }

  #isWaiting(file: DumpFile, record: number): boolean {
    return this.#isMissing(file, record) && this.#underWay.get(file.index)?.has(record) !== true;
  }

  #isLost(file: DumpFile, record: number): boolean {
    return this.#lost.get(file)?.has(record) === true;
  }

  #markLost(file: DumpFile, record: number): void {
    const lost = this.#lost.get(file) ?? new Set<number>();
    lost.add(record);
    this.#lost.set(file, lost);
  }
}
