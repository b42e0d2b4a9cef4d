import { LRUCache } from 'lru-cache';
import type { LiveRun } from '../analysis/live-run.ts';
import type { Dump, Place } from '../dump/dump.ts';
import type { DumpRecord } from '../dump/dump-file.ts';
import { COLUMNS, type Column } from '../present/list.ts';
import type { RolloutReplay } from '../present/replay/view.ts';
import type { Folds } from '../present/transcript/blocks.ts';
import { Layout } from '../present/transcript/layout.ts';
import { Syntax } from '../present/transcript/syntax.ts';
import { type Geometry, geometry, type Shape } from './geometry.ts';
import { GroupIndex } from './group-index.ts';
import { groupOf } from './group-of.ts';
import { allRows, type Rows, samePlace } from './rows.ts';
import { shownBlocks } from './shown-blocks.ts';
import type { State } from './state.ts';

/** Characters of laid-out transcripts that are kept for going back to. */
const CACHE_SIZE = 16_000_000;

const ONE_STREAM = COLUMNS.filter((column) => column.key !== 'stream');

/** What update and views may ask about the data. Answers follow from the dump and the state alone; they are only remembered here. */
export interface World {
  readonly dump: Dump;
  readonly live: LiveRun;
  readonly groups: GroupIndex;
  readonly syntax: Syntax;
  rows(state: State): Rows;
  geometry(state: State): Geometry;
  /** What the list shows if it has the room. */
  listColumns(): readonly Column[];
  record(place: Place): DumpRecord;
  /** What happened on disk to the record that is open since it was read, in words; '' for nothing. */
  fate(place: Place): string;
  /** The transcript under the cursor, laid out for the width it has; null while nothing is open. */
  layout(state: State): Layout | null;
}

export class DumpWorld implements World {
  readonly dump: Dump;
  readonly live: LiveRun;
  readonly groups: GroupIndex;
  readonly syntax: Syntax;
  #rows: Rows | null = null;
  #geometry: { shape: Shape; geometry: Geometry } | null = null;
  /** The record that is read. It stays as it was read, whatever becomes of its file, until it is asked for again. */
  #open: { place: Place; record: DumpRecord; generation: number; fate: string } | null = null;
  #laid: { record: DumpRecord; key: string; folds: Folds; replay: RolloutReplay | undefined; layout: Layout } | null =
    null;
  readonly #cache = new LRUCache<string, { record: DumpRecord; layout: Layout }>({
    maxSize: CACHE_SIZE,
    sizeCalculation: ({ layout }) => layout.size,
  });

  /** @param changed is called when something more is known that no listener of the dump is told */
  constructor(dump: Dump, live: LiveRun, changed: () => void) {
    this.dump = dump;
    this.live = live;
    this.groups = new GroupIndex(dump, changed);
    this.syntax = new Syntax(changed);
  }

  /** The dump has changed: it may hold more records than before. */
  changed(): void {
    this.#rows = null;
    const open = this.#open;
    if (open === null) return;
    const { file, record } = open.place;
    if (file.state === 'gone' || !this.dump.files.includes(file)) {
      open.fate = 'gone from disk';
    } else if (record >= file.count) {
      open.fate = 'cut off on disk';
    } else if (open.generation !== file.generation || open.fate !== '') {
      // Another content may hold the same line: a run that goes on writes most of a step again as it was.
      open.generation = file.generation;
      open.fate = file.read(record).raw === open.record.raw ? '' : 'replaced on disk, R loads it';
    }
  }

  /** The open record is read again. */
  reload(): void {
    if (this.#open?.fate.startsWith('replaced')) this.#open = null;
  }

  fate(place: Place): string {
    return this.#open !== null && samePlace(this.#open.place, place) ? this.#open.fate : '';
  }

  rows(_state: State): Rows {
    this.#rows ??= allRows(this.dump.files);
    return this.#rows;
  }

  geometry({ columns, rows, focus, zoom, prompt, replay }: State): Geometry {
    const listColumns = this.listColumns();
    // What is typed, and below it what is to be said of that.
    const bottom = prompt === null && replay.question === null ? 1 : 2;
    const known = this.#geometry;
    if (
      known === null ||
      known.shape.columns !== columns ||
      known.shape.rows !== rows ||
      known.shape.focus !== focus ||
      known.shape.zoom !== zoom ||
      known.shape.bottom !== bottom ||
      known.shape.listColumns !== listColumns
    ) {
      const shape = { columns, rows, focus, zoom, bottom, listColumns };
      this.#geometry = { shape, geometry: geometry(shape) };
    }
    return this.#geometry!.geometry;
  }

  /** The stream is worth a column only where there are several. */
  listColumns(): readonly Column[] {
    const { files } = this.dump;
    const several = files.length > 1 && files[0]!.stream !== files.at(-1)!.stream;
    return several ? COLUMNS : ONE_STREAM;
  }

  record(place: Place): DumpRecord {
    if (this.#open === null || !samePlace(this.#open.place, place)) {
      this.#open = { place, record: this.dump.read(place), generation: place.file.generation, fate: '' };
    }
    return this.#open.record;
  }

  layout(state: State): Layout | null {
    const place = state.list.cursor;
    const width = this.geometry(state).transcriptWidth;
    if (place === null || width === 0) return null;
    const record = this.record(place);
    const { folds } = state.transcript;
    const { view, wrap, hidden } = state.display;
    // Groups become known while the record is open.
    const beside = view === 'details' || view === 'chat' ? groupOf(this.groups, place) : { group: '', advantage: null };
    const shown = view === 'details' ? beside.group : '';
    const key = [record.locator, width, view, wrap, hidden.join('\n'), shown, beside.advantage].join('\0');
    const replay = state.replay.rollouts.get(record.locator);
    const laid = this.#laid;
    if (laid?.key === key && laid.folds === folds && laid.replay === replay && sameRecord(laid.record, record))
      return laid.layout;
    const isPlain = folds.size === 0 && replay === undefined;
    const kept = isPlain ? this.#cache.get(key) : undefined;
    if (kept !== undefined && sameRecord(kept.record, record)) {
      this.#laid = { record, key, folds, replay, layout: kept.layout };
      return kept.layout;
    }
    const layout = new Layout(shownBlocks(record, state.display, folds, beside, replay), width, folds, wrap);
    if (isPlain) this.#cache.set(key, { record, layout });
    this.#laid = { record, key, folds, replay, layout };
    return layout;
  }
}

/** A record read again is another object; its text says whether it is still the same. */
const sameRecord = (a: DumpRecord, b: DumpRecord): boolean => a === b || (a.locator === b.locator && a.raw === b.raw);
