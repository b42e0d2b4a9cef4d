import { readFileSync } from 'node:fs';
import type { ReadContext } from '../formats/format.ts';
import { isPlaceholder } from '../formats/not-rollouts.ts';
import { isJsonObject, type JsonValue } from '../json/value.ts';
import { type Identity, NOWHERE } from './file-content.ts';
import { FileFacts } from './file-facts.ts';
import { LineIndex } from './line-index.ts';
import { originOf, PLACEHOLDER } from './origins.ts';
import { parseLine } from './parse-line.ts';
import { recordFactsOf } from './record-facts.ts';

/** No placeholder is longer. */
const MOST_BYTES = 2000;

/** The row of a file that has not come, as reading its placeholder would make it. */
export interface AwayRow {
  index: LineIndex;
  /** The file that holds its line, if it is not the one at the path. */
  standIn: string | null;
}

/**
 * Null for a file that is here. A store may list ten thousand that are not: each is read once or not at all, and all share their facts,
 * which say no more than that.
 */
export function awayRow(path: string, { device, size }: Identity, context: ReadContext): AwayRow | null {
  const origin = originOf(path);
  if (origin === null || origin.partial !== undefined) return null;
  const line = device === NOWHERE ? origin.away : undefined;
  const isRead = context.format !== undefined || context.maps !== undefined || size > MOST_BYTES;
  if (line === undefined && (isRead || !isPlaceholderFile(path, size))) return null;
  const index = new LineIndex();
  index.add(line?.offset ?? 0, size - 1, undefined, null);
  facts ??= awayFacts();
  index.shareColumns(facts);
  return { index, standIn: line?.path ?? null };
}

function isPlaceholderFile(path: string, size: number): boolean {
  const bytes = readFileSync(path);
  return bytes.length === size && bytes.indexOf(10) === size - 1 && isPlaceholderLine(bytes.toString());
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

function awayFacts(): FileFacts {
  const made = new FileFacts();
  made.set(0, recordFactsOf(parseLine(`${PLACEHOLDER}""}`, { validation: false })));
  return made;
}
