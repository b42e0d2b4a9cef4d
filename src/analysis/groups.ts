import { numberInAt } from '../core/lists/at.ts';
import { type GroupKey, settleGroups } from '../core/rollout/group-key.ts';

/**
 * Which rollouts of one file were sampled from the same prompt (GRPO's n). Never inferred from adjacency, because
 * `balance_batch` shuffles.
 */
export class Groups {
  readonly #keys: readonly (GroupKey | null)[];
  readonly #settled: readonly (GroupKey | null)[];
  /** The members of each record's group. */
  readonly #members: (readonly number[])[] = [];

  /** The size of most groups with several rollouts; smaller ones are incomplete. null if unknown. */
  readonly usual: number | null;

  /**
   * @param keys of a file's records in order, null for a bad one
   * @param stepOf the step of a record: rollouts of several steps are of several groups
   */
  constructor(keys: readonly (GroupKey | null)[], stepOf: (record: number) => number | null) {
    const settled: (GroupKey | null)[] = [];
    const all: number[][] = [];
    for (const records of partsBy([...keys.keys()], stepOf)) {
      for (const [at, key] of settleGroups(records.map((record) => keys[record] ?? null)).entries())
        settled[numberInAt(records, at)] = key;
      const named = records.filter((record) => settled[record] !== null);
      all.push(...partsBy(named, (record) => settled[record]?.key));
    }
    for (const members of all) for (const record of members) this.#members[record] = members;
    this.#keys = keys;
    this.#settled = settled;
    this.usual = usualSize(all.map(({ length }) => length));
  }

  keyOf(record: number): string | null {
    return this.#settled[record]?.key ?? null;
  }

  /** Whether the record names its group, or its prompt does; null if there is no group. */
  fromOf(record: number): GroupKey['from'] | null {
    return this.#settled[record]?.from ?? null;
  }

  /** The records of the same group, including this one, in file order; empty if there is no group. */
  membersOf(record: number): readonly number[] {
    return this.#members[record] ?? [];
  }

  /** Why a rollout has no group; null if it has one. */
  reasonOf(record: number): string | null {
    if (this.keyOf(record) !== null || !this.#keys[record]) return null;
    return 'all prompts of its step are equal: they cannot distinguish groups';
  }
}

/** Numbers by what they share, in order. */
export function partsBy<Key>(records: readonly number[], keyOf: (record: number) => Key): number[][] {
  const parts = new Map<Key, number[]>();
  for (const record of records) {
    const key = keyOf(record);
    const part = parts.get(key);
    if (part) part.push(record);
    else parts.set(key, [record]);
  }
  return [...parts.values()];
}

/** The size of more than half of the groups. */
function usualSize(sizes: readonly number[]): number | null {
  const counts = new Map<number, number>();
  for (const size of sizes) counts.set(size, (counts.get(size) ?? 0) + 1);
  const found = [...counts].find(([size, count]) => size > 1 && count * 2 > sizes.length);
  return found?.[0] ?? null;
}
