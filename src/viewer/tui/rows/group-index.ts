import { Groups } from '../../../analysis/groups.ts';
import type { Dump } from '../../../core/dump/dump.ts';
import type { DumpFile } from '../../../core/dump/dump-file.ts';
import type { GroupKey } from '../../../core/rollout/group-key.ts';
import type { GroupLookup } from './data.ts';

interface GroupRequest {
  version: string;
  /** null once it has arrived. */
  answer: Promise<void> | null;
}

interface FileGroups {
  keys: readonly (GroupKey | null)[];
  groups: Groups;
}

/**
 * Prompts and groups of files. Finding them requires a parse of the file, in a thread; null until then. They are cached as long as the file
 * exists, and computed again once it has changed.
 */
export class GroupIndex implements GroupLookup {
  readonly #dump: Dump;
  readonly #changed: () => void;
  readonly #known = new WeakMap<DumpFile, FileGroups>();
  readonly #asked = new WeakMap<DumpFile, GroupRequest>();
  #asking = 0;

  constructor(dump: Dump, changed: () => void) {
    this.#dump = dump;
    this.#changed = changed;
  }

  /** The groups known so far; a lookup starts no work. */
  readonly known: GroupLookup = lookupIn((file) => this.#known.get(file) ?? null);
  readonly #lookup = lookupIn((file) => {
    void this.bring(file);
    return this.#known.get(file) ?? null;
  });

  /** Starts to look for a file's groups. @returns a promise that resolves when they are known; null if they are, or cannot be */
  bring(file: DumpFile): Promise<void> | null {
    if (file.state !== 'ready') return null;
    const before = this.#asked.get(file);
    if (before?.version === file.version) return before.answer;
    const asked: GroupRequest = { version: file.version, answer: null };
    this.#asked.set(file, asked);
    asked.answer = this.#ask(file).finally(() => {
      asked.answer = null;
    });
    return asked.answer;
  }

  async #ask(file: DumpFile): Promise<void> {
    this.#asking++;
    const keys = await this.#dump.groupKeys(file).finally(() => this.#asking--);
    this.#known.set(file, { keys, groups: new Groups(keys, (record) => file.stepOf(record)) });
    this.#changed();
  }

  get isBusy(): boolean {
    return this.#asking > 0;
  }

  groups(file: DumpFile): Groups | null {
    return this.#lookup.groups(file);
  }

  promptOf(file: DumpFile, record: number): string | null {
    return this.#lookup.promptOf(file, record);
  }

  recordOf(file: DumpFile, prompt: string): number | null | undefined {
    return this.#lookup.recordOf(file, prompt);
  }
}

const lookupIn = (get: (file: DumpFile) => FileGroups | null): GroupLookup => ({
  groups: (file) => get(file)?.groups ?? null,
  promptOf: (file, record) => get(file)?.keys[record]?.prompt ?? null,
  recordOf(file, prompt) {
    const known = get(file);
    if (known === null) return undefined;
    const record = known.keys.findIndex((key) => key?.prompt === prompt);
    // If all prompts are equal, they identify no group.
    return record < 0 || known.groups.reasonOf(record) !== null ? null : record;
  },
});
