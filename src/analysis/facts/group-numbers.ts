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
  // One map a unit and a stream: a pair of numbers makes no quick key.
  const ofUnit = new Map<number, Map<number, number>>();
  const ofStream = new Map<number, Map<number, number>>();
  let [groupCount, promptCount] = [0, 0];
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    const isAlike = alike.has(units[i]!);
    if (Number.isNaN(key) || (isAlike && isOfPrompt(key))) continue;
    const inUnit = mapOf(ofUnit, units[i]!);
    let group = inUnit.get(key);
    if (group === undefined) {
      group = groupCount++;
      inUnit.set(key, group);
    }
    groups[i] = group;
    // The hash of a prompt alone is another number than that of a group, which is even or odd at twice its size.
    const name = isOfPrompt(key) || isAlike || lasting.has(streams[i]!) ? key : -hashes[i]! - 1;
    const inStream = mapOf(ofStream, streams[i]!);
    let prompt = inStream.get(name);
    if (prompt === undefined) {
      prompt = promptCount++;
      inStream.set(name, prompt);
    }
    prompts[i] = prompt;
  }
  return { groups, prompts, alike };
}

function mapOf(maps: Map<number, Map<number, number>>, at: number): Map<number, number> {
  let map = maps.get(at);
  if (map === undefined) {
    map = new Map();
    maps.set(at, map);
  }
  return map;
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
  const seen = new Map<number, Map<number, number>>();
  const lasting = new Set<number>();
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    if (Number.isNaN(key) || isOfPrompt(key) || lasting.has(streams[i]!)) continue;
    const known = mapOf(seen, streams[i]!);
    const before = known.get(key);
    if (before === undefined) known.set(key, units[i]!);
    else if (before !== units[i]) lasting.add(streams[i]!);
  }
  return lasting;
}
