import type { Place } from '../../../core/dump/dump.ts';
import type { DumpRecord } from '../../../core/dump/dump-file.ts';
import type { JsonValue } from '../../../core/json/value.ts';
import type { Column, NOT_KNOWN } from '../../present/list-columns.ts';
import type { Layout } from '../../present/transcript/layout.ts';
import type { DisplayState } from '../state/display.ts';
import type { Rows } from '../state/rows.ts';
import type { State } from '../state/state.ts';
import type { Want } from '../state/want.ts';
import type { Data, GroupLookup, Store } from './data.ts';
import type { FilterProgress } from './filtered-rows.ts';
import type { Geometry } from './geometry.ts';
import { Missing } from './missing.ts';
import type { Page } from './page.ts';
import type { Scan } from './scan.ts';

const orMissing = <Value>(value: Value | undefined, want: Want): Value => {
  if (value === undefined) throw new Missing(want);
  return value;
};

/** The store's current answers; undefined for missing ones. */
export interface StoredAnswers extends Store {
  readonly knownGroups: GroupLookup;
  peekRows(state: State): Rows | undefined;
  peekRecord(place: Place): DumpRecord | undefined;
  peekLayout(state: State): Layout | null | undefined;
  peekDetails(state: State): Layout | null | undefined;
  peekPage(state: State): Page | null | undefined;
  peekSearch(record: DumpRecord, display: DisplayState, value: string): Scan | null | undefined;
}

/** The current content of the store. Nothing here reads a file, checks a clock or starts work: absent answers throw Missing. */
export class KnownData implements Data {
  readonly #store: StoredAnswers;
  readonly dump: Data['dump'];
  readonly live: Data['live'];
  readonly keys: Data['keys'];
  readonly tokenizer: Data['tokenizer'];
  readonly fresh: Data['fresh'];
  readonly syntax: Data['syntax'];
  readonly underWay: Data['underWay'];
  readonly groups: GroupLookup;
  readonly searches: Data['searches'];

  constructor(store: StoredAnswers) {
    this.#store = store;
    this.dump = store.dump;
    this.live = store.live;
    this.keys = store.keys;
    this.tokenizer = store.tokenizer;
    this.fresh = store.fresh;
    this.syntax = store.syntax;
    this.underWay = store.underWay;
    this.groups = store.knownGroups;
    this.searches = {
      of: (record, display, value) =>
        orMissing(store.peekSearch(record, display, value), { kind: 'search', record, display, value }),
    };
  }

  get now(): number {
    return this.#store.now;
  }

  rows(state: State): Rows {
    return orMissing(this.#store.peekRows(state), { kind: 'rows', state });
  }

  record(place: Place): DumpRecord {
    return orMissing(this.#store.peekRecord(place), { kind: 'record', place });
  }

  layout(state: State): Layout | null {
    return orMissing(this.#store.peekLayout(state), { kind: 'layout', state });
  }

  details(state: State): Layout | null {
    return orMissing(this.#store.peekDetails(state), { kind: 'details', state });
  }

  page(state: State): Page | null {
    return orMissing(this.#store.peekPage(state), { kind: 'page', state });
  }

  filterProgress(state: State): FilterProgress | null {
    return this.#store.filterProgress(state);
  }

  nearest(state: State, place: Place): Place | null {
    return this.#store.nearest(state, place);
  }

  geometry(state: State): Geometry {
    return this.#store.geometry(state);
  }

  listColumns(state: State): readonly Column[] {
    return this.#store.listColumns(state);
  }

  allColumns(state: State): readonly { key: string; title: string; isShown: boolean }[] {
    return this.#store.allColumns(state);
  }

  value(place: Place, name: string): JsonValue | undefined | typeof NOT_KNOWN {
    return this.#store.value(place, name);
  }

  diskChange(place: Place): string {
    return this.#store.diskChange(place);
  }
}
