import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { ensureFolder } from '../../core/files/ensure-folder.ts';

/** The columns that the user last chose; null if absent or they are unreadable, which is not worth a message. */
export function loadColumns(path: string): readonly string[] | null {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return Array.isArray(value) && value.every((key) => typeof key === 'string') ? value : null;
  } catch {
    return null;
  }
}

/** Another program may read the file at any moment, so it is replaced atomically. */
export function saveColumns(path: string, columns: readonly string[] | null): void {
  try {
    ensureFolder(dirname(path), 0o700);
    const draft = `${path}.${process.pid}`;
    writeFileSync(draft, `${JSON.stringify(columns)}\n`, { mode: 0o600 });
    renameSync(draft, path);
  } catch {
    // The home directory is not writable.
  }
}
