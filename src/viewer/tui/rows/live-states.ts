import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { LiveRow } from '../../../analysis/report/under-way.ts';
import type { Dump, Place } from '../../../core/dump/dump.ts';
import type { DumpFile } from '../../../core/dump/dump-file.ts';
import type { FoundState, LiveReader } from '../../../core/dump/live-reader.ts';
import type { QueueState, UnderWay } from '../../../core/dump/under-way.ts';

const EVERY_MS = 1000;
/** A writer reports once a second. */
const SILENT_MS = 10_000;
/** Without a request for this long, the page is off screen. */
const UNASKED_MS = 3000;
/** How long a finished rollout keeps its row. */
const KEPT_MS = 20_000;
/** Most finished records remembered by name. */
const MOST_REMEMBERED = 10_000;

/** The row of a rollout, which keeps its place when it ends. */
interface KeyedRow extends LiveRow {
  key: string;
}

/** Unfinished rollouts as reported by their writers, read once a second while somebody is watching. */
export class LiveStates {
  readonly #dump: Dump;
  readonly #changed: () => void;
  readonly #rows = new Map<string, KeyedRow>();
  /** Records that arrived while being watched, by name. */
  readonly #finished = new Map<string, Place>();
  #reader: LiveReader | null = null;
  #fresh: { file: DumpFile; from: number }[] = [];
  #states: readonly FoundState[] | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** When the writers' reports were last requested, and when for each rollout. */
  #asked = 0;
  #watched = 0;

  /** @param changed more is known; rows have come, or have ended */
  constructor(dump: Dump, changed: () => void) {
    this.#dump = dump;
    this.#changed = changed;
    dump.onChange(({ kind, file, from }) => {
      if (this.#isWatched && kind !== 'gone') this.#fresh.push({ file, from });
    });
  }

  /** null until the first look. */
  get states(): readonly FoundState[] | null {
    return this.#states;
  }

  /** The workers of the followed run, if it has any. @param now ms since 1970 */
  queueAt(now: number): QueueState | null {
    const since = now - SILENT_MS;
    return this.#states?.find(({ written, queue }) => queue !== null && written > since)?.queue ?? null;
  }

  /** Requests the writers' reports: they are read once a second until nobody has asked for a while. */
  ask(): void {
    this.#asked = Date.now();
    if (this.#timer === null) void this.#look();
  }

  /** Requests the state of single rollouts. */
  watch(): void {
    this.#watched = Date.now();
    this.ask();
  }

  get #isWatched(): boolean {
    return Date.now() - this.#watched < UNASKED_MS;
  }

  /** Those that started first come first, and stay in place when they end. */
  get rows(): readonly KeyedRow[] {
    return [...this.#rows.values()];
  }

  /** The location of a rollout's messages so far; null if they are not stored. */
  placeOf({ path, place }: LiveRow): Place | null {
    if (place !== null) return place;
    return path === null ? null : { file: this.#dump.underWay(path), record: 0 };
  }

  /** The record that an unfinished rollout has become; null while it is unfinished. */
  recordOf(file: DumpFile): Place | null {
    for (const row of this.#rows.values()) if (row.path === file.path) return row.place;
    return null;
  }

  #look(): Promise<void> {
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (this.#dump.isClosed) return;
      if (Date.now() - this.#asked < UNASKED_MS) void this.#look();
      else this.#states = null;
    }, EVERY_MS).unref();
    return this.look();
  }

  /** Reads the writers' current reports. */
  async look(): Promise<void> {
    const isNews = this.#states?.length !== 0;
    if (!this.#isWatched) this.#forget();
    if (!LiveStates.#hasWriter(this.#dump)) {
      this.#states = [];
      this.#merge([]);
      if (isNews || this.#rows.size > 0) this.#changed();
      return;
    }
    // The schemas are loaded with the first writer, so a screen without one never loads them.
    const { LiveReader } = await import('../../../core/dump/live-reader.ts');
    this.#reader ??= new LiveReader(this.#dump, hostname());
    // Files of single rollouts are read only while single rollouts are watched.
    const isWatched = this.#isWatched;
    const states = await this.#reader.states(isWatched);
    if (this.#dump.isClosed) return;
    this.#states = states;
    if (isWatched) {
      this.#takeFinished();
      this.#merge(states);
      for (const row of this.#rows.values()) if (row.path !== null) await this.#refresh(row.path);
    }
    if (!this.#dump.isClosed) this.#changed();
  }

  static #hasWriter({ files }: Dump): boolean {
    const directories = new Set(files.map(({ path }) => dirname(path)));
    return [...directories].some(
      (directory) =>
        existsSync(join(directory, '.rollout-viewer/live.json')) ||
        existsSync(join(directory, basename(directory) === 'stream' ? '../live' : 'live')),
    );
  }

  /** An open transcript grows with its file. */
  async #refresh(path: string): Promise<void> {
    const file = this.#dump.underWay(path, false);
    if (file !== null) await file.update({ holdBack: true });
  }

  #forget(): void {
    for (const { path } of this.#rows.values()) if (path !== null) this.#dump.forgetUnderWay(path);
    this.#rows.clear();
    this.#finished.clear();
    this.#fresh = [];
  }

  /** Rollouts that a writer names are in progress, those it no longer names have ended; two with the same name are one. */
  #merge(states: readonly FoundState[]): void {
    const now = Date.now();
    const named = new Set<string>();
    for (const writer of states) {
      const { directory, rollouts } = writer;
      for (const rollout of rollouts) {
        const key = `${directory}\0${rollout.step}\0${rollout.uid ?? rollout.task}`;
        if (named.has(key)) continue;
        named.add(key);
        const place = this.#finished.get(liveName(rollout)) ?? null;
        this.#rows.set(key, { ...rollout, key, writer, ended: place === null ? null : now, place });
      }
    }
    for (const [key, row] of this.#rows) {
      if (named.has(key)) continue;
      const ended = row.ended ?? now;
      if (now - ended > KEPT_MS) {
        this.#rows.delete(key);
        if (row.path !== null) this.#dump.forgetUnderWay(row.path);
      } else this.#rows.set(key, { ...row, ended, place: row.place ?? this.#finished.get(liveName(row)) ?? null });
    }
  }

  /** Takes the records added to the dump since the last look. */
  #takeFinished(): void {
    const fresh = this.#fresh;
    this.#fresh = [];
    for (const { file, from } of fresh) {
      for (let record = from; record < file.count; record++) {
        const { rollout } = this.#dump.read({ file, record });
        if (rollout?.uid == null) continue;
        this.#finished.set(liveName({ uid: rollout.uid, step: file.stepOf(record) }), { file, record });
      }
    }
    for (const name of this.#finished.keys()) {
      if (this.#finished.size <= MOST_REMEMBERED) break;
      this.#finished.delete(name);
    }
  }
}

const liveName = ({ uid, step }: Pick<UnderWay, 'uid' | 'step'>): string => `${step} ${uid ?? ''}`;
