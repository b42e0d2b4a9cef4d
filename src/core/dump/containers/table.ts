import { readFileSync, statSync } from 'node:fs';
import { parse } from 'yaml';
import { splitRollouts } from '../../formats/beside-rollouts.ts';
import type { ReadContext } from '../../formats/format.ts';
import { formatOf } from '../../formats/registry.ts';
import { printJson } from '../../json/print.ts';
import { sharedProblem } from '../../json/shared.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../json/value.ts';
import { csvRows } from './csv.ts';
import type { CopyLine } from './lines-in.ts';

/** Read whole, so it must fit into a string. */
const LARGEST = 1 << 29;

function tableText(path: string): string {
  if (statSync(path).size > LARGEST) throw new Error('more than 512 MB in one text; write it as JSON lines');
  return readFileSync(path, 'utf8');
}

/** Rows of a CSV. The first row names the cells; extra cells of a longer row are kept under their numbers. */
export function* csvRecords(path: string): Generator<CopyLine> {
  let names: string[] | null = null;
  for (const row of csvRows(tableText(path))) {
    if (names === null) {
      names = row;
      continue;
    }
    const record: JsonObject = Object.create(null);
    for (const [at, cell] of row.entries()) record[names[at] ?? `column_${at + 1}`] = cell;
    yield { text: printJson(record) };
  }
}

/** The elements of a YAML list, or its single value; each rollout of a value with several is a record. */
export function* yamlRecords(path: string, context: ReadContext): Generator<CopyLine> {
  const value = parse(tableText(path), { logLevel: 'silent' }) as JsonValue;
  const problem = sharedProblem(value);
  if (problem !== null) throw new Error(`not read: ${problem}`);
  for (const [at, one] of (Array.isArray(value) ? value : [value]).entries()) {
    const format = isJsonObject(one) ? formatOf(one, context) : undefined;
    const rollouts = isJsonObject(one) && format !== undefined ? splitRollouts(format, one) : null;
    if (rollouts === null) yield { text: printJson(one), place: `:${at + 1}` };
    else if (rollouts.length === 1) yield { text: printJson(rollouts[0]), place: `:${at + 1}` };
    else
      for (const [i, rollout] of rollouts.entries()) yield { text: printJson(rollout), place: `:${at + 1}.${i + 1}` };
  }
}
