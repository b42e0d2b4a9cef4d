import { type KeptLookup, NOTHING_KEPT } from '../../../analysis/query/kept.ts';
import type { Dump, Place } from '../../../core/dump/dump.ts';
import { type ListChoice, sameFilterAndSort } from '../state/list.ts';
import type { Rows } from '../state/rows.ts';
import { FilteredRows, type FilterProgress } from './filtered-rows.ts';
import { QueryPool } from './query-pool.ts';

interface CachedRows {
  choice: ListChoice;
  rows: FilteredRows;
}

/** A filter whose rows were not requested yet. */
const NOT_BEGUN: FilterProgress = {
  found: 0,
  looked: 0,
  total: 0,
  isWhole: false,
  isBusy: false,
  waitsForFacts: false,
};

/**
 * The list as currently filtered and sorted. The previous one is kept if it is complete, so that returning to it is instant; the next one
 * replaces it.
 */
export class FilteredRowsCache {
  readonly #dump: Dump;
  readonly #kept: () => Promise<KeptLookup>;
  readonly #changed: () => void;
  readonly #pool = new QueryPool();
  #now: CachedRows | null = null;
  #spare: CachedRows | null = null;

  constructor(dump: Dump, changed: () => void, kept: () => Promise<KeptLookup> = async () => () => NOTHING_KEPT) {
    this.#dump = dump;
    this.#kept = kept;
    this.#changed = changed;
  }

  get pool(): QueryPool {
    return this.#pool;
  }

  /** The rows of a choice if they are being made; null if the list is in disk order, undefined for a new choice. */
  peek(choice: ListChoice): Rows | null | undefined {
    if (choice.filter === null && choice.sort === null) return null;
    return [this.#now, this.#spare].find((made) => made !== null && sameFilterAndSort(made.choice, choice))?.rows.rows;
  }

  /** null if the list is in disk order. @param all the list in disk order */
  rows(choice: ListChoice, all: Rows, cursor: Place | null): Rows | null {
    return this.#get(choice, all, cursor)?.rows ?? null;
  }

  /** null if nothing is filtered or sorted. */
  progress(choice: ListChoice): FilterProgress | null {
    if (choice.filter === null && choice.sort === null) return null;
    return this.#now !== null && sameFilterAndSort(this.#now.choice, choice) ? this.#now.rows.progress : NOT_BEGUN;
  }

  nearest(choice: ListChoice, place: Place): Place | null {
    return this.#now !== null && sameFilterAndSort(this.#now.choice, choice) ? this.#now.rows.nearest(place) : null;
  }

  /** The dump has changed. */
  refresh(): void {
    this.#now?.rows.refresh();
    this.#spare?.rows.refresh();
  }

  close(): void {
    this.#now?.rows.close();
    this.#spare?.rows.close();
    this.#pool.close();
  }

  #get(choice: ListChoice, all: Rows, cursor: Place | null): FilteredRows | null {
    const now = this.#now;
    const isPlain = choice.filter === null && choice.sort === null;
    if (isPlain ? now === null : now !== null && sameFilterAndSort(now.choice, choice)) return now?.rows ?? null;
    const spare = this.#spare;
    if (spare !== null && sameFilterAndSort(spare.choice, choice)) {
      this.#spare = null;
      this.#setAside(now);
      this.#now = spare;
      return spare.rows;
    }
    this.#setAside(now);
    if (isPlain) return null;
    const known = [now, spare].find(
      (made) => made !== null && sameFilterAndSort({ ...made.choice, sort: null }, { ...choice, sort: null }),
    );
    const { filter, sort } = choice;
    const values = sort?.values;
    const extra = values === undefined ? null : ({ file, record }: Place) => values.get(file.locator(record)) ?? null;
    const rows = new FilteredRows(
      this.#dump,
      this.#pool,
      { filter, sort, extra, kept: this.#kept },
      { before: now?.rows.rows ?? all, known: known?.rows ?? null, first: cursor?.file ?? null },
      () => {
        if (this.#now?.rows === rows) this.#changed();
      },
    );
    this.#now = { choice, rows };
    return rows;
  }

  /** An unfinished list is dropped. */
  #setAside(made: CachedRows | null): void {
    this.#now = null;
    if (made === null) return;
    if (!made.rows.progress.isWhole) made.rows.close();
    else {
      this.#spare?.rows.close();
      this.#spare = made;
    }
  }
}
