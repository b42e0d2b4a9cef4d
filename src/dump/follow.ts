import { resolve } from 'node:path';
import type { Dump } from './dump.ts';
import { type DumpFile, QUIET } from './dump-file.ts';
import { type Watching, type WatchOptions, watch } from './watch.ts';

/** ms until what changed is looked at a second time. */
const SECOND_LOOK = 120;

/** Keeps a dump up to date with the disk until it is closed. One file is looked at after the other, each as often as it changes. */
export class Follower {
  readonly #dump: Dump;
  readonly #watching: Watching;
  /** Files that changed since they were last looked at. A second change while it waits costs nothing. */
  readonly #dirty = new Set<DumpFile>();
  readonly #quietTimers = new Map<DumpFile, NodeJS.Timeout>();
  /** Files that changed a moment ago, and the timer of the second look at them. */
  readonly #recent = new Set<DumpFile>();
  /** Files by their resolved paths: with 10,000 of them, going through all for each event took a minute. */
  #paths: { files: readonly DumpFile[]; byPath: Map<string, DumpFile> } | null = null;
  #secondLook: NodeJS.Timeout | null = null;
  #isRunning = false;
  #mustRescan = false;

  constructor(dump: Dump, options: WatchOptions = {}) {
    this.#dump = dump;
    this.#watching = watch(
      dump.paths,
      {
        lookAtFile: (path) => this.#lookAtFile(path),
        lookAtFiles: () => this.#look(true),
        files: () => this.#byLikelihood(),
      },
      options,
    );
    dump.onChange(({ file }) => this.#lookAgain(file));
  }

  /** "events", or how often is polled and why. */
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
          for (const file of this.#dump.rescan()) this.#dirty.add(file);
          for (const file of this.#dump.files)
            if (file.state === 'gone' || file.state === 'failed') this.#dirty.add(file);
        }
        const [file] = this.#dirty;
        if (file === undefined) continue;
        this.#dirty.delete(file);
        await this.#dump.refresh(file, this.#dump.holdBack);
        this.#watchQuiet(file);
      }
    } finally {
      this.#isRunning = false;
    }
  }

  /**
   * A file that is replaced is watched anew a moment later, and what happens to it in between sends no event:
   * so whatever changed is looked at once more, until a look finds nothing.
   */
  #lookAgain(file: DumpFile): void {
    this.#recent.add(file);
    this.#secondLook ??= setTimeout(() => {
      this.#secondLook = null;
      for (const recent of this.#recent) if (this.#dump.files.includes(recent)) this.#dirty.add(recent);
      this.#recent.clear();
      void this.#look(true);
    }, SECOND_LOOK).unref();
  }

  /** Once no byte has come for a while the step counts as written: what was held back is shown, and the screen draws it whole. */
  #watchQuiet(file: DumpFile): void {
    clearTimeout(this.#quietTimers.get(file));
    if (!file.isArriving()) return;
    const timer = setTimeout(() => {
      this.#quietTimers.delete(file);
      this.#dump.notify();
      if (this.#dump.showsUnended) void this.#dump.refresh(file, false);
    }, QUIET + 10);
    timer.unref();
    this.#quietTimers.set(file, timer);
  }

  /** The newest steps of each stream are written last. */
  #byLikelihood(): readonly DumpFile[] {
    return [...this.#dump.files].sort((a, b) => b.lastChange - a.lastChange || (b.step ?? 0) - (a.step ?? 0));
  }
}
