import { finished } from '../../core/async/finished.ts';
import { inStretches } from '../../core/async/stretches.ts';
import { float64At, int32At, uint32At } from '../../core/lists/at.ts';
import { isOfPrompt } from '../../core/rollout/group-key.ts';
import { PairNumbers } from './pair-numbers.ts';

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
  /** Streams in which a record key names its prompt for good. */
  lasting: ReadonlySet<number>;
}

/** The numbers of rows that are all there. */
export const numberGroups = (columns: GroupColumns): GroupNumbers => finished(new GroupNumbering().addAll(columns));

/**
 * Numbers the groups and prompts of rows. The groups are those of `settleGroups`. A record key that recurs in another unit names its prompt for good. One that never recurs (a fresh
 * uid each step) counts no more than the prompt's hash.
 * Units are numbered in order of appearance, and so are groups and prompts: the numbers of rows that are there depend on
 * no later unit, unless a key recurs there for the first time.
 */
export class GroupNumbering {
  #groups = 0;
  readonly #prompts = new PairNumbers();
  /** The keys of records, and the unit in which each first appeared. */
  readonly #keys = new PairNumbers();
  readonly #firstUnits: number[] = [];
  /** Streams in which a key recurred, and the unit in which it did. */
  readonly #lasting = new Map<number, number>();
  /** The first unit of each stream. */
  readonly #streams = new Map<number, number>();
  /** How many there were of each before a unit. */
  readonly #before: Record<'groups' | 'prompts' | 'keys', number[]> = { groups: [], prompts: [], keys: [] };

