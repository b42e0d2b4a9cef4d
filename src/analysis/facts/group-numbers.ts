import { float64At, int32At, uint32At } from '../../core/lists/at.ts';
import { isOfPrompt } from '../../core/rollout/group-key.ts';

/** Group columns for the rows of many files. */
export interface GroupColumns {
  /** The record's group as a number, odd if the group is identified by its prompt; NaN if it has none. */
  keys: Float64Array;
  /** A number that identifies the prompt alone. */
  prompts: Float64Array;
  /** The number of the group that a record's uid names if another has it, else NaN. */
  uids: Float64Array;
  /** The unit that contains the group: a step of a file. Rows of one unit need not be adjacent. */
  units: Uint32Array;
  /** Rows of several streams never share a prompt. */
  streams: Uint32Array;
}

export interface GroupNumbers {
  /** From 0; -1 if the row has no group. */
  groups: Int32Array;
  /** The same prompt has one number in all steps of its stream. */
  prompts: Int32Array;
}

/**
 * Numbers the groups and prompts of rows. The groups are those of `settleGroups`. A record key that recurs in another unit names its prompt for good. One that never recurs (a fresh
 * uid each step) counts no more than the prompt's hash.
 */
export function numberGroups({ prompts: hashes, units, streams, ...columns }: GroupColumns): GroupNumbers {
  const keys = settleNumbers({ ...columns, prompts: hashes, units });
  const alike = unitsAlike(hashes, units, (row) => !Number.isNaN(columns.keys[row]));
  const groups = new Int32Array(keys.length).fill(-1);
  const inUnit = new PairNumbers();
  for (let i = 0; i < keys.length; i++) {
    const key = float64At(keys, i);
    if (Number.isNaN(key)) continue;
    groups[i] = inUnit.numberOf(uint32At(units, i), key);
  }
  const lasting = lastingStreams({ keys, units, streams }, groups, inUnit.count);
  const prompts = new Int32Array(keys.length).fill(-1);
  const inStream = new PairNumbers();
  // Rollouts of one group mostly share a prompt, so comparing with the group's last one usually suffices.
  const lastNames = new Float64Array(inUnit.count);
  const lastNumbers = new Int32Array(inUnit.count).fill(-1);
  for (let i = 0; i < keys.length; i++) {
    const group = int32At(groups, i);
    if (group === -1) continue;
    const key = float64At(keys, i);
    // The hash of a prompt alone is another number than that of a group, which is even or odd at twice its size.
    const name =
      isOfPrompt(key) || alike.has(uint32At(units, i)) || lasting.has(uint32At(streams, i))
        ? key
        : -float64At(hashes, i) - 1;
    if (lastNumbers[group] === -1 || lastNames[group] !== name) {
      lastNames[group] = name;
      lastNumbers[group] = inStream.numberOf(uint32At(streams, i), name);
    }
    prompts[i] = int32At(lastNumbers, group);
  }
  return { groups, prompts };
}

/**
 * Numbers pairs of numbers from 0, in order of appearance. A hash table in typed arrays, because a Map with a million
 * keys that are not small integers takes a second.
 */
class PairNumbers {
  #mask = 1023;
  /** Owner and key of each slot, side by side. */
  #pairs = new Float64Array(2048);
  #numbers = new Int32Array(1024).fill(-1);
  count = 0;

