import { closeSync, readFileSync, statSync, writeSync } from 'node:fs';
import { JsonError, parseJson } from '../../json/parse.ts';
import { printJson } from '../../json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../json/value.ts';
import { openNameless } from '../nameless-file.ts';
import { csvRows } from './csv.ts';

/** A document is read whole, so it must fit into a string. */
const LARGEST = 1 << 29;

/**
 * The records of a file that is not written a line a record: the rows of a `.csv`, the elements of a `.json` array, or the one value of a
 * `.json`. They are laid out a line each in a nameless file, so that line n is record n. Null for a file that is lines already.
 */
export function linesOf(path: string): { fd: number; error: string | null } | null {
  const kind = /\.(csv|json)$/i.exec(path)?.[1]?.toLowerCase();
  if (kind === undefined || statSync(path).size > LARGEST) return null;
  const text = readFileSync(path, 'utf8');
  const records = kind === 'csv' ? rowsAsObjects(text) : elements(text);
  if (records === null) return null;
  const fd = openNameless();
  try {
    for (const record of records) writeSync(fd, `${printJson(record)}\n`);
    return { fd, error: null };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Null where the file is no single JSON value: then it is lines, whatever its name says. */
function elements(text: string): JsonValue[] | null {
  let value: JsonValue;
  try {
    value = parseJson(text.startsWith('\ufeff') ? text.slice(1) : text);
  } catch (error) {
    if (error instanceof JsonError) return null;
    throw error;
  }
  return Array.isArray(value) && value.some(isJsonObject) ? value : [value];
}

/** The first row names the cells; a row that is longer keeps its last cells under their numbers. */
function* rowsAsObjects(text: string): Generator<JsonObject> {
  let names: string[] | null = null;
  for (const row of csvRows(text)) {
    if (names === null) {
      names = row;
      continue;
    }
    const record: JsonObject = Object.create(null);
    for (const [at, cell] of row.entries()) record[names[at] ?? `column_${at + 1}`] = cell;
    yield record;
  }
}
