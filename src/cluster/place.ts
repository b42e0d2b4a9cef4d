import { stat } from 'node:fs/promises';
import type { Jobs, JobsOptions } from './jobs.ts';
import type { QueueStatus } from './status.ts';
import type { TextStore } from './texts.ts';
import type { WorkerHub } from './worker.ts';

/** The place where runs and workers meet: a Redis, or a folder that all of them see. */
export interface QueuePlace {
  /** For display, without user and password. */
  name: string;
  /** Why the place serves nobody at the moment. */
  refusals: { readonly current: string | null };
  /** @param share a folder for texts that are too large for the place */
  texts(share?: string): TextStore;
  jobs(options: JobsOptions): Promise<Jobs>;
  hub(share?: string): WorkerHub;
  status(): Promise<QueueStatus>;
  isAway(): boolean;
  close(): Promise<void>;
}

/** @throws Error saying what to do */
export async function openPlace(address: string, say: (message: string) => void): Promise<QueuePlace> {
  if (/^[a-z][a-z\d+.-]*:/i.test(address)) return (await import('./redis-place.ts')).redisPlace(address, say);
  const found = await stat(address).catch(() => null);
  if (!found?.isDirectory())
    throw new Error(
      `--queue ${address}: expected redis://[USER:PASSWORD@]HOST:PORT, rediss:// for TLS, or a folder that all machines see${found === null ? ' (mkdir makes one)' : ''}`,
    );
  return (await import('./folder-place.ts')).folderPlace(address, say);
}