  numberOf(owner: number, key: number): number {
    const at = this.#slotOf(owner, key);
    const known = int32At(this.#numbers, at);
    if (known !== -1) return known;
    this.#pairs[at * 2] = owner;
    this.#pairs[at * 2 + 1] = key;
    this.#numbers[at] = this.count;
    if (this.count * 2 > this.#mask) this.#grow();
    return this.count++;
  }

  /** The slot that holds the pair, or the free slot where it belongs. */
  #slotOf(owner: number, key: number): number {
    const low = key | 0;
    const high = (key / 2 ** 32) | 0;
    let at =
      (Math.imul(low ^ Math.imul(high, 0x9e3779b1) ^ Math.imul(owner + 1, 0x85ebca6b), 0xc2b2ae35) >>> 7) & this.#mask;
    while (this.#numbers[at] !== -1 && (this.#pairs[at * 2 + 1] !== key || this.#pairs[at * 2] !== owner))
      at = (at + 1) & this.#mask;
    return at;
  }

  #grow(): void {
    const [pairs, numbers] = [this.#pairs, this.#numbers];
    const size = numbers.length * 4;
    this.#mask = size - 1;
    this.#pairs = new Float64Array(size * 2);
    this.#numbers = new Int32Array(size).fill(-1);
    for (let from = 0; from < numbers.length; from++) {
      if (numbers[from] === -1) continue;
      const to = this.#slotOf(float64At(pairs, from * 2), float64At(pairs, from * 2 + 1));
      this.#pairs[to * 2] = float64At(pairs, from * 2);
      this.#pairs[to * 2 + 1] = float64At(pairs, from * 2 + 1);
      this.#numbers[to] = int32At(numbers, from);
    }
  }
}

/** `settleGroups` in numbers; NaN where there is no group. */
export function settleNumbers({ keys, prompts, uids, units }: Omit<GroupColumns, 'streams'>): Float64Array {
  const own = withSharedUids(keys, uids, units);
  const nameless = unitsAlike(prompts, units, (row) => isOfPrompt(float64At(own, row)));
  return own.map((key, row) => (isOfPrompt(key) && nameless.has(uint32At(units, row)) ? Number.NaN : key));
}

/** A uid that several rows of a unit share is their group's key. */
function withSharedUids(keys: Float64Array, uids: Float64Array, units: Uint32Array): Float64Array {
  if (uids.every(Number.isNaN)) return keys;
  const numbers = new PairNumbers();
  const own = Int32Array.from(uids, (uid, i) => (Number.isNaN(uid) ? -1 : numbers.numberOf(uint32At(units, i), uid)));
  const counts = new Uint32Array(numbers.count);
  for (const number of own) if (number !== -1) counts[number] = uint32At(counts, number) + 1;
  return keys.map((key, i) => (own[i] === -1 || counts[int32At(own, i)] === 1 ? key : float64At(uids, i)));
}

/** Units in which several rows count, and their prompts are all equal. */
function unitsAlike(prompts: Float64Array, units: Uint32Array, counts: (row: number) => boolean): ReadonlySet<number> {
  let most = -1;
  for (const unit of units) if (unit > most) most = unit;
  const first = new Float64Array(most + 1).fill(Number.NaN);
  const states = new Uint8Array(most + 1);
  for (let i = 0; i < units.length; i++) {
    const unit = uint32At(units, i);
    if (states[unit] === DIFFER || !counts(i)) continue;
    if (states[unit] === NONE) first[unit] = float64At(prompts, i);
    states[unit] = states[unit] === NONE ? ONE : first[unit] === prompts[i] ? ALIKE : DIFFER;
  }
  return new Set(Array.from(states.keys()).filter((unit) => states[unit] === ALIKE));
}

const [NONE, ONE, ALIKE, DIFFER] = [0, 1, 2, 3];

/** Streams whose records name a prompt by a key that recurs in another unit, in another group. */
function lastingStreams(
  { keys, units, streams }: Pick<GroupColumns, 'keys' | 'units' | 'streams'>,
  groups: Int32Array,
  count: number,
): ReadonlySet<number> {
  const names = new PairNumbers();
  /** The unit in which each name first appeared. */
  const first = new Float64Array(count).fill(-1);
  const seen = new Uint8Array(count);
  const lasting = new Set<number>();
  for (let i = 0; i < keys.length; i++) {
    const [key, group] = [float64At(keys, i), int32At(groups, i)];
    if (group === -1 || seen[group] === 1 || isOfPrompt(key) || lasting.has(uint32At(streams, i))) continue;
    seen[group] = 1;
    const name = names.numberOf(uint32At(streams, i), key);
    if (first[name] === -1) first[name] = uint32At(units, i);
    else if (first[name] !== units[i]) lasting.add(uint32At(streams, i));
  }
  return lasting;
}
