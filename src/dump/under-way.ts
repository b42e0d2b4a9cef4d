import { join } from 'node:path';
import { z } from 'zod';
import { readStrangerFile } from './stranger-file.ts';

/** A rollout that is not finished, as its writer said last. */
export interface UnderWay {
  task: number;
  rollout: number;
  step: number | null;
  /** waiting, generating, tool, user, scoring, ending; or what another writer calls it. */
  stage: string;
  tools: readonly string[];
  /** Messages so far, the prompt's among them. */
  turns: number;
  /** Seconds since it began, when the writer looked. */
  seconds: number;
}

/** The workers of a run that has its rollouts made behind a queue. */
export interface QueueState {
  workers: number;
  active: number;
  waiting: number;
  failed: number;
  perMinute: number;
  /** The Redis between them does not answer. */
  isAway: boolean;
}

/** What the engine's `live.json` beside a dump says. */
export interface LiveState {
  /** When it was written, in ms since 1970. */
  written: number;
  /** The writer's process is known to be gone: it ran on this machine. */
  isGone: boolean;
  /** By stage, of all rollouts; `rollouts` may be fewer. */
  stages: Readonly<Record<string, number>>;
  /** null: the run makes its rollouts itself. */
  queue: QueueState | null;
  rollouts: readonly UnderWay[];
}

const MOST_BYTES = 4e6;
const count = z.number().int().min(0).max(1e9);

const Live = z.object({
  time: z.iso.datetime(),
  pid: count.optional(),
  host: z.string().max(300).optional(),
  at: z.record(z.string().max(60), count),
  queue: z
    .object({ workers: count, active: count, waiting: count, failed: count, perMinute: count, isAway: z.boolean() })
    .nullish(),
  rollouts: z
    .array(
      z.object({
        task: count,
        rollout: count,
        step: z.number().nullish(),
        at: z.string().max(60),
        tools: z.array(z.string().max(300)).max(1000).optional(),
        turns: count,
        seconds: z.number(),
      }),
    )
    .max(10_000),
});

/** null where no run writes there, or the file is none of this kind. @param host this machine's name */
export function readLiveState(directory: string, host: string): LiveState | null {
  const text = readStrangerFile(join(directory, '.rollout-viewer', 'live.json'), MOST_BYTES);
  if (text === null) return null;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return null;
  }
  const parsed = Live.safeParse(json);
  if (!parsed.success) return null;
  const { time, pid, at, rollouts, queue = null, host: writer } = parsed.data;
  return {
    written: Date.parse(time),
    isGone: writer === host && pid !== undefined && !isRunning(pid),
    stages: at,
    queue,
    rollouts: rollouts.map(({ at: stage, step = null, tools = [], ...rest }) => ({ ...rest, stage, step, tools })),
  };
}

/** A process of another user cannot be asked, and is there. */
function isRunning(pid: number): boolean {
  if (pid <= 1) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