  /** Forgets the rows of a unit and of all later ones. @returns false if earlier rows have other numbers without them */
  forgetFrom(unit: number): boolean {
    for (const recurs of this.#lasting.values()) if (recurs >= unit) return false;
    for (const [stream, first] of this.#streams) if (first >= unit) this.#streams.delete(stream);
    this.#groups = this.#before.groups[unit] ?? this.#groups;
    this.#prompts.truncate(this.#before.prompts[unit] ?? this.#prompts.count);
    this.#keys.truncate(this.#before.keys[unit] ?? this.#keys.count);
    for (const counts of Object.values(this.#before)) counts.length = Math.min(counts.length, unit);
    return true;
  }

  /** Numbers the rows that come first. */
  *addAll(columns: GroupColumns): Generator<void, GroupNumbers> {
    const numbers = yield* this.add(columns);
    if (numbers === null) throw new Error('rows that come first change no others');
    return numbers;
  }

  /** Numbers the rows of later units. @returns null if rows that were numbered have other numbers with them: then it is of no more use */
  *add({ prompts: hashes, units, streams, ...columns }: GroupColumns): Generator<void, GroupNumbers | null> {
    const keys = settleNumbers({ ...columns, prompts: hashes, units });
    yield;
    const alike = unitsAlike(hashes, units, (row) => !Number.isNaN(columns.keys[row]));
    yield;
    const groups = yield* this.#numberGroups(keys, units);
    const earlier = groups.start;
    if (!this.#findLasting({ keys, units, streams }, groups.numbers, earlier)) return null;
    yield;
    const prompts = new Int32Array(keys.length).fill(-1);
    // Rollouts of one group mostly share a prompt, so comparing with the group's last one usually suffices.
    const lastNames = new Float64Array(this.#groups - earlier);
    const lastNumbers = new Int32Array(this.#groups - earlier).fill(-1);
    const before = this.#before.prompts;
    const numberRow = (i: number): void => {
      if (units[i] === before.length) before.push(this.#prompts.count);
      const group = int32At(groups.numbers, i) - earlier;
      if (group < 0) return;
      const key = float64At(keys, i);
      // The hash of a prompt alone is another number than that of a group, which is even or odd at twice its size.
      const name =
        isOfPrompt(key) || alike.has(uint32At(units, i)) || this.#lasting.has(uint32At(streams, i))
          ? key
          : -float64At(hashes, i) - 1;
      if (lastNumbers[group] === -1 || lastNames[group] !== name) {
        lastNames[group] = name;
        lastNumbers[group] = this.#prompts.numberOf(uint32At(streams, i), name);
      }
      prompts[i] = int32At(lastNumbers, group);
    };
    yield* inStretches(keys.length, (from, to) => {
      for (let i = from; i < to; i++) numberRow(i);
    });
    return { groups: groups.numbers, prompts, lasting: new Set(this.#lasting.keys()) };
  }

  /** Groups lie within a unit. */
  *#numberGroups(keys: Float64Array, units: Uint32Array): Generator<void, { numbers: Int32Array; start: number }> {
    const numbers = new Int32Array(keys.length).fill(-1);
    const start = this.#groups;
    const inUnit = new PairNumbers();
    const before = this.#before.groups;
    // Rollouts of a group mostly follow each other.
    let [lastUnit, lastKey, number] = [-1, Number.NaN, -1];
    yield* inStretches(keys.length, (from, to) => {
      for (let i = from; i < to; i++) {
        const unit = uint32At(units, i);
        const key = float64At(keys, i);
        if (unit === before.length) before.push(start + inUnit.count);
        if (Number.isNaN(key)) continue;
        if (key !== lastKey || unit !== lastUnit) {
          lastUnit = unit;
          lastKey = key;
          number = start + inUnit.numberOf(unit, key);
        }
        numbers[i] = number;
      }
    });
    this.#groups += inUnit.count;
    return { numbers, start };
  }

  /** Streams whose records name a prompt by a key that recurs in another unit, in another group. @returns false if earlier rows are of one */
  #findLasting(
    { keys, units, streams }: Pick<GroupColumns, 'keys' | 'units' | 'streams'>,
    groups: Int32Array,
    earlier: number,
  ): boolean {
    const seen = new Uint8Array(this.#groups - earlier);
    const before = this.#before.keys;
    const firstUnit = units[0] ?? 0;
    let lastStream = -1;
    for (let i = 0; i < keys.length; i++) {
      const unit = uint32At(units, i);
      const stream = uint32At(streams, i);
      if (unit === before.length) before.push(this.#keys.count);
      if (stream !== lastStream && !this.#streams.has(stream)) this.#streams.set(stream, unit);
      lastStream = stream;
      const key = float64At(keys, i);
      const group = int32At(groups, i) - earlier;
      if (group < 0 || seen[group] === 1 || isOfPrompt(key) || this.#lasting.has(stream)) continue;
      seen[group] = 1;
      const known = this.#keys.count;
      const number = this.#keys.numberOf(stream, key);
      if (number === known) this.#firstUnits[number] = unit;
      else if (this.#firstUnits[number] !== unit) {
        this.#lasting.set(stream, unit);
        if ((this.#streams.get(stream) ?? unit) < firstUnit) return false;
      }
    }
    return true;
  }
}

/** `settleGroups` in numbers; NaN where there is no group. */
export function settleNumbers({ keys, prompts, uids, units }: Omit<GroupColumns, 'streams'>): Float64Array {
  const own = withSharedUids(keys, uids, units);
  const nameless = unitsAlike(prompts, units, (row) => isOfPrompt(float64At(own, row)));
  if (nameless.size === 0) return own;
  return own.map((key, row) => (isOfPrompt(key) && nameless.has(uint32At(units, row)) ? Number.NaN : key));
}

/** A uid that several rows of a unit share is their group's key. */
function withSharedUids(keys: Float64Array, uids: Float64Array, units: Uint32Array): Float64Array {
  if (!uids.some((uid) => !Number.isNaN(uid))) return keys;
  const numbers = new PairNumbers();
  const own = Int32Array.from(uids, (uid, i) => (Number.isNaN(uid) ? -1 : numbers.numberOf(uint32At(units, i), uid)));
  const counts = new Uint32Array(numbers.count);
  for (const number of own) if (number !== -1) counts[number] = uint32At(counts, number) + 1;
  return keys.map((key, i) => (own[i] === -1 || counts[int32At(own, i)] === 1 ? key : float64At(uids, i)));
}

/** Units in which several rows count, and their prompts are all equal. */
function unitsAlike(prompts: Float64Array, units: Uint32Array, counts: (row: number) => boolean): ReadonlySet<number> {
  let most = -1;
  for (let i = 0; i < units.length; i++) most = Math.max(most, uint32At(units, i));
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
