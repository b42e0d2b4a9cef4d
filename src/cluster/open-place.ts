import { stat } from 'node:fs/promises';
import type { QueuePlace } from './place.ts';

/** @param share a folder for texts that are too large for the place. @throws Error saying what to do */
export async function openPlace(address: string, say: (message: string) => void, share?: string): Promise<QueuePlace> {
  if (/^[a-z][a-z\d+.-]*:/i.test(address)) return (await import('./redis-place.ts')).redisPlace(address, say);
  const found = await stat(address).catch(() => null);
  if (!found?.isDirectory())
    throw new Error(
      `--queue ${address}: expected redis://[USER:PASSWORD@]HOST:PORT, rediss:// for TLS, or a folder that all machines see${found === null ? ' (mkdir makes one)' : ''}`,
    );
  if (share !== undefined)
    throw new Error(`--share ${share}: a queue in a folder needs none, its jobs hold their texts; leave it out`);
  return (await import('./folder-place.ts')).folderPlace(address, say);
}
