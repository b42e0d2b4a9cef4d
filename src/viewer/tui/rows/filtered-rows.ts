import { factTableOf, layMeasures } from '../../../analysis/facts/fact-table.ts';
import type { KeptLookup } from '../../../analysis/query/kept.ts';
import type { SortValue } from '../../../analysis/query/sort.ts';
import { laySignals } from '../../../analysis/signal/lay-signals.ts';
import { finishedBetweenKeys } from '../../../core/async/finished.ts';
import type { Dump, Place } from '../../../core/dump/dump.ts';
import type { DumpFile } from '../../../core/dump/dump-file.ts';
import { itemAt } from '../../../core/lists/at.ts';
import type { FilterChoice, SortChoice } from '../state/list.ts';
import type { Rows } from '../state/rows.ts';
import type { FilteredFile } from './filtered-file.ts';
import type { QueryPool } from './query-pool.ts';
import { RecordList } from './record-list.ts';
import { type RowAnswer, RowFilter } from './row-filter.ts';
import { allRows, positionIn, rowsOf } from './rows.ts';
import { SortTable } from './sort-table.ts';
import { sortedRows } from './sorted-rows.ts';

/** ms of work before pending keys are handled. */
const SLICE_MS = 8;
/** ms between two frames of a list in progress. */
const SHOW_MS = 100;
/** The same for a sorted list whose columns decide: it is mostly whole before, and to sort a part of it first takes as long as all. */
const SHOW_SORTED_MS = 1000;
/** Records decided without checking the clock. */
const STRIDE = 256;
/** Limits of one request to a thread: the answer must come within some ms, so that its rows are shown soon. */
const ASK_RECORDS = 128;
const ASK_BYTES = 2 << 20;
/** Rows of the previous list examined for the one nearest to the cursor. */
const NEAR = 50_000;

export interface RowsWish {
  filter: FilterChoice | null;
  sort: SortChoice | null;
  /** Sort values that the dump does not hold. */
  extra?: ((place: Place) => SortValue) | null;
  /** Results and labels kept beside the dump, for a filter that needs them. */
  kept?: () => Promise<KeptLookup>;
}

/** The progress of the list. */
export interface FilterProgress {
  found: number;
  looked: number;
  total: number;
  /** Every record that existed at the start has been examined. */
  isWhole: boolean;
  /** New ones are being examined. */
  isBusy: boolean;
  /** It waits only for facts. */
  waitsForFacts: boolean;
}

/** Consecutive records of one file; `open` are those that a thread has to decide. */
interface Batch {
  part: FilteredFile;
  from: number;
  verdicts: (RowAnswer | undefined)[];
  open: number[];
  answer: Promise<RowAnswer[] | null> | null;
}

/**
 * The filtered and sorted list. It is made in slices and in threads, so that the screen stays responsive, is shown as it grows, and follows
 * the dump: only new records are examined, and files whose content was replaced are examined again.
 */
export class FilteredRows {
  readonly wanted: RowsWish;
  readonly #dump: Dump;
  readonly #filter: RowFilter;
  readonly #changed: () => void;
  readonly #maxAsked: number;
  readonly #parts = new Map<DumpFile, FilteredFile>();
  readonly #table: SortTable | null;
  /** A list that already knows some of the answers. */
  #known: FilteredRows | null;
  /** The previous list. */
  readonly #before: Rows;
  #first: DumpFile | null;
  #rows: Rows;
  #isRunning = false;
  /** The last records were decided many at once, and are to be sorted. */
  #isQuick = false;
  #isStale = true;
  #isClosed = false;
  #shown = 0;
  #sliceStart = 0;
  #isWhole = false;
  /** Groups need facts that are still pending; and the number of rollouts when groups were last computed. */
  #isWaiting = false;
  #grouped = 0;

