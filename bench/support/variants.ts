import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Dump } from '../../src/dump/dump.ts';
import { countRollouts, parseLine } from '../../src/dump/parse-line.ts';
import { parseJson } from '../../src/json/parse.ts';
import { printJson } from '../../src/json/print.ts';
import type { JsonValue } from '../../src/json/value.ts';
import { tokenTable } from '../../src/rollout/token-table.ts';

/** A larger record says no more. */
const LARGEST = 200_000;

const WRONG: JsonValue[] = [
  null,
  true,
  0,
  -100,
  1e308,
  Number.NaN,
  2n ** 70n,
  '',
  'x',
  '<think>',
  '[{',
  [],
  {},
  [null],
  [[]],
  [1, 2],
  { a: 1 },
];

/** Some values dropped, swapped, or of another type; those near the root more often. */
function changed(value: JsonValue, next: () => number): JsonValue {
  const copy = structuredClone(value);
  const places: [{ [key: string]: JsonValue }, string][] = [];
  const open: JsonValue[] = [copy];
  while (open.length > 0 && places.length < 4000) {
    const one = open.shift();
    if (typeof one !== 'object' || one === null) continue;
    const object = one as { [key: string]: JsonValue };
    for (const key of Object.keys(object)) {
      places.push([object, key]);
      open.push(object[key]!);
    }
  }
  for (let i = 0; i < 1 + next() * 3 && places.length > 0; i++) {
    const [object, key] = places[Math.floor(next() ** 2 * places.length)]!;
    const kind = next();
    if (kind < 0.2) delete object[key];
    else if (kind < 0.9) object[key] = WRONG[Math.floor(next() * WRONG.length)]!;
    else {
      const [other, name] = places[Math.floor(next() * places.length)]!;
      object[key] = structuredClone(other[name] ?? null);
    }
  }
  return copy;
}

/** The first record of each sample: those of all writers where they are at hand, else those of the project. */
export async function sampleRecords(root: string): Promise<JsonValue[]> {
  const shared = join(process.env.RV_SHARED ?? join(root, '../shared'), 'data/formats');
  const files = existsSync(shared)
    ? readFileSync(join(shared, 'truth.jsonl'), 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as { file: string; rollouts: number })
        .filter(({ file, rollouts }) => rollouts > 0 && !file.endsWith('/'))
        .map(({ file }) => join(shared, file))
    : [join(root, 'fixtures/tau-airline/1.jsonl'), join(root, 'fixtures/rollout_data/train/3.jsonl')];
  const records: JsonValue[] = [];
  for (const path of files) {
    const dump = Dump.open([path]);
    const [file] = dump.files;
    await file!.buildIndex(() => true);
    const { raw } = file!.count > 0 ? file!.read(0) : { raw: '' };
    if (raw !== '' && raw.length < LARGEST) records.push(parseJson(raw));
    dump.close();
  }
  return records;
}

/** Reads a variant of a record; what does not hold together, or null. */
export function faultOf(record: JsonValue, next: () => number): string | null {
  const text = printJson(changed(record, next));
  const said = (why: string): string => `${why}: ${text.slice(0, 2000)}`;
  try {
    const count = countRollouts(text, { validation: false });
    for (let part = count === null ? 0 : 1; part <= Math.min(count ?? 0, 2); part++) {
      const { rollout, error } = parseLine(text, { validation: false }, part);
      if (/^not readable as/.test(error ?? '')) return said(error!);
      if (rollout === null) continue;
      const ends = new Map<string, number>();
      for (const { field, start, end } of rollout.spans) {
        if (start !== (ends.get(field) ?? 0)) return said(`a hole in ${field} at ${start}`);
        ends.set(field, end);
      }
      for (const { parts, text: body, index } of rollout.turns)
        if (parts.reduce((at, one) => (one.start === at ? one.end : -1), 0) !== body.length)
          return said(`the parts of turn ${index} do not cover it`);
      tokenTable(rollout, null);
    }
  } catch (error) {
    return said(`thrown: ${(error as Error).stack}`);
  }
  return null;
}
