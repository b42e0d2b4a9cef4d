import { readFileSync } from 'node:fs';
import type { ReadContext } from '../formats/format.ts';
import { isPlaceholder } from '../formats/not-rollouts.ts';
import { isJsonObject, type JsonValue } from '../json/value.ts';
import { FileFacts } from './file-facts.ts';
import { LineIndex } from './line-index.ts';
import { originOf, PLACEHOLDER } from './origins.ts';
import { parseLine } from './parse-line.ts';
import { recordFactsOf } from './record-facts.ts';

/** No placeholder is longer. */
const MOST_BYTES = 2000;

/**
 * The index of a placeholder for a file that has not come yet, as reading its only line would make it; null for anything else. A store may
 * list ten thousand of them: each is read once, and all share their facts, which say no more than that.
 */
export function awayIndex(path: string, size: number, context: ReadContext): LineIndex | null {
  if (size > MOST_BYTES || context.format !== undefined || context.maps !== undefined) return null;
  const origin = originOf(path);
  if (origin === null || origin.partial !== undefined) return null;
  const bytes = readFileSync(path);
  if (bytes.length !== size || bytes.indexOf(10) !== size - 1 || !isPlaceholderLine(bytes.toString())) return null;
  const index = new LineIndex();
  index.add(0, size - 1, undefined, null);
  facts ??= factsOf(bytes.toString(), context);
  index.shareColumns(facts);
  return index;
}

function isPlaceholderLine(line: string): boolean {
  if (!line.startsWith(PLACEHOLDER)) return false;
  try {
    const record: JsonValue = JSON.parse(line);
    return isJsonObject(record) && Object.keys(record).length === 1 && isPlaceholder(record);
  } catch {
    return false;
  }
}

let facts: FileFacts | undefined;

function factsOf(text: string, context: ReadContext): FileFacts {
  const made = new FileFacts();
  made.set(0, recordFactsOf(parseLine(text.trimEnd(), context)));
  return made;
}
