import type { LiveRun } from '../../../analysis/live-run.ts';
import type { KeptLookup } from '../../../analysis/query/kept.ts';
import type { Dump, Place } from '../../../core/dump/dump.ts';
import type { DumpFile, DumpRecord } from '../../../core/dump/dump-file.ts';
import type { JsonValue } from '../../../core/json/value.ts';
import type { TokenText } from '../../../core/rollout/token-table.ts';
import type { Column, ListShape, NOT_KNOWN } from '../../present/list-columns.ts';
import type { Layout } from '../../present/transcript/layout.ts';
import { Syntax } from '../../present/transcript/syntax.ts';
import { questionLines } from '../questions/question-lines.ts';
import { assertNever } from '../state/assert-never.ts';
import type { DisplayState } from '../state/display.ts';
import type { ListChoice } from '../state/list.ts';
import { pageInSight } from '../state/panes.ts';
import type { Question } from '../state/replay.ts';
import type { Rows } from '../state/rows.ts';
import type { State } from '../state/state.ts';
import type { Want } from '../state/want.ts';
import { allColumns, chosenColumns, listShapeOf } from './columns.ts';
import type { Data, GroupLookup, KeyLabels } from './data.ts';
import { DetailsLayouts } from './details-layouts.ts';
import type { FilterProgress } from './filtered-rows.ts';
import { FilteredRowsCache } from './filtered-rows-cache.ts';
import { FreshRows } from './fresh-rows.ts';
import { type Geometry, geometry, type PaneShape } from './geometry.ts';
import { GroupIndex } from './group-index.ts';
import { sortedMembers } from './group-rows.ts';
import { Hits } from './hits.ts';
import { KnownData, type StoredAnswers } from './known-data.ts';
import { KnownFacts } from './known-facts.ts';
import { Layouts } from './layouts.ts';
import { LiveStates } from './live-states.ts';
import { OpenRecords } from './open-records.ts';
import { OtherRuns } from './other-runs.ts';
import type { Page } from './page.ts';
import type { PageSource } from './page-source.ts';
import { keptColumnsShown } from './replay-values.ts';
import { allRows, groupRows } from './rows.ts';
import type { Scan } from './scan.ts';
import { Searches } from './searches.ts';
import { StepSignals } from './step-signals.ts';
import { ListValues } from './values.ts';
import { WorkedOut } from './worked-out.ts';

interface DataEvents {
  changed: () => void;
  rowsChanged: () => void;
  found: () => void;
  /** Unfinished rollouts have progressed or ended. */
  liveChanged?: () => void;
  kept?: () => Promise<KeptLookup>;
}

type DataParts = Pick<Data, 'dump' | 'live' | 'keys'> & Partial<Pick<Data, 'tokenizer'>> & { pages: PageSource };

/** The layouts of a pane that shows one record. */
type RecordLayouts = Pick<Layouts, 'of' | 'peek'>;

/**
 * The store behind the screen. It caches what it made until the dump changes or something else is requested: the rows of the list (and the
 * complete ones before them), the open record, layouts, searches, groups, the page on screen. Its component classes document when each is
 * dropped. `known` is what update and views see of it; only `bring`, `look` and page builders start work.
 */
