import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { errorCode } from '../text/thrown.ts';
import { isInside, readStrangerFile } from './stranger-file.ts';

/** An unfinished rollout, as last reported by its writer. */
export interface UnderWay {
  /** The name of its finished record; null if its writer does not say. */
  uid: string | null;
  task: string;
  step: number | null;
  /** waiting, generating, tool, user, scoring, ending; or another writer's term. */
  stage: string;
  tools: readonly string[];
  /** Messages so far, including the prompt's. */
  turns: number;
  /** Seconds from its start to the report; null if unknown. */
  seconds: number | null;
  /** Seconds from its last activity to the report. */
  quiet: number | null;
  /** A file with its messages so far (prime-rl's deltas), or null. */
  path: string | null;
}

/** The workers of a run that makes its rollouts through a queue. */
export interface QueueState {
  workers: number;
  active: number;
  waiting: number;
  failed: number;
  perMinute: number;
  /** The Redis between them does not respond. */
  isAway: boolean;
}

/** A writer's report: the engine's `live.json` beside a dump, or prime-rl's folder `live`. */
export interface LiveState {
  /** When it was written, in ms since 1970. */
  written: number;
  /** The writer's process ran on this machine and is gone. */
  isGone: boolean;
  /** Counts of all rollouts by stage; `rollouts` may list fewer. */
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
        uid: z.string().max(1000).optional(),
        // A plain name, not a path: it is in the folder `live`.
        file: z
          .string()
          .regex(/^[\w-]{1,200}\.jsonl$/)
          .optional(),
        quiet: z.number().optional(),
        at: z.string().max(60),
        tools: z.array(z.string().max(300)).max(1000).optional(),
        turns: count,
        seconds: z.number(),
      }),
    )
    .max(10_000),
});

/** null if no run writes there, or the file is something else. @param host this machine's name */
export function readLiveState(directory: string, host: string): LiveState | null {
  const path = join(directory, '.rollout-viewer', 'live.json');
  const text = isInside(directory, path) ? readStrangerFile(path, MOST_BYTES) : null;
  if (text === null) return null;
  const parsed = Live.safeParse(jsonOrUndefined(text));
  if (!parsed.success) return null;
  const { time, pid, at, rollouts, queue = null, host: writer } = parsed.data;
  return {
    written: Date.parse(time),
    isGone: writer === host && pid !== undefined && !isRunning(pid),
    stages: at,
    queue,
    rollouts: rollouts.map(({ at: stage, step = null, uid = null, file, tools = [], task, rollout, ...rest }) => ({
      uid,
      // Counted from 1, as people do.
      task: `${task + 1}.${rollout + 1}`,
      step,
      stage,
      tools,
      turns: rest.turns,
      seconds: rest.seconds,
      quiet: rest.quiet ?? null,
      path: file === undefined ? null : pathInside(directory, join(directory, '.rollout-viewer', 'live', file)),
    })),
  };
}

/** A file that does not exist yet is waited for. */
const pathInside = (root: string, path: string): string | null =>
  isInside(root, path) || !existsSync(path) ? path : null;

/** A rollout that prime-rl has dispatched but that has not begun (`live/pending/ID.json`). */
const Pending = z.object({
  id: z.string().max(300),
  task: z.union([z.string().max(1000), z.number()]).optional(),
  step: z.number().nullish(),
  started: z.number().optional(),
});

/** prime-rl's folder of rollouts under way: a delta file for each, and those that have not begun. */
export interface LiveFolder {
  /** Delta files, with their last modification, ms since 1970. */
  files: { path: string; written: number; size: number }[];
  pending: UnderWay[];
}

/** More rollouts than any run has under way. */
const MOST_FILES = 5000;
const MOST_PENDING_BYTES = 10_000;

/** null if the folder is not prime-rl's. @param directory of the stream, or of its chunks */
export function readLiveFolder(directory: string): LiveFolder | null {
  const isChunked = basename(directory) === 'stream';
  if (!isChunked && !existsSync(join(directory, 'stream.jsonl'))) return null;
  const folder = join(directory, isChunked ? '../live' : 'live');
  const root = isChunked ? join(directory, '..') : directory;
  const entries = isInside(root, folder) ? listedRecords(folder) : null;
  if (entries === null) return null;
  const files = entries.flatMap(({ name, isFile }) => {
    if (!isFile || !/^[\w-]{1,200}\.jsonl$/.test(name)) return [];
    const path = join(folder, name);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats?.isFile() ? [{ path, written: stats.mtimeMs, size: stats.size }] : [];
  });
  const pending = (listedRecords(join(folder, 'pending')) ?? []).flatMap(({ name, isFile }): UnderWay[] => {
    const text = isFile ? readStrangerFile(join(folder, 'pending', name), MOST_PENDING_BYTES) : null;
    const parsed = Pending.safeParse(text === null ? null : jsonOrUndefined(text));
    if (!parsed.success) return [];
    const { id, task, step = null, started } = parsed.data;
    const seconds = started === undefined ? null : Date.now() / 1000 - started;
    return [
      {
        uid: null,
        task: String(task ?? id),
        step,
        stage: 'pending',
        tools: [],
        turns: 0,
        seconds,
        quiet: null,
        path: null,
      },
    ];
  });
  return files.length + pending.length === 0 ? null : { files: files.slice(0, MOST_FILES), pending };
}

function listedRecords(folder: string): { name: string; isFile: boolean }[] | null {
  try {
    return readdirSync(folder, { withFileTypes: true }).map((entry) => ({ name: entry.name, isFile: entry.isFile() }));
  } catch {
    return null;
  }
}

function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** EPERM: the process belongs to another user, so it exists. */
function isRunning(pid: number): boolean {
  if (pid <= 1) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) !== 'ESRCH';
  }
}
