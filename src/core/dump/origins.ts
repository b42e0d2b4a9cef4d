import { existsSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';

/** The original of a file that this process copies from another machine. A copy arrives when it arrives; its original says when it was written. */
export interface Origin {
  /** ms since the epoch; 0 if that machine does not say. */
  modified: number;
  /** Bytes that it had when copying began: they are no news, whenever they arrive. */
  known: number;
  /** Somebody looks at it: if it is not here yet, it comes next. */
  look?: () => void;
  /** Its parts come as they are read; until all of them are here, a placeholder is at its path. */
  partial?: PartialFile;
  /** The line that stands for it while nothing is at its path. */
  away?: AwayLine;
}

/** A line of a file that holds one for each of many files. */
export interface AwayLine {
  path: string;
  offset: number;
  /** Bytes, without its newline. */
  length: number;
}

/** A file whose bytes come when they are asked for. */
export interface PartialFile {
  /** Where its bytes are now; those that nobody asked for are zeros. Once all of them came, it is another path. */
  readonly path: string;
  readonly size: number;
  /** Its reader may stop before the end, so lines are asked for in their order as well. */
  readonly mayStop: boolean;
  /** Brings a part. @throws Error if it cannot be had, or has been replaced */
  readonly need: (start: number, end: number) => Promise<void>;
}

/** How the only line of a placeholder begins: it says in words what is known of the file. */
export const PLACEHOLDER = '{"rollout_viewer_pending": ';

/** A path that `resolve` would leave as it is. */
const IS_WHOLE = /^(?:\/[^/.][^/]*)+$/;

const origins = new Map<string, Origin>();
/** The names in each folder at which there may be nothing but a line elsewhere. */
const away = new Map<string, Set<string>>();

/** @param path of the copy */
export function noteOrigin(path: string, origin: Origin): void {
  const whole = IS_WHOLE.test(path) ? path : resolve(path);
  origins.set(whole, origin);
  if (origin.away !== undefined) noteAway(whole, origin.away);
}

/** @param path whole, of a copy whose origin is noted */
export function noteAway(path: string, line: AwayLine): void {
  const origin = origins.get(path);
  if (origin !== undefined) origin.away = line;
  // Ten thousand of them come before the first rollout, and `dirname` takes ten times as long.
  const end = path.lastIndexOf('/');
  const folder = path.slice(0, Math.max(1, end));
  const names = away.get(folder);
  if (names === undefined) away.set(folder, new Set([path.slice(end + 1)]));
  else names.add(path.slice(end + 1));
}

export function forgetOrigin(path: string): void {
  origins.delete(path);
  away.get(dirname(path))?.delete(basename(path));
}

/** The names of files that belong to a folder and are not in it. @param here those that are */
export function awayIn(folder: string, here: readonly { name: string }[]): string[] {
  const names = away.get(resolve(folder));
  if (names === undefined || names.size === 0) return [];
  const known = new Set(here.map(({ name }) => name));
  return [...names].filter((name) => !known.has(name));
}

/** Null for a file that is not copied by this process. */
export const originOf = (path: string): Origin | null =>
  // Copies are named by whole paths; to make each path whole would take most of a frame of ten thousand files.
  origins.size === 0 ? null : (origins.get(path) ?? origins.get(resolve(path)) ?? null);

/** The line that stands for a file of which nothing is here. */
export function awayLine(path: string): AwayLine | undefined {
  const line = originOf(path)?.away;
  return line === undefined || existsSync(path) ? undefined : line;
}
