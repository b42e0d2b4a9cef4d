import type { DumpFile, DumpRecord } from '../../core/dump/dump-file.ts';
import type { RecordDetails } from '../../core/dump/record-details.ts';
import { parseJson } from '../../core/json/parse.ts';
import { printJson } from '../../core/json/print.ts';
import { isJsonObject, type JsonValue } from '../../core/json/value.ts';
import { type GroupKey, groupKeyOf, groupKeysLike, groupNumbersOf, isOfPrompt } from '../../core/rollout/group-key.ts';
import type { Rollout } from '../../core/rollout/rollout.ts';

type GroupFields = Pick<Rollout, 'extras' | 'group'>;

/** Group keys of the rows of several files. */
export class FileGroups {
  readonly #areAlike = new Map<DumpFile, boolean>();
  readonly #seen = new Set<string>();
  readonly #values = new Map<string, Set<JsonValue>>();
  #rows = 0;

  /** null for a bad record, and if all prompts of the file are equal, because then a prompt identifies no group. */
  of(file: DumpFile, { rollout }: DumpRecord): string | null {
    if (rollout === null) return null;
    const { from, key } = groupKeyOf(rollout);
    return this.#isGroup(file, from, printJson(key), () => rollout) ? key : null;
  }

  /** The same from what was kept of a record: the key as JSON. */
  ofKept(file: DumpFile, { group, extras }: RecordDetails): string | null {
    if (group === null) return null;
    const isGroup = this.#isGroup(file, group.from, group.key, () => {
      const read = parseJson(extras);
      return { extras: isJsonObject(read) ? read : {}, ...(group.isNamed ? { group: '' } : {}) };
    });
    return isGroup ? group.key : null;
  }

  /** @param key as JSON */
  #isGroup(file: DumpFile, from: GroupKey['from'], key: string, row: () => GroupFields): boolean {
    if (this.#rows++ < MOST_NOTED) this.#note(key, row());
    if (from !== 'prompt') return true;
    let areAlike = this.#areAlike.get(file);
    if (areAlike === undefined) {
      areAlike = arePromptsAlikeIn(file);
      this.#areAlike.set(file, areAlike);
    }
    return !areAlike;
  }

  #note(key: string, rollout: GroupFields): void {
    this.#seen.add(key);
    for (const name of groupKeysLike(rollout)) {
      const values = this.#values.get(name) ?? new Set();
      this.#values.set(name, values.add(rollout.extras[name] ?? null));
    }
  }

  /** A key of the records that makes groups of equal size if the prompts make more; null if absent. */
  get better(): string | null {
    const rows = Math.min(this.#rows, MOST_NOTED);
    for (const [name, { size }] of this.#values)
      if (size > 1 && size < this.#seen.size && rows % size === 0 && rows > size) return name;
    return null;
  }
}

/** Looks at a file from its start until two prompts differ. */
function arePromptsAlikeIn(file: DumpFile): boolean {
  let first: number | null = null;
  let isSecond = false;
  for (let record = 0; record < file.count; record++) {
    const { group, prompt } = numbersOf(file, record);
    if (Number.isNaN(group) || !isOfPrompt(group)) continue;
    if (first !== null && prompt !== first) return false;
    isSecond = first !== null;
    first = prompt;
  }
  return isSecond;
}

/** NaN for a bad record. */
function numbersOf(file: DumpFile, record: number): { group: number; prompt: number } {
  const { groups, prompts } = file.index.columns;
  if (file.index.isLooked(record)) return { group: groups.at(record), prompt: prompts.at(record) };
  const { rollout } = file.read(record);
  return rollout === null ? { group: Number.NaN, prompt: Number.NaN } : groupNumbersOf(rollout);
}

/** Rows searched for a key that makes groups. */
const MOST_NOTED = 10_000;