export class DumpData implements StoredAnswers {
  readonly dump: Dump;
  readonly live: LiveRun;
  readonly keys: KeyLabels;
  readonly tokenizer: TokenText | null;
  readonly fresh = new FreshRows();
  readonly known: KnownData;
  now = Date.now();
  readonly groups: GroupIndex;
  readonly underWay: LiveStates;
  readonly signals: StepSignals;
  readonly syntax: Syntax;
  readonly searches: Searches;
  readonly facts: KnownFacts;
  readonly workedOut: WorkedOut;
  readonly hits: Hits;
  readonly otherRuns: OtherRuns;
  #rows: Rows | null = null;
  #geometry: { shape: PaneShape; geometry: Geometry } | null = null;
  readonly #records: OpenRecords;
  readonly #layouts: Layouts;
  readonly #details: DetailsLayouts;
  readonly #filtered: FilteredRowsCache;
  readonly #values: ListValues;
  readonly #pages: PageSource;
  #group: { file: DumpFile; members: readonly number[]; sort: ListChoice['sort']; rows: Rows } | null = null;
  #shape: ListShape | null = null;
  #columns: { key: string; print: string; columns: ReturnType<typeof allColumns> } | null = null;
  #chosen: {
    all: ReturnType<typeof allColumns>;
    columns: ListChoice['columns'];
    sort: ListChoice['sort'];
    chosen: readonly Column[];
  } | null = null;

  /**
   * @param changed is called when more is known without a dump event
   * @param rowsChanged the rows of the list have changed
   * @param found is called when a long search has progressed
   * @param kept results kept beside the dump, for a filter that needs them
   */
  constructor(
    { dump, live, keys, pages, tokenizer = null }: DataParts,
    { changed, rowsChanged, found, liveChanged, kept }: DataEvents,
  ) {
    this.dump = dump;
    this.live = live;
    this.tokenizer = tokenizer;
    this.keys = keys;
    this.#pages = pages;
    this.#filtered = new FilteredRowsCache(dump, rowsChanged, kept);
    this.#values = new ListValues(this.#filtered.pool, changed);
    this.groups = new GroupIndex(dump, () => {
      this.#pages.changed();
      rowsChanged();
    });
    const factsChanged = (): void => {
      this.#pages.changed();
      changed();
    };
    this.underWay = new LiveStates(dump, () => {
      this.#records.readOn();
      this.#pages.changed();
      liveChanged?.();
      changed();
    });
    this.signals = new StepSignals(dump, factsChanged);
    this.facts = new KnownFacts(dump, factsChanged, kept);
    this.workedOut = new WorkedOut(factsChanged);
    this.hits = new Hits(dump, factsChanged, kept);
    this.otherRuns = new OtherRuns(dump, factsChanged);
    this.syntax = new Syntax(changed);
    this.searches = new Searches(found, tokenizer);
    this.#records = new OpenRecords(dump, () => {
      this.#pages.changed();
      changed();
      // A search was waiting for it.
      found();
    });
    this.#layouts = new Layouts(dump, this.groups.known, tokenizer, changed);
    this.#details = new DetailsLayouts(dump, this.groups.known);
    this.known = new KnownData(this);
  }

  /** The dump has changed: it may hold more records. */
  changed(): void {
    this.#rows = null;
    this.#pages.changed();
    this.#filtered.refresh();
    this.#records.changed();
  }

  /** Reads the open record again. */
  reload(): void {
    this.#records.reload();
  }

  diskChange(place: Place): string {
    return this.#records.diskChange(place);
  }

  rows({ list }: State): Rows {
    if (list.group !== null) return this.#groupRows(list.group, list.choice.sort, this.groups);
    return this.#filtered.rows(list.choice, this.#allRows, list.cursor) ?? this.#allRows;
  }

  peekRows({ list }: State): Rows | undefined {
    if (list.group !== null) return this.#groupRows(list.group, list.choice.sort, this.groups.known);
    const rows = this.#filtered.peek(list.choice);
    return rows === null ? this.#allRows : rows;
  }

  get #allRows(): Rows {
    this.#rows ??= allRows(this.dump.files);
    return this.#rows;
  }

  #groupRows({ file, record }: Place, sort: ListChoice['sort'], groups: GroupLookup): Rows {
    const found = groups.groups(file)?.membersOf(record) ?? [];
    const known = this.#group;
    const members = found.length === 0 ? [record] : found;
    if (known?.sort === sort && known.file === file && areEqualNumbers(known.members, members)) return known.rows;
    const rows = groupRows(file, sortedMembers(file, members, sort));
    this.#group = { file, members, sort, rows };
    return rows;
  }

  page(state: State): Page | null {
    this.hits.look(state);
    return this.#pages.of(state, this);
  }

  get knownGroups(): GroupLookup {
    return this.groups.known;
  }

  peekSearch(record: DumpRecord, display: DisplayState, value: string): Scan | null | undefined {
    return this.searches.peek(record, display, value);
  }

  peekPage(state: State): Page | null | undefined {
    return this.#pages.peek(state, this);
  }

  /** Fetches what update or a view is missing. @returns null if it is available now, a promise if it takes longer than a key may wait */
  bring(want: Want): Promise<void> | null {
    switch (want.kind) {
      case 'record':
        this.record(want.place);
        return null;
      case 'rows':
        this.rows(want.state);
        return null;
      case 'layout':
        this.layout(want.state);
        return null;
      case 'details':
        this.details(want.state);
        return null;
      case 'page':
        this.page(want.state);
        return null;
      case 'search':
        this.searches.of(want.record, want.display, want.value);
        return null;
      case 'groups':
        return this.groups.bring(want.file);
      default:
        return assertNever(want);
    }
  }

  /** An action is finished: drops what it requested on the way. */
  settle(): void {
    this.#layouts.settle();
    this.#pages.settle();
  }

  /** Starts everything that a state shows, and stops what it no longer shows. */
  look(state: State): void {
    const { cursor } = state.list;
    this.now = Date.now();
    this.#records.open(cursor);
    this.searches.look(cursor === null ? undefined : this.#records.peek(cursor), state.display);
    this.rows(state);
    if (cursor !== null) {
      void this.groups.bring(cursor.file);
      if (this.dump.isUnderWay(cursor.file)) this.underWay.watch();
    }
    if (state.follow.mode !== 'off') this.underWay.ask();
    this.hits.look(state);
    this.workedOut.look(pageInSight(state)?.subject.kind ?? null);
    const width = this.geometry(state).transcriptWidth;
    if (cursor === null || width === 0 || pageInSight(state) !== null) return;
    this.#layouts.show(state, cursor, this.record(cursor), width);
    this.details(state);
  }

  filterProgress({ list }: State): FilterProgress | null {
    return this.#filtered.progress(list.choice);
  }

  nearest({ list }: State, place: Place): Place | null {
    return this.#filtered.nearest(list.choice, place);
  }

  /** More will become known without a key. */
  isBusy(state: State): boolean {
    const { phase } = this.dump.progress();
    if (this.#records.isBusy) return true;
    const { groups, facts, workedOut, hits, otherRuns, searches } = this;
    const parts = [groups, facts, workedOut, hits, otherRuns, searches, this.#values, this.#layouts];
    const isAsking = parts.some((part) => part.isBusy);
    return phase !== 'done' || isAsking || this.filterProgress(state)?.isBusy === true;
  }

  close(): void {
    this.#filtered.close();
    this.hits.close();
    this.otherRuns.close();
    this.#layouts.close();
    this.searches.close();
  }

  geometry(state: State): Geometry {
    const { columns, rows, focus, zoom, prompt, replay, list, display } = state;
    const listColumns = this.listColumns(state);
    const isChosen = list.choice.columns !== null;
    const hasDetails = state.hasDetails && display.view !== 'details';
    const hasHead = list.choice.filter !== null || list.group !== null;
    const bottom = prompt !== null ? 2 : replay.question === null ? 1 : this.#questionHeight(replay.question, state);
    const known = this.#geometry;
    if (
      known === null ||
      known.shape.columns !== columns ||
      known.shape.rows !== rows ||
      known.shape.focus !== focus ||
      known.shape.zoom !== zoom ||
      known.shape.hasDetails !== hasDetails ||
      known.shape.bottom !== bottom ||
      known.shape.listColumns !== listColumns ||
      known.shape.isChosen !== isChosen ||
      known.shape.hasHead !== hasHead
    ) {
      const shape = { columns, rows, focus, zoom, hasDetails, bottom, listColumns, isChosen, hasHead };
      this.#geometry = { shape, geometry: geometry(shape) };
    }
    return this.#geometry!.geometry;
  }

  #questionHeight(question: Question, { columns, rows }: State): number {
    const { what, keys } = questionLines(question, columns, rows);
    return what.length + keys.length;
  }

  #all(state: State): ReturnType<typeof allColumns> {
    const { files, extras } = this.dump;
    const isShownByReplay = keptColumnsShown(state);
    const key = [files.length, this.dump.recordCount, extras.size, ...isShownByReplay].join(' ');
    if (this.#columns?.key !== key) {
      const found = listShapeOf(this.dump);
      const before = this.#shape ?? found;
      // Columns only grow: a list whose columns change width while it is read is hard to follow.
      this.#shape = {
        step: Math.max(before.step, found.step),
        sample: Math.max(before.sample, found.sample),
        score: Math.max(before.score, found.score),
        areLong: before.areLong || found.areLong,
        range: found.range,
        failedTool: Math.max(before.failedTool, found.failedTool),
        streams: found.streams,
      };
      const columns = allColumns(this.#shape, extras, isShownByReplay);
      const print = [
        // Scores are coloured by it.
        JSON.stringify(found.range),
        ...columns.map(({ column, isShown, isIdle }) =>
          [column.key, column.width, column.min, isShown, isIdle].join(' '),
        ),
      ].join('\n');
      this.#columns = { key, print, columns: print === this.#columns?.print ? this.#columns.columns : columns };
    }
    return this.#columns.columns;
  }

  listColumns(state: State): readonly Column[] {
    const all = this.#all(state);
    const { choice } = state.list;
    const known = this.#chosen;
    if (known?.all !== all || known.columns !== choice.columns || known.sort !== choice.sort) {
      this.#chosen = { all, columns: choice.columns, sort: choice.sort, chosen: chosenColumns(all, choice) };
    }
    return this.#chosen!.chosen;
  }

  allColumns(state: State): readonly { key: string; title: string; isShown: boolean }[] {
    const { columns } = state.list.choice;
    return this.#all(state).map(({ column: { key, title }, isShown }) => ({
      key,
      title,
      isShown: columns === null ? isShown : columns.includes(key),
    }));
  }

  value(place: Place, name: string): JsonValue | undefined | typeof NOT_KNOWN {
    return this.#values.value(place, name);
  }

  /** Looks up values of visible rows that require a parse. */
  want(state: State, places: readonly Place[]): void {
    const own = this.#all(state).filter(({ isValue }) => !isValue);
    const keys = this.listColumns(state).map(({ key }) => key);
    const names = keys.filter((key) => own.every(({ column }) => column.key !== key));
    this.#values.want(places, names);
  }

  record(place: Place): DumpRecord {
    // A reader of an unfinished rollout wants to see it progress.
    if (this.dump.isUnderWay(place.file)) this.underWay.watch();
    return this.#records.of(place);
  }

  peekRecord(place: Place): DumpRecord | undefined {
    return this.#records.peek(place);
  }

  /** See `OpenRecords.whole`. */
  wholeRecord(place: Place): Promise<DumpRecord | null> {
    return this.#records.whole(place);
  }

  /** The record under the cursor stays as it is until another one is opened, or it is read again. */
  open(place: Place | null): void {
    this.#records.open(place);
  }

  warm(state: State, places: readonly Place[]): boolean {
    const { transcriptWidth, detailsWidth } = this.geometry(state);
    if (transcriptWidth > 0 && this.#layouts.warm(state, places, transcriptWidth)) return true;
    return detailsWidth > 0 && this.#details.warm(state, places, detailsWidth);
  }

  layout(state: State): Layout | null {
    return this.#laid(state, this.#layouts, this.geometry(state).transcriptWidth);
  }

  details(state: State): Layout | null {
    return this.#laid(state, this.#details, this.geometry(state).detailsWidth);
  }

  peekLayout(state: State): Layout | null | undefined {
    return this.#peeked(state, this.#layouts, this.geometry(state).transcriptWidth);
  }

  peekDetails(state: State): Layout | null | undefined {
    return this.#peeked(state, this.#details, this.geometry(state).detailsWidth);
  }

  #laid(state: State, layouts: RecordLayouts, width: number): Layout | null {
    const place = state.list.cursor;
    return place === null || width === 0 ? null : layouts.of(state, place, this.record(place), width);
  }

  #peeked(state: State, layouts: RecordLayouts, width: number): Layout | null | undefined {
    const place = state.list.cursor;
    if (place === null || width === 0) return null;
    const record = this.#records.peek(place);
    return record === undefined ? undefined : layouts.peek(state, place, record, width);
  }
}

const areEqualNumbers = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((value, i) => value === b[i]);
