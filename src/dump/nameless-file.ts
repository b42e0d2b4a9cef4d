import { closeSync, createReadStream, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';

/** Opens a file without a name for reading and writing: nothing is left behind, however the program ends. */
export function openNameless(): number {
  const directory = mkdtempSync(join(tmpdir(), 'rollout-viewer-'));
  const fd = openSync(join(directory, 'nameless'), 'wx+', 0o600);
  rmSync(directory, { recursive: true });
  return fd;
}

/**
 * Unpacks a .gz into a nameless file, so that records can be read at any place. A damaged or half-written archive gives what could be unpacked, and the error.
 * @returns an open descriptor that the caller closes
 */
export async function inflate(path: string): Promise<{ fd: number; bytes: number; error: string | null }> {
  const fd = openNameless();
  let bytes = 0;
  try {
    const unpacked = createReadStream(path).pipe(createGunzip());
    for await (const chunk of unpacked) {
      writeSync(fd, chunk as Buffer);
      bytes += (chunk as Buffer).length;
    }
    return { fd, bytes, error: null };
  } catch (error) {
    if (bytes === 0) {
      closeSync(fd);
      throw error;
    }
    return { fd, bytes, error: `the archive is damaged or not complete: ${(error as Error).message}` };
  }
}
