import { resolve } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { itemAt } from '../lists/at.ts';
import type { Dump } from './dump.ts';
import { type DumpFile, QUIET } from './dump-file.ts';
import { type Watching, type WatchOptions, watch } from './watch.ts';

/** ms until a changed file is looked at again. */
const SECOND_LOOK = 120;
/** After listing directories, wait this many times as long as that took: 10,000 files take 40 ms, on a server more. */
const LISTING_REST = 15;
/** ms of the longest wait: a machine that stood still for seconds while it listed is no slow server. */
const LONGEST_REST = 10_000;

/** ms between two looks at a file, so that a writer that never pauses leaves time for the keyboard. */
const GAP = 30;

/** How many of the recently changed files also trigger a look at the next step. */
const RECENT = 8;

/**
 * Keeps a dump up to date with the disk until it is closed. Files are looked at one after another, each as often as it
 * changes.
 */
export class Follower {
  readonly #dump: Dump;
  readonly #watching: Watching;
  /** Files that changed since the last look. A second change while waiting costs nothing. */
  readonly #dirty = new Set<DumpFile>();
  readonly #looked = new WeakMap<DumpFile, number>();
  readonly #quietTimers = new Map<DumpFile, NodeJS.Timeout>();
  /** Files that changed a moment ago, and the timer of the second look at them. */
  readonly #recent = new Set<DumpFile>();
  /** Files by resolved path: with 10,000 files, a linear search per event took a minute. */
  #paths: { files: readonly DumpFile[]; byPath: Map<string, DumpFile> } | null = null;
  #secondLook: NodeJS.Timeout | null = null;
  #isRunning = false;
  #mustRescan = false;
  #nextListing = 0;
  #listing: NodeJS.Timeout | null = null;

  constructor(dump: Dump, options: WatchOptions = {}) {
    this.#dump = dump;
    this.#watching = watch(
      dump.paths,
      {
        lookAtFile: (path) => this.#lookAtFile(path),
        lookAtFiles: () => this.#look(true),
        files: () => this.#byLikelihood(),
        failed: (how) => {
          dump.notices.push(how);
          dump.notify();
        },
      },
      options,
    );
    dump.onChange(({ file }) => this.#lookAgain(file));
  }

  /** "events", or the polling interval and the reason. */
  get how(): string {
    return this.#watching.how;
  }

  /** Looks at everything again, now. */
  async refreshAll(): Promise<void> {
    for (const file of this.#dump.files) this.#dirty.add(file);
    await this.#look(true);
  }

  close(): void {
    this.#watching.close();
    clearTimeout(this.#secondLook ?? undefined);
    clearTimeout(this.#listing ?? undefined);
    for (const timer of this.#quietTimers.values()) clearTimeout(timer);
    this.#quietTimers.clear();
  }

  #lookAtFile(path: string): void {
    const file = this.#fileAt(path);
    if (file) this.#dirty.add(file);
    void this.#look(file === undefined);
  }

  #fileAt(path: string): DumpFile | undefined {
    const { files } = this.#dump;
    if (this.#paths?.files !== files)
      this.#paths = { files, byPath: new Map(files.map((file) => [resolve(file.path), file])) };
    return this.#paths.byPath.get(resolve(path));
  }

  async #look(mustRescan: boolean): Promise<void> {
    this.#mustRescan ||= mustRescan;
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      while ((this.#dirty.size > 0 || this.#mustRescan) && !this.#dump.isClosed) {
        if (this.#mustRescan) {
          this.#mustRescan = false;
          this.#list();
        }
        if (this.#dirty.size === 0) continue;
        const file = this.#due();
        if (file === null) {
          await rest(GAP, undefined, { ref: false });
          continue;
        }
        this.#dirty.delete(file);
        await this.#dump.refresh(file, this.#dump.holdBack);
        this.#looked.set(file, performance.now());
        this.#watchQuiet(file);
      }
    } finally {
      this.#isRunning = false;
    }
  }

  /** A changed file that was not looked at a moment ago. */
  #due(): DumpFile | null {
    const now = performance.now();
    for (const file of this.#dirty) if (now - (this.#looked.get(file) ?? Number.NEGATIVE_INFINITY) >= GAP) return file;
    return null;
  }

  /** Lists the directories, now or as soon as allowed. */
  #list(): void {
    const start = performance.now();
    if (start < this.#nextListing) {
      this.#listing ??= setTimeout(() => {
        this.#listing = null;
        void this.#look(true);
      }, this.#nextListing - start).unref();
      return;
    }
    for (const file of this.#dump.rescan()) this.#dirty.add(file);
    for (const file of this.#dump.files) if (file.state === 'gone' || file.state === 'failed') this.#dirty.add(file);
    const end = performance.now();
    this.#nextListing = end + Math.min((end - start) * LISTING_REST, LONGEST_REST);
  }

  /**
   * A replaced file is watched again only a moment later, and changes in between send no event. So every changed file
   * is looked at again until a look finds nothing.
   */
  #lookAgain(file: DumpFile): void {
    this.#recent.add(file);
    this.#secondLook ??= setTimeout(() => {
      this.#secondLook = null;
      const files = new Set(this.#dump.files);
      for (const recent of this.#recent) if (files.has(recent)) this.#dirty.add(recent);
      this.#recent.clear();
      void this.#look(true);
    }, SECOND_LOOK).unref();
  }

  /**
   * Once no byte has come for a while the step counts as written: held-back lines are shown, and the screen is redrawn.
   */
  #watchQuiet(file: DumpFile): void {
    clearTimeout(this.#quietTimers.get(file));
    const show = () => {
      if (this.#dump.showsUnended) void this.#dump.refresh(file, false);
    };
    // On a loaded machine the look may have come later than the quiet.
    if (!file.isArriving()) {
      show();
      return;
    }
    const timer = setTimeout(() => {
      this.#quietTimers.delete(file);
      this.#dump.notify();
      show();
    }, QUIET + 10);
    timer.unref();
    this.#quietTimers.set(file, timer);
  }

  /** Recently changed files and the steps after them: a resumed run rewrites one step after another. */
  #byLikelihood(): readonly DumpFile[] {
    const { files } = this.#dump;
    const order = files
      .map((file, at) => ({ file, at }))
      .sort((a, b) => b.file.lastChange - a.file.lastChange || b.at - a.at);
    const likely = new Set<DumpFile>();
    for (const { file, at } of order.slice(0, RECENT)) {
      likely.add(file);
      if (at + 1 < files.length) likely.add(itemAt(files, at + 1));
    }
    for (const { file } of order) likely.add(file);
    return [...likely];
  }
}
