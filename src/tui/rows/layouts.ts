import { LRUCache } from 'lru-cache';
import type { Dump, Place } from '../../dump/dump.ts';
import type { DumpRecord } from '../../dump/dump-file.ts';
import type { RolloutReplay } from '../../present/replay/view.ts';
import type { Folds } from '../../present/transcript/blocks.ts';
import { Layout } from '../../present/transcript/layout.ts';
import type { ViewName } from '../state/display.ts';
import type { State } from '../state/state.ts';
import { opened } from '../state/transcript.ts';
import type { GroupIndex } from './group-index.ts';
import { groupOf } from './group-of.ts';
import { type Beside, shownBlocks } from './shown-blocks.ts';

/** Bytes of laid-out transcripts that are kept for going back to, with their records: enough for three of 1 MB. */
const CACHE_SIZE = 36_000_000;
/** Bytes that a parsed record takes for each character of its line: its text, that of its turns, spans. */
const RECORD_WEIGHT = 6;
/** Bytes of a line that is read ahead: one of 50 MB would hold the next key. */
const AHEAD_SIZE = 1_500_000;

interface Laid {
  record: DumpRecord;
  key: string;
  folds: Folds;
  replay: RolloutReplay | undefined;
  layout: Layout;
}

/** Records laid out for the screen. A layout follows from record and state; it is only remembered here. */
export class Layouts {
  readonly #dump: Dump;
  readonly #groups: GroupIndex;
  #last: Laid | null = null;
  /** Records that were read ahead; the dump keeps them. */
  readonly #ahead = new WeakSet<DumpRecord>();
  readonly #cache = new LRUCache<string, { record: DumpRecord; layout: Layout }>({
    maxSize: CACHE_SIZE,
    sizeCalculation: ({ record, layout }) => layout.size + record.raw.length * RECORD_WEIGHT,
  });

  constructor(dump: Dump, groups: GroupIndex) {
    this.#dump = dump;
    this.#groups = groups;
  }

  of(state: State, place: Place, record: DumpRecord, width: number): Layout {
    const { folds } = state.transcript;
    const { key, beside } = this.#keyOf(state, place, record, width);
    const replay = state.replay.rollouts.get(record.locator);
    const last = this.#last;
    if (last?.key === key && last.folds === folds && last.replay === replay && sameRecord(last.record, record))
      return last.layout;
    const isPlain = folds.size === 0 && replay === undefined;
    const kept = isPlain ? this.#cache.get(key) : undefined;
    const layout =
      kept !== undefined && sameRecord(kept.record, record)
        ? kept.layout
        : lay(record, state, beside, width, folds, last?.layout, replay);
    if (isPlain && layout !== kept?.layout) this.#cache.set(key, { record, layout });
    this.#last = { record, key, folds, replay, layout };
    return layout;
  }

  /** Reads one of these records, or lays one out; false where there is nothing left to do. */
  warm(state: State, places: readonly Place[], width: number): boolean {
    for (const place of places) {
      if (place.file.index.length(place.record) > AHEAD_SIZE) continue;
      const record = this.#dump.read(place);
      if (!this.#ahead.has(record)) {
        this.#ahead.add(record);
        return true;
      }
      const { key, beside } = this.#keyOf(state, place, record, width);
      if (state.replay.rollouts.has(record.locator) || this.#cache.get(key)?.record === record) continue;
      this.#cache.set(key, { record, layout: lay(record, state, beside, width, opened.folds) });
      return true;
    }
    return false;
  }

  #keyOf(state: State, place: Place, record: DumpRecord, width: number): { key: string; beside: Beside } {
    const { view, wrap, hidden } = state.display;
    // Groups become known while the record is open.
    const { parts, reason, advantage } = usesGroup(view) ? groupOf(this.#groups, place) : NO_GROUP;
    const isTold = view === 'details';
    const beside = { group: isTold ? parts.join(', ') : '', noGroup: isTold ? reason : '', advantage };
    const key = [record.locator, width, view, wrap, hidden.join('\n'), beside.group, beside.noGroup, advantage];
    return { key: key.join('\0'), beside };
  }
}

const lay = (
  record: DumpRecord,
  { display }: State,
  beside: Beside,
  width: number,
  folds: Folds,
  before?: Layout,
  replay?: RolloutReplay,
): Layout => new Layout(shownBlocks(record, display, folds, beside, replay), width, folds, display.wrap, before);

const NO_GROUP = { parts: [], reason: '', advantage: null };
const usesGroup = (view: ViewName): boolean => view === 'details' || view === 'chat';

/** A record read again is another object; its text says whether it is still the same. */
const sameRecord = (a: DumpRecord, b: DumpRecord): boolean => a === b || (a.locator === b.locator && a.raw === b.raw);
