import { FACT_ROW, isLookedAt } from '../rollout/facts.ts';
import type { GroupKey } from '../rollout/group-key.ts';

import type { DumpFile } from './dump-file.ts';
import type { Place, Progress } from './place.ts';
import type { RecordWorker } from './record-worker-client.ts';

/** The most that one request to the thread holds, so that a row that comes into sight waits for less than a tenth of a second. */
const BATCH_RECORDS = 128;
const BATCH_BYTES = 4 << 20;

/** Fills in what needs a parse: rows in sight first, then every record of the dump, one batch at a time. */
export class FactsPass {
  readonly #worker: RecordWorker;
  readonly #changed: () => void;
  #wanted: readonly Place[] = [];
  #queue: DumpFile[] = [];
  /** The place of the background pass in the first file of its queue. */
  #next = 0;
  #isRunning = false;
  /** Records that could not be read; without them the pass would ask for them for ever. */
  readonly #lost = new Map<DumpFile, Set<number>>();
  /** Names of values that the records seen so far have beside those of every rollout. */
  readonly extras = new Set<string>();
  #pauses = 0;

  constructor(worker: RecordWorker, changed: () => void) {
    this.#worker = worker;
    this.#changed = changed;
  }

  want(places: readonly Place[]): void {
    this.#wanted = places.filter((place) => this.#isMissing(place.file, place.record));
    void this.#run();
  }

  background(files: readonly DumpFile[]): void {
    this.#queue = [...files];
    this.#next = 0;
    void this.#run();
  }

  /** A file has new records: they are looked at before what waits already, since a run that is followed is asked about its newest step. */
  add(file: DumpFile): void {
    this.#lost.delete(file);
    if (this.#queue[0] === file) this.#next = 0;
    else this.#queue = [...this.#queue.slice(0, 1), file, ...this.#queue.slice(1).filter((other) => other !== file)];
    void this.#run();
  }

  /** Rows in sight are still looked at. Each pause is ended for itself. Something that a person waits for has the disk and the processors. */
  pause(isPaused: boolean): void {
    this.#pauses += isPaused ? 1 : -1;
    void this.#run();
  }

  /** All that can be known of the file's records is known. */
  isDone(file: DumpFile): boolean {
    return file.index.looked + (this.#lost.get(file)?.size ?? 0) >= file.count;
  }

  progress(files: readonly DumpFile[]): Progress {
    const total = files.reduce((sum, file) => sum + file.count, 0);
    const waiting = this.#queue.reduce((sum, file) => sum + file.count, 0) - this.#next;
    return { phase: this.#queue.length > 0 ? 'facts' : 'done', done: total - waiting, total };
  }

  async groupKeys(file: DumpFile): Promise<(GroupKey | null)[]> {
    const keys: (GroupKey | null)[] = [];
    while (keys.length < file.count) {
      const records = this.#batch(file, keys.length, () => true);
      if (!(await this.#ask(file, records, keys))) break;
    }
    return keys;
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    for (;;) {
      const [file, records] = this.#nextBatch();
      if (file === undefined) break;
      if (!(await this.#ask(file, records))) break;
      this.#changed();
    }
    this.#isRunning = false;
    this.#changed();
  }

  #nextBatch(): [DumpFile | undefined, number[]] {
    const [first] = this.#wanted;
    if (first !== undefined) {
      const records = this.#wanted.filter((place) => place.file === first.file).map((place) => place.record);
      this.#wanted = this.#wanted.filter((place) => place.file !== first.file);
      return [first.file, records.slice(0, BATCH_RECORDS)];
    }
    for (let file = this.#queue[0]; file !== undefined && this.#pauses === 0; file = this.#queue[0]) {
      const records = this.#batch(file, this.#next, (record) => this.#isMissing(file as DumpFile, record));
      if (records.length > 0) {
        this.#next = (records.at(-1) as number) + 1;
        return [file, records];
      }
      this.#queue.shift();
      this.#next = 0;
    }
    return [undefined, []];
  }

  #batch(file: DumpFile, from: number, wants: (record: number) => boolean): number[] {
    const records: number[] = [];
    let bytes = 0;
    for (let record = from; record < file.count && records.length < BATCH_RECORDS && bytes < BATCH_BYTES; record++) {
      if (!wants(record)) continue;
      records.push(record);
      bytes += file.index.length(record);
    }
    return records;
  }

  /** @returns false when the dump was closed */
  async #ask(file: DumpFile, records: readonly number[], keys?: (GroupKey | null)[]): Promise<boolean> {
    const { index } = file;
    const places = Float64Array.from(records.flatMap((record) => [index.offset(record), index.length(record)]));
    const { generation } = file;
    const parts = records.map((record) => index.part(record));
    const request = {
      path: file.readablePath,
      places,
      parts: parts.some((part) => part > 0) ? parts : null,
      context: file.context,
      wantsKeys: keys !== undefined,
    };
    const answer = await this.#worker.ask(request, [places.buffer]);
    if (answer === null) {
      if (this.#worker.isClosed) return false;
      // One of these is more than the thread has memory for. Which one, is found by asking for each alone.
      if (records.length === 1) this.#markLost(file, records[0] as number);
      else for (const record of records) if (!(await this.#ask(file, [record], keys))) return false;
      if (records.length === 1) keys?.push(null);
      return true;
    }
    for (const name of answer.extras) this.extras.add(name);
    // The answer speaks of an earlier content; the file waits in the queue again.
    if (generation !== file.generation || index !== file.index) return true;
    for (const [i, record] of records.entries()) {
      if (!isLookedAt(answer.facts, i * FACT_ROW)) {
        this.#markLost(file, record);
      } else {
        index.setFacts(record, answer.facts.subarray(i * FACT_ROW, (i + 1) * FACT_ROW));
        // The parse has the last word over what the line's tail told.
        index.setScore(record, answer.hasScore[i] === 1 ? answer.scores[i] : null);
      }
    }
    keys?.push(...records.map((_, i) => answer.keys[i] ?? null));
    return true;
  }

  #isMissing(file: DumpFile, record: number): boolean {
    return !file.index.isLooked(record) && !this.#lost.get(file)?.has(record);
  }

  #markLost(file: DumpFile, record: number): void {
    const lost = this.#lost.get(file) ?? new Set<number>();
    lost.add(record);
    this.#lost.set(file, lost);
  }
}
