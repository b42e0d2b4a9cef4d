import type { Place } from '../../../core/dump/dump.ts';
import type { DumpFile } from '../../../core/dump/dump-file.ts';

/** A row counts as seen after this many ms on screen. */
const LOOK_MS = 5000;

/** Rows of one version of a file's content. */
interface FileState {
  generation: number;
  /** Records from this one on are new, */
  from: number;
  /** except these. */
  looked: Set<number>;
}

/** Rows that arrived since the user last looked: marked in the list until they were visited or on screen for a while. */
export class FreshRows {
  #isBegun = false;
  readonly #files = new WeakMap<DumpFile, FileState>();
  /** New rows on screen, and since when, in ms. */
  #inSight: (Place & { since: number })[] = [];

  /** The dump was just opened: its current content is not new. */
  begin(files: readonly DumpFile[]): void {
    this.#isBegun = true;
    for (const file of files)
      this.#files.set(file, { generation: file.generation, from: file.count, looked: new Set() });
  }

  has({ file, record }: Place): boolean {
    if (!this.#isBegun) return false;
    const { from, looked } = this.#known(file);
    return record >= from && !looked.has(record);
  }

  /**
   * The user sees these rows, and the cursor is on one of them.
   * @returns ms until one of them has been on screen long enough, null if none is new
   */
  look(rows: readonly Place[], cursor: Place | null, now: number): number | null {
    if (cursor !== null) this.#markLooked(cursor);
    const before = this.#inSight;
    this.#inSight = [];
    for (const { file, record } of rows) {
      if (!this.has({ file, record })) continue;
      const since = before.find((row) => row.file === file && row.record === record)?.since ?? now;
      if (now - since >= LOOK_MS) this.#markLooked({ file, record });
      else this.#inSight.push({ file, record, since });
    }
    return this.#inSight.reduce<number | null>(
      (wait, { since }) => Math.min(wait ?? LOOK_MS, since + LOOK_MS - now),
      null,
    );
  }

  #markLooked(place: Place): void {
    if (!this.has(place)) return;
    const known = this.#known(place.file);
    known.looked.add(place.record);
    // Keeps a run watched for days as one number, not one per row.
    for (; known.looked.delete(known.from); known.from++);
  }

  /** A file that was rewritten, or did not exist at opening, is new from its first row on. */
  #known(file: DumpFile): FileState {
    const known = this.#files.get(file);
    if (known?.generation === file.generation) return known;
    const fresh: FileState = { generation: file.generation, from: 0, looked: new Set() };
    this.#files.set(file, fresh);
    return fresh;
  }
}
