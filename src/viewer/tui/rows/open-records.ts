import type { Dump, Place } from '../../../core/dump/dump.ts';
import type { DumpRecord } from '../../../core/dump/dump-file.ts';
import { originOf } from '../../../core/dump/origins.ts';
import { samePlace } from '../state/rows.ts';

interface OpenRecord {
  place: Place;
  record: DumpRecord;
  generation: number;
  diskChange: string;
  /** Ends when a long one has been read. */
  reading: Promise<void> | null;
}

/** Long records that a page shows in addition to the open one. */
const MOST_BESIDE = 2;

/**
 * The open record. It stays as it was read, whatever happens to its file, until another one is opened or it is requested again; long ones
 * are read in a thread, and two of them are kept beside it until another record is opened.
 */
export class OpenRecords {
  readonly #dump: Dump;
  readonly #arrived: () => void;
  #open: OpenRecord | null = null;
  #beside: readonly OpenRecord[] = [];

  /** @param arrived is called when a long record has been read */
  constructor(dump: Dump, arrived: () => void) {
    this.#dump = dump;
    this.#arrived = arrived;
  }

  get isBusy(): boolean {
    return [this.#open, ...this.#beside].some((one) => one?.record.isPending);
  }

  /** The record of a place if it was already read. */
  peek(place: Place): DumpRecord | undefined {
    if (this.#open !== null && samePlace(this.#open.place, place)) return this.#open.record;
    return this.#dump.isLong(place) ? this.#besideAt(place)?.record : this.#dump.kept(place);
  }

  /** The record of a place, open or not. */
  of(place: Place): DumpRecord {
    if (this.#isOpen(place)) return this.#open!.record;
    if (!this.#dump.isLong(place)) return this.#dump.read(place);
    const known = this.#besideAt(place);
    if (known !== undefined) return known.record;
    const beside = this.#read(place);
    this.#beside = [...this.#beside, beside].slice(-MOST_BESIDE);
    return beside.record;
  }

  /** The same once it has been read; null if another one was opened meanwhile, or it cannot be read. */
  async whole(place: Place): Promise<DumpRecord | null> {
    const record = this.of(place);
    if (record.isPending !== true) return record;
    const one = this.#isOpen(place) ? this.#open : this.#besideAt(place);
    await one?.reading;
    return one === null || one === undefined || one.record.isPending === true ? null : one.record;
  }

  /** The record stays as it is until another one is opened, or it is read again. */
  open(place: Place | null): void {
    if (samePlace(this.#open?.place ?? null, place)) return;
    this.#open = place === null ? null : (this.#besideAt(place) ?? this.#read(place));
    this.#beside = [];
  }

  #isOpen(place: Place): boolean {
    return this.#open !== null && samePlace(this.#open.place, place);
  }

  #besideAt(place: Place): OpenRecord | undefined {
    return this.#beside.find((one) => one.generation === place.file.generation && samePlace(one.place, place));
  }

  #read(place: Place): OpenRecord {
    const { file } = place;
    originOf(file.path)?.look?.();
    const isLong = this.#dump.isLong(place);
    const record = isLong ? file.pending(place.record) : this.#dump.read(place);
    const one: OpenRecord = { place, record, generation: file.generation, diskChange: '', reading: null };
    if (isLong) one.reading = this.#readLong(one);
    return one;
  }

  async #readLong(one: OpenRecord): Promise<void> {
    const isWanted = (): boolean => one === this.#open || this.#beside.includes(one);
    const record = await this.#dump.readLong(one.place, isWanted);
    if (record === null || !isWanted()) return;
    one.record = record;
    this.#arrived();
  }

  /** The dump has changed: determines what happened to the open record. */
  changed(): void {
    const open = this.#open;
    if (open === null) return;
    const { file, record } = open.place;
    if (this.#dump.isUnderWay(file)) return;
    const isLonger = open.generation === file.generation && file.index.length(record) > open.record.bytes;
    const isLong = this.#dump.isLong(open.place);
    if (file.state === 'gone' || !this.#dump.files.includes(file)) {
      open.diskChange = 'gone from disk';
    } else if (record >= file.count) {
      open.diskChange = 'cut off on disk';
    } else if (isLonger && (isLong || file.raw(record)?.startsWith(open.record.raw))) {
      // The line was incomplete, and the rest has arrived.
      this.#open = null;
    } else if (open.record.isAwaited && open.generation !== file.generation) {
      // Its file has arrived.
      this.#open = null;
    } else if (open.generation !== file.generation || open.diskChange !== '') {
      // Replaced content may hold the same line: a resumed run rewrites most of a step unchanged.
      open.generation = file.generation;
      // A long record is not read again just to compare it.
      const isSame = !isLong && file.raw(record) === open.record.raw;
      open.diskChange = isSame ? '' : 'replaced on disk, R loads it';
    }
  }

  /** Shows an unfinished rollout as far as it is. */
  readOn(): void {
    const open = this.#open;
    if (open === null || !this.#dump.isUnderWay(open.place.file)) return;
    const { file } = open.place;
    if (file.state === 'gone') open.diskChange = 'ended';
    else if (file.count > 0 && (open.generation !== file.generation || open.record.rollout === null)) this.#open = null;
  }

  /** Reads the open record again. */
  reload(): void {
    if (this.#open?.diskChange.startsWith('replaced')) this.#open = null;
  }

  diskChange(place: Place): string {
    return this.#isOpen(place) ? this.#open!.diskChange : '';
  }
}
