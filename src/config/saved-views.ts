import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';

const Place = z.object({ locator: z.string(), turn: z.number().nullable() });

/** What a list showed, and where in it somebody was: plain data, so that it outlives the program. */
const SavedView = z.object({
  filter: z.object({ text: z.string(), isInverted: z.boolean() }).nullable(),
  sort: z.object({ key: z.string(), descending: z.boolean() }).nullable(),
  columns: z.array(z.string()).nullable(),
  place: Place.nullable(),
  /** By letter. */
  marks: z.record(z.string(), Place),
});
export type SavedView = z.infer<typeof SavedView>;

const LAST = 'last';

const SavedViews = z.record(z.string(), SavedView);

/** The name under which the views of a dump are kept: by its paths, links in them followed. */
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

/** The views that were saved by name; none where they cannot be read, which is no reason to trouble anybody. */
export function loadViews(path: string): ReadonlyMap<string, SavedView> {
  try {
    return new Map(Object.entries(SavedViews.parse(JSON.parse(readFileSync(path, 'utf8')))));
  } catch {
    return new Map();
  }
}

/** What a dump was left as, kept as one view is; null: it was not opened before, or begins anew. */
export const loadLast = (path: string): SavedView | null => loadViews(path).get(LAST) ?? null;
export const saveLast = (path: string, view: SavedView): string | null => saveView(path, LAST, view);

/** Another program may read it at any moment: it is whole, or as it was. @returns why it could not be kept, or null */
export function saveView(path: string, name: string, view: SavedView): string | null {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const draft = `${path}.${process.pid}`;
    const views = { ...Object.fromEntries(loadViews(path)), [name]: view };
    writeFileSync(draft, `${JSON.stringify(views)}\n`, { mode: 0o600 });
    renameSync(draft, path);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}
