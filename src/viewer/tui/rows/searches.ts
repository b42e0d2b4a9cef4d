import { LRUCache } from 'lru-cache';
import { matcher } from '../../../analysis/text-search.ts';
import type { DumpRecord } from '../../../core/dump/dump-file.ts';
import type { TokenText } from '../../../core/rollout/token-table.ts';
import type { Block } from '../../present/transcript/block.ts';
import { LongTexts } from '../../present/transcript/long-text.ts';
import { madeOf, PAUSE, type PartOrPause } from '../../present/transcript/section.ts';
import { ALL_OPEN } from '../../present/transcript/turn-blocks.ts';
import type { DisplayState } from '../state/display.ts';
import { sameRecord } from './same-record.ts';
import { Scan, type SearchedBlocks } from './scan.ts';
import { longText, shownSections } from './shown-sections.ts';

/** Bytes of cached hits, at about HIT each. */
const CACHE_SIZE = 8_000_000;
const HIT = 100;
/** ms that a search may take between two frames. */
const TURN = 8;
/** ms between two progress reports. */
const TELL = 100;

const NOTHING = { group: '', groupFrom: '', advantage: null, labels: [] };

interface SearchResult {
  /** Its hits keep no record that nobody shows any more. */
  record: WeakRef<DumpRecord>;
  scan: Scan;
}

interface RunningSearch {
  key: string;
  known: SearchResult;
}

/**
 * Searches in records. Hits depend only on pattern, record and view and are merely cached here, as memory allows. A new search replaces a
 * running one.
 */
export class Searches {
  readonly #found: () => void;
  readonly #tokenizer: TokenText | null;
  readonly #known = new LRUCache<string, SearchResult>({
    maxSize: CACHE_SIZE,
    sizeCalculation: ({ scan }, key) => key.length * 2 + 1000 + scan.hits.length * HIT,
  });
  /** The record that was searched last, with everything unfolded for the next pattern. */
  #open: { record: DumpRecord; display: DisplayState; blocks: SearchedBlocks } | null = null;
  #running: RunningSearch | null = null;
  readonly #texts = new LongTexts();
  #isGoing = false;

  /** @param found is called while an unfinished search progresses, and when it ends */
  constructor(found: () => void, tokenizer: TokenText | null = null) {
    this.#found = found;
    this.#tokenizer = tokenizer;
  }

  get isBusy(): boolean {
    return this.#running !== null;
  }

  close(): void {
    this.#running = null;
    this.#texts.close();
  }

  /** The screen shows this from now on: what was unfolded of anything else is dropped. */
  look(record: DumpRecord | undefined, { view, hidden }: DisplayState): void {
    const open = this.#open;
    if (open?.record !== record || open?.display.view !== view || open.display.hidden !== hidden) this.#open = null;
  }

  /** The search if it was already started; undefined if it is new. */
  peek(record: DumpRecord, display: DisplayState, value: string): Scan | null | undefined {
    if (record.isPending === true) return notBegun(value);
    if (matcherOf(value) === null) return null;
    const key = searchKey(record, display, value);
    const known = this.#running?.key === key ? this.#running.known : this.#known.get(key);
    const searched = known?.record.deref();
    return searched !== undefined && sameRecord(searched, record) ? known?.scan : undefined;
  }

  /** The search for a value in a record, started if it is new; null for an invalid pattern. */
  of(record: DumpRecord, display: DisplayState, value: string): Scan | null {
    const known = this.peek(record, display, value);
    const pattern = matcherOf(value);
    if (known !== undefined || pattern === null) return known ?? null;
    const key = searchKey(record, display, value);
    const scan = new Scan(this.#blocks(record, display), pattern);
    const end = performance.now() + TURN;
    scan.run(() => performance.now() > end);
    // A new search replaces a running one.
    this.#running = null;
    const found = { record: new WeakRef(record), scan };
    if (scan.isDone) this.#known.set(key, found);
    else this.#goOn({ key, known: found });
    return scan;
  }

  #blocks(record: DumpRecord, display: DisplayState): SearchedBlocks {
    const open = this.#open;
    if (open?.record === record && open.display.view === display.view && open.display.hidden === display.hidden) {
      return open.blocks;
    }
    const arrived = (): void => {
      if (this.#running !== null) this.#goOn(this.#running);
    };
    const long = longText(this.#texts, record, display, null, arrived);
    const made = long ?? madeOf(shownSections(record, display, ALL_OPEN, NOTHING, this.#tokenizer));
    const blocks = new LazyBlocks(made, record.bytes);
    this.#open = { record, display, blocks };
    return blocks;
  }

  /** Continues in the pauses between keys and frames. */
  #goOn(running: RunningSearch): void {
    this.#running = running;
    if (this.#isGoing) return;
    this.#isGoing = true;
    let reportedAt = performance.now();
    const turn = (): void => {
      const now = this.#running;
      if (now === null) {
        this.#isGoing = false;
        return;
      }
      const { key, known } = now;
      const end = performance.now() + TURN;
      known.scan.run(() => performance.now() > end);
      const { isDone, isWaiting } = known.scan;
      if (isDone) {
        this.#running = null;
        this.#known.set(key, known);
      }
      this.#isGoing = !isDone && !isWaiting;
      if (this.#isGoing) setImmediate(turn);
      if (!isDone && performance.now() - reportedAt < TELL) return;
      reportedAt = performance.now();
      this.#found();
    };
    setImmediate(turn);
  }
}

/** The search of a record that is still being read: it continues when that has arrived. */
function notBegun(value: string): Scan | null {
  const pattern = matcherOf(value);
  return pattern === null ? null : new Scan(new LazyBlocks([], 1), pattern);
}

/** null for an invalid pattern. */
function matcherOf(value: string): ReturnType<typeof matcher> | null {
  try {
    return matcher(value);
  } catch {
    return null;
  }
}

const searchKey = ({ locator }: DumpRecord, { view, hidden }: DisplayState, value: string): string =>
  [locator, view, hidden.join('\n'), value].join('\0');

/** Made once and kept for the next pattern. */
class LazyBlocks implements SearchedBlocks {
  readonly length: number;
  isWaiting = false;
  readonly #made: Block[] = [];
  readonly #rest: Iterator<PartOrPause<Block> | null>;

  constructor(blocks: Iterable<PartOrPause<Block> | null>, length: number) {
    this.length = length;
    this.#rest = blocks[Symbol.iterator]();
  }

  at(index: number): Block | null | undefined {
    if (index < this.#made.length) return this.#made[index];
    const next = this.#rest.next();
    this.isWaiting = next.done !== true && next.value === null;
    if (next.done === true) return undefined;
    if (next.value === null || next.value === PAUSE) return null;
    this.#made.push(next.value);
    return next.value;
  }
}
