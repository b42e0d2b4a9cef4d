import { createHash } from 'node:crypto';
import { readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { ensureFolder } from '../../core/files/ensure-folder.ts';
import { parseJson } from '../../core/json/parse.ts';
import { isJsonObject, type JsonValue } from '../../core/json/value.ts';
import { errorMessage } from '../../core/text/thrown.ts';

interface ViewPlace {
  locator: string;
  turn: number | null;
}

/** The state of a list and the place in it: plain data, so that it outlives the program. */
export interface SavedView {
  filter: { text: string; isInverted: boolean } | null;
  sort: { key: string; descending: boolean } | null;
  columns: string[] | null;
  place: ViewPlace | null;
  /** By letter. */
  marks: Record<string, ViewPlace>;
  /** Absent unless the column of details is hidden. */
  details?: false;
}

const LAST = 'last';

// The screen reads this before its first frame, and a schema library would take longer to load than everything else.
const isPlace = (value: JsonValue): boolean =>
  isJsonObject(value) && typeof value.locator === 'string' && (value.turn === null || typeof value.turn === 'number');
const isNullOr = (value: JsonValue | undefined, holds: (value: JsonValue) => boolean): boolean =>
  value === null || (value !== undefined && holds(value));

const isView = (value: JsonValue): boolean =>
  isJsonObject(value) &&
  isNullOr(
    value.filter,
    (one) => isJsonObject(one) && typeof one.text === 'string' && typeof one.isInverted === 'boolean',
  ) &&
  isNullOr(
    value.sort,
    (one) => isJsonObject(one) && typeof one.key === 'string' && typeof one.descending === 'boolean',
  ) &&
  isNullOr(value.columns, (one) => Array.isArray(one) && one.every((name) => typeof name === 'string')) &&
  isNullOr(value.place, isPlace) &&
  (value.details === undefined || value.details === false) &&
  isJsonObject(value.marks) &&
  Object.values(value.marks).every(isPlace);

/** The name under which a dump's views are kept: from its paths, with links resolved. */
export function dumpName(paths: readonly string[]): string {
  const whole = paths.map((path) => {
    try {
      return realpathSync(path);
    } catch {
      return path;
    }
  });
  return createHash('sha256').update(JSON.stringify(whole)).digest('hex').slice(0, 16);
}

/** The saved views by name; none if they are unreadable, which is not worth a message. */
export function loadViews(path: string): ReadonlyMap<string, SavedView> {
  try {
    const views = parseJson(readFileSync(path, 'utf8'));
    if (!isJsonObject(views) || !Object.values(views).every(isView)) return new Map();
    return new Map(Object.entries(views as unknown as Record<string, SavedView>));
  } catch {
    return new Map();
  }
}

/** The view in which the dump was last left; null if it was not opened before, or on a fresh start. */
export const loadLast = (path: string): SavedView | null => loadViews(path).get(LAST) ?? null;
export const saveLast = (path: string, view: SavedView): string | null => saveView(path, LAST, view);

/** Another program may read the file at any moment, so it is replaced atomically. @returns why it could not be kept, or null */
export function saveView(path: string, name: string, view: SavedView): string | null {
  try {
    ensureFolder(dirname(path), 0o700);
    const draft = `${path}.${process.pid}`;
    const views = { ...Object.fromEntries(loadViews(path)), [name]: view };
    writeFileSync(draft, `${JSON.stringify(views)}\n`, { mode: 0o600 });
    renameSync(draft, path);
    return null;
  } catch (error) {
    return errorMessage(error);
  }
}
