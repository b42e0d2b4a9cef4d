import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { lostLine } from '../../formats/lost-line.ts';
import { isOpenHandsEvent } from '../../formats/openhands.ts';
import { JsonError, parseJson } from '../../json/parse.ts';
import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../../json/value.ts';
import { isFileInside, readStrangerFile } from '../stranger-file.ts';

const EVENT = /^(\d+)\.json$/;
const PAGE = /^(\d+)-\d+\.json$/;
const MOST_BYTES = 64e6;

/**
 * The file that represents a conversation of OpenHands before its SDK: the first of `events/N.json`, one file per
 * event, or if that folder is missing the first page of `event_cache/`. null for any other folder.
 * @param names of the files in it
 */
export function conversationFile(folder: string, names: Iterable<string>): string | null {
  const kind = basename(folder.replace(/\/+$/, ''));
  const form = kind === 'events' ? EVENT : kind === 'event_cache' ? PAGE : null;
  if (form === null) return null;
  const [first] = numberedFiles(names, form);
  if (first === undefined) return null;
  const value = jsonIn(join(folder, first.name));
  const event = Array.isArray(value) ? value[0] : value;
  return isJsonObject(event ?? undefined) && isOpenHandsEvent(objectIn(event)) ? first.name : null;
}

/**
 * All events of a conversation in order. An event whose file cannot be read is taken from a page of the cache, or
 * included as lost.
 */
export function conversationEvents(folder: string): JsonValue[] {
  const found = new Map<number, JsonObject>();
  const unreadable = new Set<number>();
  for (const { name, number } of numberedFiles(readdirSync(folder), EVENT)) {
    const value = isFileInside(folder, join(folder, name)) ? jsonIn(join(folder, name)) : undefined;
    if (isJsonObject(value ?? undefined)) found.set(number, objectIn(value));
    else unreadable.add(number);
  }
  const cache = basename(folder.replace(/\/+$/, '')) === 'event_cache' ? folder : join(folder, '../event_cache');
  for (const { name, number } of numberedFiles(fileNames(cache), PAGE)) {
    const page = isFileInside(cache, join(cache, name)) ? jsonIn(join(cache, name)) : undefined;
    for (const [at, event] of (Array.isArray(page) ? page : []).entries()) {
      if (!isJsonObject(event)) continue;
      const id = typeof event.id === 'number' ? event.id : number + at;
      if (!found.has(id)) found.set(id, event);
    }
  }
  for (const number of unreadable)
    if (!found.has(number)) found.set(number, lostLine(number, 'its file is not a JSON object', 'event'));
  return [...found].sort(([a], [b]) => a - b).map(([, event]) => event);
}

function fileNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

const numberedFiles = (names: Iterable<string>, form: RegExp): { name: string; number: number }[] =>
  [...names]
    .flatMap((name) => {
      const number = form.exec(name)?.[1];
      return number === undefined ? [] : [{ name, number: Number(number) }];
    })
    .sort((a, b) => a.number - b.number);

function jsonIn(path: string): JsonValue | undefined {
  const text = readStrangerFile(path, MOST_BYTES);
  try {
    return text === null ? undefined : parseJson(text);
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}
