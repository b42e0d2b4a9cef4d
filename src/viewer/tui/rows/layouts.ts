import { LRUCache } from 'lru-cache';
import type { Dump, Place } from '../../../core/dump/dump.ts';
import type { DumpRecord } from '../../../core/dump/dump-file.ts';
import { LONG_RECORD } from '../../../core/dump/long-record.ts';
import type { TokenText } from '../../../core/rollout/token-table.ts';
import type { RolloutReplay } from '../../present/replay/view.ts';
import { type Folds, pendingBlocks } from '../../present/transcript/blocks.ts';
import { Layout } from '../../present/transcript/layout.ts';
import { LongTexts } from '../../present/transcript/long-text.ts';
import { inSections, type PartOrPause, type Section } from '../../present/transcript/section.ts';
import type { State } from '../state/state.ts';
import { opened } from '../state/transcript.ts';
import type { GroupLookup } from './data.ts';
import { type GroupWords, groupWords } from './group-words.ts';
import { sameRecord } from './same-record.ts';
import { longText, shownSections } from './shown-sections.ts';

/** Bytes of laid-out transcripts cached for going back, with their records: enough for three of 1 MB. */
const CACHE_SIZE = 36_000_000;
/** Bytes that a parsed record takes per byte of its line: its text, its turns' text, spans. */
const RECORD_WEIGHT = 6;
/**
 * ms of the first run, which ends early once everything required is laid out; of later runs between keys and frames; and between two frames
 * of it.
 */
const FIRST_GO = 10;
const GO = 8;
const SHOW = 100;

interface SectionLayout {
  record: DumpRecord;
  key: string;
  folds: Folds;
  replay: RolloutReplay | undefined;
  layout: Layout;
}

/** Most layouts that one action needs: it opens folds one after another. */
const MOST_AT_ONCE = 200;

/**
 * Records laid out for the screen. A layout depends only on record and state and is merely cached here: the one on screen, those that an
 * action needs until it is done, and plain ones for going back, as memory allows.
 */
