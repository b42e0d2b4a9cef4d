import type { JobsOptions, RunJobs } from './jobs.ts';
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
  jobs(options: JobsOptions): Promise<RunJobs>;
  hub(share?: string): WorkerHub;
  status(): Promise<QueueStatus>;
  isAway(): boolean;
  close(): Promise<void>;
}
