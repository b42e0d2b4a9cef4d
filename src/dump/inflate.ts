import { closeSync, createReadStream, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';

/**
 * Unpacks a .gz into a file that has no name any more, so that records can be read at any place and nothing is left behind
 * however the program ends. A damaged or half-written archive gives what could be unpacked, and the error.
 * @returns an open descriptor that the caller closes
 */
export async function inflate(path: string): Promise<{ fd: number; bytes: number; error: string | null }> {
  const directory = mkdtempSync(join(tmpdir(), 'rollout-viewer-'));
  const name = join(directory, 'inflated');
  const fd = openSync(name, 'wx+', 0o600);
  rmSync(directory, { recursive: true });
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