  /**
   * @param before the rows to show until there are new ones
   * @param known another arrangement with the same filter, or null
   * @param first the file to examine first
   * @param changed the rows or their progress have changed
   */
  constructor(
    dump: Dump,
    pool: QueryPool,
    wanted: RowsWish,
    from: { before: Rows; known: FilteredRows | null; first: DumpFile | null },
    changed: () => void,
  ) {
    this.wanted = wanted;
    this.#dump = dump;
    this.#filter = new RowFilter(wanted.filter, wanted.sort, dump, pool, wanted.extra ?? null, wanted.kept);
    const rows = wanted.filter === null ? dump.recordCount : 0;
    this.#table = wanted.sort === null ? null : new SortTable(wanted.sort.descending, rows);
    this.#maxAsked = pool.size * 2 + 1;
    this.#before = from.before;
    this.#rows = from.before;
    this.#known = from.known;
    this.#first = from.first;
    this.#changed = changed;
    this.#shown = performance.now();
    // The caller must have the object before it reports.
    setImmediate(() => this.refresh());
  }

  get rows(): Rows {
    return this.#rows;
  }

  get progress(): FilterProgress {
    let found = 0;
    let looked = 0;
    for (const part of this.#parts.values()) {
      found += part.records.length;
      looked += part.looked;
    }
    const total = this.#dump.files.reduce((sum, file) => sum + file.count, 0);
    if (this.#isWaiting) looked = this.#dump.progress().done;
    return {
      found,
      looked,
      total,
      isWhole: this.#isWhole,
      isBusy: this.#isRunning || this.#isStale,
      waitsForFacts: this.#filter.needsFactsAlone,
    };
  }

  /** The dump may have changed. */
  refresh(): void {
    this.#isStale = true;
    if (!this.#isRunning && !this.#isClosed) void this.#run();
  }

  close(): void {
    this.#isClosed = true;
    this.#known = null;
  }

  /** Whether a record is in the list; undefined if unknown so far. */
  holds({ file, record }: Place): boolean | undefined {
    const part = this.#parts.get(file);
    if (part === undefined || part.index !== file.index || record >= part.looked) return undefined;
    return position(part, record) >= 0;
  }

  /**
   * The listed record that was nearest to a place in the previous list: below it, else above it. null if unknown so far, or if there is
   * none.
   */
  nearest(place: Place): Place | null {
    const before = this.#before.indexOf(place) >= 0 ? this.#before : allRows(this.#dump.files);
    const here = before.indexOf(place);
    for (let by = 1; by < Math.min(before.length, NEAR) && here >= 0; by++) {
      for (const index of [here + by, here - by]) {
        const candidate = before.at(index);
        const isIn = candidate === null ? false : this.holds(candidate);
        if (isIn === true) return candidate;
        if (isIn === undefined && !this.#isWhole) return null;
      }
    }
    if (!this.#isWhole) return null;
    return this.#rows.at(Math.max(0, this.#rows.near(place)));
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    let isReading = false;
    let hasNews = false;
    if (this.#filter.measures.length > 0 || this.#filter.asksSignals) await this.#layWhole();
    while (this.#isStale && !this.#isClosed) {
      this.#isStale = false;
      this.#sliceStart = performance.now();
      hasNews = this.#renew() || hasNews;
      const asked: Batch[] = [];
      const settle = async (most: number) => {
        while (asked.length > 0 && (asked.length > most || itemAt(asked, 0).answer === null))
          await this.#settle(asked.shift()!);
      };
      for (const file of this.#filesInOrder()) {
        for (let part = this.#part(file); part.next < file.count && !this.#isClosed; part = this.#part(file)) {
          if (asked.length === 0 && this.#takeKnown(part)) {
            hasNews = true;
            await this.#breathe();
            continue;
          }
          const batch = this.#take(part);
          asked.push(batch);
          hasNews = true;
          if (batch.answer !== null && !isReading) {
            isReading = true;
            this.#dump.pauseFacts(true);
          }
          await settle(this.#maxAsked);
          await this.#breathe();
        }
        if (this.#isClosed) break;
      }
      await settle(0);
      if (this.#table !== null && !this.#table.isMerged) await this.#merge(this.#table);
    }
    if (isReading) this.#dump.pauseFacts(false);
    this.#isRunning = false;
    if (this.#isClosed) return;
    const wasWhole = this.#isWhole;
    this.#isWhole = true;
    this.#known = null;
    if (hasNews || !wasWhole) this.#show();
  }

  /** Terms on a group or step are known once all of its rollouts are. */
  async #layWhole(): Promise<void> {
    this.#changed();
    this.#isWaiting = true;
    const rollouts = this.#dump.files.reduce((sum, file) => sum + file.count, 0);
    await this.#dump.whenLooked();
    for (const name of this.#filter.measures)
      if (!this.#isClosed) await finishedBetweenKeys(factTableOf(this.#dump).measuring(name));
    if (this.#filter.measures.length > 0 && !this.#isClosed) layMeasures(this.#dump);
    if (this.#filter.asksSignals && rollouts !== this.#grouped)
      await laySignals(this.#dump, () => (this.#isClosed ? undefined : this.#pause()));
    this.#isWaiting = false;
    if (this.#isClosed) return;
    // One more rollout changes what holds for all in its group.
    if (rollouts !== this.#grouped) for (const part of [...this.#parts.values()]) this.#forget(part);
    this.#grouped = rollouts;
  }

  /** Lets pending keys be handled. */
  async #pause(): Promise<void> {
    if (performance.now() - this.#sliceStart < SLICE_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.#sliceStart = performance.now();
  }

  /** Lets pending keys be handled and the screen be drawn. */
  async #breathe(): Promise<void> {
    const now = performance.now();
    const isDue = now - this.#shown >= (this.#isQuick ? SHOW_SORTED_MS : SHOW_MS);
    if (now - this.#sliceStart < SLICE_MS && !isDue) return;
    if (isDue) {
      // A list that grows by a few rows is sorted again once enough of them are waiting.
      const table = this.#table;
      if (table !== null && table.waiting * 4 > table.order.length) await this.#merge(table);
      if (!this.#isClosed) this.#show();
    }
    await new Promise((resolve) => setImmediate(resolve));
    this.#sliceStart = performance.now();
  }

  async #merge(table: SortTable): Promise<void> {
    table.rankFiles(this.#dump.files);
    for (const _ of table.merge()) {
      if (this.#isClosed) return;
      if (performance.now() - this.#sliceStart < SLICE_MS) continue;
      await new Promise((resolve) => setImmediate(resolve));
      this.#sliceStart = performance.now();
    }
  }

  /** The cursor's file, then those around it: visible rows are decided first. */
  #filesInOrder(): readonly DumpFile[] {
    const { files } = this.#dump;
    const from = this.#first === null ? -1 : files.indexOf(this.#first);
    if (from < 0 || this.#isWhole) return [...files];
    return [...files.keys()].sort((a, b) => Math.abs(a - from) - Math.abs(b - from)).map((at) => itemAt(files, at));
  }

  /** Drops files that are gone. @returns whether there were any */
  #renew(): boolean {
    let isChanged = false;
    const files = new Set(this.#dump.files);
    for (const [file, part] of this.#parts) {
      if (!files.has(file) || file.index !== part.index) {
        this.#forget(part);
        isChanged = true;
      } else if (part.bytes !== file.indexedBytes) {
        // An unterminated last line may have changed.
        part.bytes = file.indexedBytes;
        if (part.looked > 0) {
          part.looked--;
          part.next = part.looked;
          this.#table?.kill(file, part.looked);
          if (part.records.last === part.looked) part.records.pop();
        }
      }
    }
    return isChanged;
  }

  #forget(part: FilteredFile): void {
    this.#parts.delete(part.file);
    this.#table?.killAll(part.file);
  }

  #part(file: DumpFile): FilteredFile {
    const known = this.#parts.get(file);
    if (known !== undefined && known.index === file.index) return known;
    if (known !== undefined) this.#forget(known);
    const { index, indexedBytes: bytes } = file;
    const part: FilteredFile = {
      file,
      index,
      bytes,
      next: 0,
      looked: 0,
      records: new RecordList(),
    };
    this.#parts.set(file, part);
    return part;
  }

  /** Takes records that columns decide, many at once. @returns false if the next one is none of them */
  #takeKnown(part: FilteredFile): boolean {
    const { file, next } = part;
    const { records, numbers, end } = this.#filter.inSequence(file, next, file.count);
    if (end === next) return false;
    part.records.pushAll(records);
    this.#isQuick = this.#table !== null;
    this.#table?.addAll(file, records, numbers);
    part.next = end;
    part.looked = end;
    return true;
  }

  /** Decides records until the slice is over, or a thread has enough to read. */
  #take(part: FilteredFile): Batch {
    const { file } = part;
    const batch: Batch = { part, from: part.next, verdicts: [], open: [], answer: null };
    this.#isQuick = false;
    let bytes = 0;
    const isIn: boolean = this.#known !== null;
    for (let record = part.next; record < file.count; record++) {
      const verdict = isIn ? this.#fromKnown({ file, record }) : this.#filter.atOnce({ file, record });
      batch.verdicts.push(verdict);
      if (verdict === undefined) {
        batch.open.push(record);
        bytes += file.index.length(record);
        if (batch.open.length === ASK_RECORDS || bytes >= ASK_BYTES) break;
      }
      if (batch.verdicts.length % STRIDE === 0 && performance.now() - this.#sliceStart >= SLICE_MS) break;
    }
    part.next += batch.verdicts.length;
    if (batch.open.length > 0) {
      const isAllIn = batch.open.every((record) => this.#known?.holds({ file, record }) === true);
      batch.answer = this.#filter.read(file, batch.open, isAllIn);
    }
    return batch;
  }

  #fromKnown(place: Place): RowAnswer | undefined {
    const isIn = this.#known?.holds(place);
    if (isIn === undefined) return this.#filter.atOnce(place);
    if (!isIn) return null;
    const value = this.#known!.#valueOf(place, this.wanted);
    return value === undefined ? this.#filter.valueAtOnce(place) : { value };
  }

  /** The sort value of a record, if both lists sort by the same key. */
  #valueOf({ file, record }: Place, { sort, extra }: RowsWish): SortValue | undefined {
    if (this.#table === null || extra != null || this.wanted.extra != null || sort?.key !== this.wanted.sort?.key)
      return undefined;
    return this.#table.value(this.#table.idOf({ file, record }));
  }

  async #settle({ part, from, verdicts, open, answer }: Batch): Promise<void> {
    if (answer !== null) {
      const answers = await answer;
      this.#sliceStart = performance.now();
      if (answers === null) return;
      for (const [i, record] of open.entries()) verdicts[record - from] = answers[i];
    }
    const { file } = part;
    // The file's content may have been replaced meanwhile.
    if (this.#parts.get(file) !== part || file.index !== part.index) return;
    for (const [i, verdict] of verdicts.entries()) {
      if (verdict == null) continue;
      part.records.push(from + i);
      this.#table?.add(file, from + i, verdict.value);
    }
    part.looked = from + verdicts.length;
  }

  #show(): void {
    this.#shown = performance.now();
    // Until something is found, the previous list is more useful.
    if (this.#isWhole || this.progress.found > 0) this.#rows = this.#made();
    this.#changed();
  }

  #made(): Rows {
    if (this.#table !== null) return sortedRows(this.#table, new Map(this.#parts));
    const parts = this.#dump.files.flatMap((file) => this.#parts.get(file) ?? []);
    return rowsOf(parts.map(({ file, records: { values, length } }) => ({ file, length, records: values })));
  }
}

const position = ({ file, records: { values, length } }: FilteredFile, record: number): number =>
  positionIn({ file, length, records: values }, record);
