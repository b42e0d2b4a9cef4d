import { z } from 'zod';
import type { SharedRedis } from './redis.ts';
import { Register } from './register.ts';

/** A worker reports its presence and its work at this interval. */
export const BEAT_MS = 2_000;
const KEPT_MS = 10_000;

const Word = z.string().max(1000);

export const Beat = z.object({
  id: Word,
  version: Word,
  host: Word,
  pid: z.number(),
  started: Word,
  concurrency: z.number(),
  done: z.number(),
  failed: z.number(),
  /** Jobs finished in the last minute. */
  perMinute: z.number(),
  /** Runs it works for, and those it does not work for, each with the difference. */
  runs: z.array(Word),
  refused: z.array(z.object({ run: Word, why: z.string() })),
  inFlight: z.number(),
  /** Per run, the number of jobs in flight in each stage. */
  stages: z.record(z.string(), z.record(z.string(), z.number())),
  /** The first few jobs in flight. */
  at: z.array(z.object({ run: z.string(), id: z.string(), stage: z.string(), seconds: z.number() })),
});
export type WorkerBeat = z.infer<typeof Beat>;

const register = (shared: SharedRedis) => new Register(shared, 'workers', Beat, KEPT_MS);

export const beat = (shared: SharedRedis, word: WorkerBeat): Promise<void> => register(shared).sign(word);

export const leave = (shared: SharedRedis, id: string): Promise<void> => register(shared).leave(id);

export const workersAt = async (shared: SharedRedis): Promise<WorkerBeat[]> =>
  (await register(shared).list()).sort((a, b) => a.started.localeCompare(b.started));
