import { isOfPrompt } from '../../rollout/group-key.ts';

/** Rows of many files as far as their groups go, a column each. */
export interface GroupColumns {
  /** Of the record: a number for its group, odd where that is one by its prompt; NaN where it has none. */
  keys: Float64Array;
  /** A number for the prompt alone. */
  prompts: Float64Array;
  /** What a group lies within: a step of a file. Rows of one unit may lie apart. */
  units: Uint32Array;
  /** Rows of several streams never share a prompt. */
  streams: Uint32Array;
}

export interface GroupNumbers {
  /** From 0; -1 where the row has no group. */
  groups: Int32Array;
  /** The same prompt has one number in all steps of its stream. */
  prompts: Int32Array;
  /** Units whose prompts are all equal: they name no group there. */
  alike: ReadonlySet<number>;
}

/**
 * Numbers the groups and prompts of rows. Where all prompts of a unit are equal they name no group (images leave no trace in a dump).
 * A key of the record that comes back in another unit names its prompt for good; one that never does (a fresh uid each step) is worth the
 * prompt's hash.
 */
export function numberGroups({ keys, prompts: hashes, units, streams }: GroupColumns): GroupNumbers {
  const alike = unitsAlike(keys, hashes, units);
  const lasting = lastingStreams(keys, units, streams);
  const groups = new Int32Array(keys.length).fill(-1);
  const prompts = new Int32Array(keys.length).fill(-1);
  const inUnit = new PairNumbers(keys.length);
  const inStream = new PairNumbers(keys.length);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    const isAlike = alike.has(units[i]!);
    if (Number.isNaN(key) || (isAlike && isOfPrompt(key))) continue;
    groups[i] = inUnit.numberOf(units[i]!, key);
    // The hash of a prompt alone is another number than that of a group, which is even or odd at twice its size.
    const name = isOfPrompt(key) || isAlike || lasting.has(streams[i]!) ? key : -hashes[i]! - 1;
    prompts[i] = inStream.numberOf(streams[i]!, name);
  }
  return { groups, prompts, alike };
}

/**
 * Numbers pairs of numbers from 0, in the order in which they come: a hash table in typed arrays, since a map of a million numbers that
 * are no small integers takes a second.
 */
class PairNumbers {
  readonly #mask: number;
  readonly #owners: Float64Array;
  readonly #keys: Float64Array;
  readonly #numbers: Int32Array;
  #count = 0;

  /** @param most pairs that may come */
  constructor(most: number) {
    const size = 2 ** Math.ceil(Math.log2(Math.max(8, most * 2)));
    this.#mask = size - 1;
    this.#owners = new Float64Array(size);
    this.#keys = new Float64Array(size);
    this.#numbers = new Int32Array(size).fill(-1);
  }

  numberOf(owner: number, key: number): number {
    const low = key | 0;
    const high = (key / 2 ** 32) | 0;
    let at =
      (Math.imul(low ^ Math.imul(high, 0x9e3779b1) ^ Math.imul(owner + 1, 0x85ebca6b), 0xc2b2ae35) >>> 7) & this.#mask;
    while (this.#numbers[at] !== -1) {
      if (this.#keys[at] === key && this.#owners[at] === owner) return this.#numbers[at]!;
      at = (at + 1) & this.#mask;
    }
    this.#owners[at] = owner;
    this.#keys[at] = key;
    this.#numbers[at] = this.#count;
    return this.#count++;
  }
}

/** Units with more than one rollout, of which all prompts are equal. */
function unitsAlike(keys: Float64Array, prompts: Float64Array, units: Uint32Array): ReadonlySet<number> {
  const first = new Map<number, number>();
  const several = new Set<number>();
  const differ = new Set<number>();
  for (let i = 0; i < keys.length; i++) {
    if (Number.isNaN(keys[i]!)) continue;
    const unit = units[i]!;
    const known = first.get(unit);
    if (known === undefined) first.set(unit, prompts[i]!);
    else if (known !== prompts[i]) differ.add(unit);
    else several.add(unit);
  }
  return new Set([...several].filter((unit) => !differ.has(unit)));
}

/** Streams whose records name a prompt by a key of their own that comes back in another unit. */
function lastingStreams(keys: Float64Array, units: Uint32Array, streams: Uint32Array): ReadonlySet<number> {
  const names = new PairNumbers(keys.length);
  /** The unit in which each name came first. */
  const first = new Float64Array(keys.length).fill(-1);
  const lasting = new Set<number>();
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    if (Number.isNaN(key) || isOfPrompt(key) || lasting.has(streams[i]!)) continue;
    const name = names.numberOf(streams[i]!, key);
    if (first[name] === -1) first[name] = units[i]!;
    else if (first[name] !== units[i]) lasting.add(streams[i]!);
  }
  return lasting;
}
