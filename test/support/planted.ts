import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Dump } from '../../src/core/dump/dump.ts';
import { printJson } from '../../src/core/json/print.ts';
import { isJsonObject, type JsonValue } from '../../src/core/json/value.ts';
import { unreadOf } from '../../src/core/rollout/unread.ts';
import { recordJson } from '../../src/viewer/commands/row-json.ts';

/** A key that no writer writes, in an object of a file. */
export interface Planted {
  key: string;
  text: string;
  /** With `[]` for any element, from the file's value or line. */
  path: string;
}

/** Adds keys to a copy of objects in a value, each with the share as its chance. */
export function planted(value: JsonValue, share: number, next: () => number, found: Planted[], path = ''): JsonValue {
  if (Array.isArray(value)) return value.map((one) => planted(one, share, next, found, `${path}[]`));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, one]): [string, JsonValue] => [
    key,
    planted(one, share, next, found, path === '' ? key : `${path}.${key}`),
  ]);
  if (next() < share) {
    const number = found.length + 1;
    const one = { key: `planted_${number}`, text: `a text planted as number ${number} here`, path };
    found.push(one);
    entries.push([one.key, one.text]);
  }
  return Object.fromEntries(entries);
}

/** The planted keys that the rows of a path show or name; null if it has no rollout, and says so. */
export async function lostOf(path: string, keys: readonly Planted[]): Promise<Planted[] | null> {
  const dump = Dump.open([path]);
  const shown: string[] = [];
  let rollouts = 0;
  try {
    for (const file of dump.files) {
      await file.buildIndex(() => true);
      for (let record = 0; record < file.count; record++) {
        const row = file.read(record);
        if (row.rollout === null || row.json === undefined) {
          shown.push(printJson(recordJson(row, null, null)));
          continue;
        }
        rollouts++;
        shown.push(printJson(recordJson(row, null, null)));
        shown.push(...unreadOf(row.json, row.rollout).map((one) => `${one.path}|`));
      }
    }
  } finally {
    dump.close();
  }
  if (rollouts === 0) return null;
  const whole = shown.join('\n');
  return keys.filter(({ key, text }) => !whole.includes(text) && !whole.includes(`${key}|`));
}

export const filesBelow = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });
