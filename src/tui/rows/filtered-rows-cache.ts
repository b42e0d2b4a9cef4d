import type { Dump, Place } from '../../dump/dump.ts';
import { type ListChoice, sameArrangement } from '../state/list.ts';
import { Arrangement, type Arranging } from './filtered-rows.ts';
import { QueryPool } from './query-pool.ts';
import type { Rows } from './rows.ts';

interface Made {
  choice: ListChoice;
  arrangement: Arrangement;
}

/** The list as it is filtered and sorted now; the one before it is kept, so that going back to it takes no time. */
export class Arrangements {
  readonly #dump: Dump;
  readonly #changed: () => void;
  readonly #pool = new QueryPool();
  #now: Made | null = null;
  #spare: Made | null = null;

  constructor(dump: Dump, changed: () => void) {
    this.#dump = dump;
    this.#changed = changed;
  }

  get pool(): QueryPool {
    return this.#pool;
  }

  /** null where the list is as it lies on disk. @param all that list */
  rows(choice: ListChoice, all: Rows, cursor: Place | null): Rows | null {
    return this.#get(choice, all, cursor)?.rows ?? null;
  }

  /** null where nothing is filtered or sorted. */
  progress(choice: ListChoice): Arranging | null {
    return this.#now !== null && sameArrangement(this.#now.choice, choice) ? this.#now.arrangement.progress : null;
  }

  nearest(choice: ListChoice, place: Place): Place | null {
    return this.#now !== null && sameArrangement(this.#now.choice, choice)
      ? this.#now.arrangement.nearest(place)
      : null;
  }

  /** The dump has changed. */
  refresh(): void {
    this.#now?.arrangement.refresh();
    this.#spare?.arrangement.refresh();
  }

  close(): void {
    this.#now?.arrangement.close();
    this.#spare?.arrangement.close();
    this.#pool.close();
  }

  #get(choice: ListChoice, all: Rows, cursor: Place | null): Arrangement | null {
    const now = this.#now;
    const isPlain = choice.filter === null && choice.sort === null;
    if (isPlain ? now === null : now !== null && sameArrangement(now.choice, choice)) return now?.arrangement ?? null;
    const spare = this.#spare;
    if (spare !== null && sameArrangement(spare.choice, choice)) {
      this.#spare = null;
      this.#setAside(now);
      this.#now = spare;
      return spare.arrangement;
    }
    this.#setAside(now);
    if (isPlain) return null;
    const known = [now, spare].find(
      (made) => made !== null && sameArrangement({ ...made.choice, sort: null }, { ...choice, sort: null }),
    );
    const { filter, sort } = choice;
    const values = sort?.values;
    const extra = values === undefined ? null : ({ file, record }: Place) => values.get(file.locator(record)) ?? null;
    const arrangement = new Arrangement(
      this.#dump,
      this.#pool,
      { filter, sort, extra },
      { before: now?.arrangement.rows ?? all, known: known?.arrangement ?? null, first: cursor?.file ?? null },
      () => {
        if (this.#now?.arrangement === arrangement) this.#changed();
      },
    );
    this.#now = { choice, arrangement };
    return arrangement;
  }

  /** What was not finished is given up. */
  #setAside(made: Made | null): void {
    this.#now = null;
    if (made === null) return;
    if (!made.arrangement.progress.isWhole) made.arrangement.close();
    else {
      this.#spare?.arrangement.close();
      this.#spare = made;
    }
  }
}
