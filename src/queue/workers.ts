import { z } from 'zod';
import type { SharedRedis } from './redis.ts';

/** A worker says every few seconds that it is there, and what it is at. */
export const BEAT_MS = 2_000;
const BEAT_SECONDS = 10;

const Beat = z.object({
  id: z.string(),
  version: z.string(),
  host: z.string(),
  pid: z.number(),
  started: z.string(),
  concurrency: z.number(),
  done: z.number(),
  failed: z.number(),
  at: z.array(
    z.object({ run: z.string(), task: z.number(), rollout: z.number(), stage: z.string(), seconds: z.number() }),
  ),
});
export type WorkerBeat = z.infer<typeof Beat>;

const keyOf = ({ prefix }: SharedRedis, id: string): string => `${prefix}:worker:${id}`;

export const beat = (shared: SharedRedis, word: WorkerBeat): Promise<unknown> =>
  shared.redis.set(keyOf(shared, word.id), JSON.stringify(word), 'EX', BEAT_SECONDS);

export const leave = (shared: SharedRedis, id: string): Promise<unknown> => shared.redis.del(keyOf(shared, id));

export async function workersAt(shared: SharedRedis): Promise<WorkerBeat[]> {
  const found: WorkerBeat[] = [];
  for await (const keys of shared.redis.scanStream({ match: keyOf(shared, '*'), count: 1000 })) {
    const texts = (keys as string[]).length === 0 ? [] : await shared.redis.mget(...(keys as string[]));
    for (const text of texts) {
      const word = text === null ? null : Beat.safeParse(JSON.parse(text));
      if (word?.success) found.push(word.data);
    }
  }
  return found.sort((a, b) => a.started.localeCompare(b.started));
}