export class Layouts {
  readonly #dump: Dump;
  readonly #groups: GroupLookup;
  readonly #tokenizer: TokenText | null;
  readonly #grown: () => void;
  readonly #texts = new LongTexts();
  /** The newest last: it is the one on screen. */
  #laid: SectionLayout[] = [];
  #growing: Layout | null = null;
  /** Records that were read ahead; the dump caches them. */
  readonly #ahead = new WeakSet<DumpRecord>();
  readonly #cache = new LRUCache<string, { record: DumpRecord; layout: Layout }>({
    maxSize: CACHE_SIZE,
    sizeCalculation: ({ record, layout }) => layout.size + record.bytes * RECORD_WEIGHT,
  });

  /** @param grown is called while a long record is being laid out, and when it is complete */
  constructor(dump: Dump, groups: GroupLookup, tokenizer: TokenText | null, grown: () => void) {
    this.#dump = dump;
    this.#tokenizer = tokenizer;
    this.#groups = groups;
    this.#grown = grown;
  }

  get isBusy(): boolean {
    return this.#growing !== null || this.#laid.at(-1)?.layout.isWaiting === true;
  }

  close(): void {
    this.#texts.close();
  }

  of(state: State, place: Place, record: DumpRecord, width: number): Layout {
    return readable(record, width, this.#found(state, place, record, width) ?? this.#lay(state, place, record, width));
  }

  /** The layout if it was already made. */
  peek(state: State, place: Place, record: DumpRecord, width: number): Layout | undefined {
    const found = this.#found(state, place, record, width);
    return found === null ? undefined : readable(record, width, found);
  }

  /** An action is finished: of the layouts it needed, only the last is kept. */
  settle(): void {
    if (this.#laid.length > 1) this.#laid = this.#laid.slice(-1);
  }

  #found(state: State, place: Place, record: DumpRecord, width: number): Layout | null {
    const { folds } = state.transcript;
    const { key } = this.#keyOf(state, place, record, width);
    const replay = state.replay.rollouts.get(record.locator);
    const known = this.#laid.findLast(
      (one) =>
        one.key === key && sameFolds(one.folds, folds) && one.replay === replay && sameRecord(one.record, record),
    );
    return known?.layout ?? this.#kept(key, isPlain(folds, replay), record);
  }

  #kept(key: string, isPlain: boolean, record: DumpRecord): Layout | null {
    const kept = isPlain ? this.#cache.get(key) : undefined;
    return kept !== undefined && sameRecord(kept.record, record) ? kept.layout : null;
  }

  /** Makes this the layout on screen, building it if necessary. */
  show(state: State, place: Place, record: DumpRecord, width: number): void {
    const found = this.#found(state, place, record, width);
    if (found === null) this.#lay(state, place, record, width);
    else if (this.#laid.at(-1)?.layout !== found)
      this.#keep(state, record, this.#keyOf(state, place, record, width).key, found);
  }

  #lay(state: State, place: Place, record: DumpRecord, width: number): Layout {
    const { folds } = state.transcript;
    const { key, beside } = this.#keyOf(state, place, record, width);
    const replay = state.replay.rollouts.get(record.locator);
    const blocks = longText(this.#texts, record, state.display, folds, this.#arrived);
    const layout = lay(
      blocks === null
        ? shownSections(record, state.display, folds, beside, this.#tokenizer, replay)
        : inSections(blocks),
      state,
      { width, folds, before: this.#laid.at(-1)?.layout ?? null, isEnough: enoughFor(record) },
    );
    if (isPlain(folds, replay) && layout.isWhole) this.#cache.set(key, { record, layout });
    this.#keep(state, record, key, layout);
    return layout;
  }

  #keep(state: State, record: DumpRecord, key: string, layout: Layout): void {
    const laid = {
      record,
      key,
      folds: state.transcript.folds,
      replay: state.replay.rollouts.get(record.locator),
      layout,
    };
    this.#laid = [...this.#laid.slice(1 - MOST_AT_ONCE), laid];
    if (!layout.isWhole) this.#grow(layout);
  }

  /** Reads one of these records, or lays one out; false if nothing is left to do. */
  warm(state: State, places: readonly Place[], width: number): boolean {
    for (const place of places) {
      if (place.file.index.length(place.record) > LONG_RECORD) continue;
      const record = this.#dump.read(place);
      if (!this.#ahead.has(record)) {
        this.#ahead.add(record);
        return true;
      }
      const { key, beside } = this.#keyOf(state, place, record, width);
      if (state.replay.rollouts.has(record.locator) || this.#cache.get(key)?.record === record) continue;
      this.#cache.set(key, {
        record,
        layout: lay(shownSections(record, state.display, opened.folds, beside, this.#tokenizer), state, {
          width,
          folds: opened.folds,
        }),
      });
      return true;
    }
    return false;
  }

  /** More blocks have arrived for a layout that waits for them. */
  readonly #arrived = (): void => {
    const { layout } = this.#laid.at(-1) ?? {};
    if (layout?.isWaiting === true) this.#grow(layout);
  };

  /** Continues in the pauses between keys and frames, until another layout is requested. */
  #grow(layout: Layout): void {
    const isGoingOn = this.#growing !== null;
    this.#growing = layout;
    if (isGoingOn) return;
    let shown = performance.now();
    const go = (): void => {
      const growing = this.#growing;
      if (growing === null || growing !== this.#laid.at(-1)?.layout) {
        this.#growing = null;
        return;
      }
      const end = performance.now() + GO;
      growing.more(() => performance.now() > end);
      const isResting = growing.isWhole || growing.isWaiting;
      if (isResting) this.#growing = null;
      else setImmediate(go);
      if (!isResting && performance.now() - shown < SHOW) return;
      shown = performance.now();
      this.#grown();
    };
    setImmediate(go);
  }

  #keyOf(state: State, place: Place, record: DumpRecord, width: number): { key: string; beside: GroupWords } {
    const { view, wrap, hidden } = state.display;
    const beside = groupWords(state, this.#groups, place, view);
    const key = [
      record.locator,
      width,
      view,
      wrap,
      hidden.join('\n'),
      beside.group,
      beside.groupFrom,
      beside.advantage,
      ...beside.labels,
    ];
    return { key: key.join('\0'), beside };
  }
}

function sameFolds(a: Folds, b: Folds): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  for (const [id, isClosed] of a) if (b.get(id) !== isClosed) return false;
  return true;
}

const isPlain = (folds: Folds, replay: RolloutReplay | undefined): boolean => folds.size === 0 && replay === undefined;

/** Something to show and to put the cursor on while nothing is laid out yet. */
const readable = (record: DumpRecord, width: number, layout: Layout): Layout =>
  layout.rows > 0 || layout.isWhole ? layout : new Layout(inSections(pendingBlocks(record.bytes)), width);

interface Lay {
  width: number;
  folds: Folds;
  before?: Layout | null;
  isEnough?: (() => boolean) | undefined;
}

const lay = (
  sections: Iterable<PartOrPause<Section> | null>,
  { display }: State,
  { width, folds, before, isEnough }: Lay,
): Layout => new Layout(sections, width, folds, display.wrap, before, isEnough);

/** A record of ordinary length is laid out completely. */
function enoughFor(record: DumpRecord): (() => boolean) | undefined {
  if (record.bytes <= LONG_RECORD) return undefined;
  const end = performance.now() + FIRST_GO;
  return () => performance.now() > end;
}
