import type { Groups } from '../../../analysis/groups.ts';
import type { LiveRun } from '../../../analysis/live-run.ts';
import type { Dump, Place } from '../../../core/dump/dump.ts';
import type { DumpFile, DumpRecord } from '../../../core/dump/dump-file.ts';
import type { JsonValue } from '../../../core/json/value.ts';
import type { TokenText } from '../../../core/rollout/token-table.ts';
import type { Column, NOT_KNOWN } from '../../present/list-columns.ts';
import type { Layout } from '../../present/transcript/layout.ts';
import type { Syntax } from '../../present/transcript/syntax.ts';
import type { DisplayState } from '../state/display.ts';
import type { KeyPane } from '../state/panes.ts';
import type { Rows } from '../state/rows.ts';
import type { State } from '../state/state.ts';
import type { FilterProgress } from './filtered-rows.ts';
import type { FreshRows } from './fresh-rows.ts';
import type { Geometry } from './geometry.ts';
import type { Hits } from './hits.ts';
import type { KnownFacts } from './known-facts.ts';
import type { LiveStates } from './live-states.ts';
import type { OtherRuns } from './other-runs.ts';
import type { Page } from './page.ts';
import type { Scan } from './scan.ts';
import type { StepSignals } from './step-signals.ts';
import type { WorkedOut } from './worked-out.ts';

/** The user's keys, as shown in texts. */
export interface KeyLabels {
  /** A command's first key as people write it; for a command without one, its name on the `:` line. */
  label(id: string, pane?: KeyPane): string;
  /** The keys that reach a command: in that pane, else in any. */
  keysOf(id: string, pane?: KeyPane): readonly string[];
}

/** Groups, as far as they are known. */
export interface GroupLookup {
  /** null until they are known. */
  groups(file: DumpFile): Groups | null;
  /** The hash of a record's prompt; null if it has none, or it is not known yet. */
  promptOf(file: DumpFile, record: number): string | null;
  /** The first record of a file with that prompt; null if absent, undefined if unknown so far. */
  recordOf(file: DumpFile, prompt: string): number | null | undefined;
}

/**
 * The open dump, for queries by update and views: answers depend on the state and on the store's current content. A method throws Missing
 * if the store has no answer yet.
 */
export interface Data {
  readonly dump: Dump;
  readonly live: LiveRun;
  readonly keys: KeyLabels;
  /** The user's tokenizer, for the token view. */
  readonly tokenizer: TokenText | null;
  /** ms since 1970, from the last time the shell read the clock: before an action, and before a frame. */
  readonly now: number;
  readonly fresh: FreshRows;
  readonly groups: GroupLookup;
  readonly underWay: LiveStates;
  readonly syntax: Syntax;
  readonly searches: {
    /** The search for a value in a record; null for an invalid pattern. */
    of(record: DumpRecord, display: DisplayState, value: string): Scan | null;
  };
  /** The list, ordered and filtered as far as it is done, or the group that is shown alone. */
  rows(state: State): Rows;
  /** The progress of filtering and sorting the list; null if there is neither. */
  filterProgress(state: State): FilterProgress | null;
  /** The listed record nearest to one that is not in the list; null if unknown so far or absent. */
  nearest(state: State, place: Place): Place | null;
  geometry(state: State): Geometry;
  /** Columns that the list shows if they fit. */
  listColumns(state: State): readonly Column[];
  /** All available columns. */
  allColumns(state: State): readonly { key: string; title: string; isShown: boolean }[];
  /** The value of a record under one of its own keys, for a column. */
  value(place: Place, name: string): JsonValue | undefined | typeof NOT_KNOWN;
  record(place: Place): DumpRecord;
  /** The page on screen; null while list and transcript are. */
  page(state: State): Page | null;
  /** How the open record changed on disk since it was read, in words; '' if it did not. */
  diskChange(place: Place): string;
  /** The transcript under the cursor, laid out for its current width; null if nothing is open. */
  layout(state: State): Layout | null;
  /** The details beside it; null if they have no column. */
  details(state: State): Layout | null;
}

/** The store as page builders see it: they may start work, and are rebuilt when it has progressed. */
export interface Store extends Data {
  readonly signals: StepSignals;
  readonly facts: KnownFacts;
  readonly workedOut: WorkedOut;
  readonly hits: Hits;
  readonly otherRuns: OtherRuns;
}
