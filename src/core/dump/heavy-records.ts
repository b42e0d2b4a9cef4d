import type { GroupKey } from '../rollout/group-key.ts';
import type { DumpFile } from './dump-file.ts';
import type { LineIndex } from './line-index.ts';

/** Reads the facts of one record, and adds its group key unless the file has changed. @returns false if the dump was closed */
type ReadFacts = (keys: (GroupKey | null)[]) => Promise<boolean>;

/**
 * Records that take several times their bytes to read: their facts are found one record after another, none while the
 * screen reads one, and each once for whatever is asked of it.
 */
export class HeavyRecords {
  #last: Promise<unknown> = Promise.resolve();
  readonly #keys = new WeakMap<LineIndex, Map<number, { length: number; key: GroupKey | null }>>();
  #pauses = 0;
  #resumed: () => void = () => {};

  /** Each pause needs its own resume. */
  pause(isPaused: boolean): void {
    this.#pauses += isPaused ? 1 : -1;
    if (this.#pauses === 0) this.#resumed();
  }

  /** Nothing waits any longer. */
  close(): void {
    this.#pauses = 0;
    this.#resumed();
  }

  /** @param keys receives its group key */
  ask(file: DumpFile, record: number, read: ReadFacts, keys: (GroupKey | null)[] = []): Promise<boolean> {
    const asked = this.#last.then(() => this.#read(file, record, read, keys));
    this.#last = asked.catch(() => {});
    return asked;
  }

  async #read({ index }: DumpFile, record: number, read: ReadFacts, keys: (GroupKey | null)[]): Promise<boolean> {
    while (this.#pauses > 0)
      await new Promise<void>((resolve) => {
        this.#resumed = resolve;
      });
    const known = this.#keys.get(index) ?? new Map<number, { length: number; key: GroupKey | null }>();
    this.#keys.set(index, known);
    // A line that is being written grows.
    const length = index.length(record);
    const before = known.get(record);
    if (before?.length === length) {
      keys.push(before.key);
      return true;
    }
    const own: (GroupKey | null)[] = [];
    const isOpen = await read(own);
    for (const key of own) known.set(record, { length, key });
    keys.push(...own);
    return isOpen;
  }
}
