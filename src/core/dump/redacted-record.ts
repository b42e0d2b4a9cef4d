import { JsonError, parseJson } from '../json/parse.ts';
import { printJson } from '../json/print.ts';
import { isJsonObject, type JsonValue } from '../json/value.ts';
import { itemAt } from '../lists/at.ts';
import { isSecretName, type Redact } from '../text/redact.ts';
import type { DumpRecord } from './dump-file.ts';
import { parseLine } from './parse-line.ts';

/**
 * The record with its secrets masked before it is read, so that turns, calls, extras and spans all come from the masked
 * text.
 */
export async function redactedRecord(row: DumpRecord, redact: Redact): Promise<DumpRecord> {
  const { file, record } = row;
  const raw = await redactedJson(row.raw, redact);
  return { ...row, raw, ...parseLine(raw, file.context, file.index.part(record)) };
}

/** Separates the strings of a record; no rule matches across it. */
const BORDER = '\n\u0000\n';

/** All strings of the record are checked at once. Text that is not JSON is masked as it is. */
async function redactedJson(raw: string, redact: Redact): Promise<string> {
  let value: JsonValue;
  try {
    value = parseJson(raw);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return redact(raw);
  }
  const texts: string[] = [];
  visit(value, (text) => texts.push(text));
  const masked = await redact(texts.join(BORDER));
  let at = 0;
  let next = 0;
  return printJson(
    visit(value, () => {
      const start = at;
      at += itemAt(texts, next).length + BORDER.length;
      return masked.slice(start, start + itemAt(texts, next++).length);
    }),
  );
}

/** The value with `change` applied to each of its strings, in order. */
function visit(value: JsonValue, change: (text: string) => unknown): JsonValue {
  if (typeof value === 'string') return String(change(value));
  if (Array.isArray(value)) return value.map((one) => visit(one, change));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      const changed = visit(one, change);
      return [key, typeof changed === 'string' && isSecretName(key) ? '*'.repeat(changed.length) : changed];
    }),
  );
}
