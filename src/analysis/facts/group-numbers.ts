/** A row as far as its group goes. */
export interface GroupedRow {
  /** Rows of several streams never share a prompt. */
  stream: string;
  /** What a group lies within: a step of a file. */
  unit: number;
  /** null for a bad record. */
  key: string | null;
  /** The key is a hash of the prompt, not the record's own word. */
  isOfPrompt: boolean;
  /** A hash of the prompt alone. */
  prompt: string;
}

export interface GroupNumbers {
  /** From 0; -1 where the row has no group. */
  groups: Int32Array;
  /** The same prompt has one number in all steps of its stream. */
  prompts: Int32Array;
}

/**
 * Numbers the groups and prompts of rows. Where all prompts of a unit are equal they name no group (images leave no trace in a dump).
 * A key of the record that comes back in another unit names its prompt for good; one that never does (a fresh uid each step) is worth the
 * prompt's hash.
 */
export function numberGroups(rows: readonly GroupedRow[]): GroupNumbers {
  const alike = unitsAlike(rows);
  const lasting = lastingStreams(rows);
  const groups = new Int32Array(rows.length).fill(-1);
  const prompts = new Int32Array(rows.length).fill(-1);
  const groupNumbers = new Map<string, number>();
  const promptNumbers = new Map<string, number>();
  for (const [i, { stream, unit, key, isOfPrompt, prompt }] of rows.entries()) {
    if (key === null || (isOfPrompt && alike.has(unit))) continue;
    groups[i] = numbered(groupNumbers, `${unit}\0${key}`);
    const name = isOfPrompt || lasting.has(stream) || alike.has(unit) ? key : prompt;
    prompts[i] = numbered(promptNumbers, `${stream}\0${name}`);
  }
  return { groups, prompts };
}

/** Units with more than one rollout, of which all prompts are equal. */
function unitsAlike(rows: readonly GroupedRow[]): ReadonlySet<number> {
  const seen = new Map<number, { prompt: string; rows: number; isAlike: boolean }>();
  for (const { unit, key, prompt } of rows) {
    if (key === null) continue;
    const known = seen.get(unit);
    if (known === undefined) seen.set(unit, { prompt, rows: 1, isAlike: true });
    else {
      known.rows++;
      known.isAlike &&= known.prompt === prompt;
    }
  }
  return new Set([...seen].filter(([, unit]) => unit.isAlike && unit.rows > 1).map(([unit]) => unit));
}

/** Streams whose records name a prompt by a key of their own that comes back in another unit. */
function lastingStreams(rows: readonly GroupedRow[]): ReadonlySet<string> {
  const units = new Map<string, number>();
  const lasting = new Set<string>();
  for (const { stream, unit, key, isOfPrompt } of rows) {
    if (key === null || isOfPrompt || lasting.has(stream)) continue;
    const name = `${stream}\0${key}`;
    const before = units.get(name);
    if (before === undefined) units.set(name, unit);
    else if (before !== unit) lasting.add(stream);
  }
  return lasting;
}

function numbered(numbers: Map<string, number>, name: string): number {
  const known = numbers.get(name);
  if (known !== undefined) return known;
  numbers.set(name, numbers.size);
  return numbers.size - 1;
}
