import { statSync } from 'node:fs';
import { itemAt } from '../lists/at.ts';
import { DirectoryWatch } from './directory-watch.ts';
import { needsPolling } from './mounts.ts';

/** The callbacks that look at one file, or at the directories for new and removed files. */
export interface Looker {
  lookAtFile(path: string): void;
  lookAtFiles(): void;
  /** Events stopped; polling has taken over, for this reason. */
  failed?(how: string): void;
  /** The files known so far, those most likely to change first. */
  files(): readonly { path: string }[];
}

export interface WatchOptions {
  /** Seconds between polls; 0 = never poll, undefined = poll if the file system sends no events. */
  poll?: number | undefined;
}

export interface Watching {
  /** "events", or the polling interval and the reason. */
  how: string;
  close(): void;
}

/** The default seconds between polls. */
const POLL = 2;
/**
 * The most that one poll may cost, in ms: 10,000 step files on a local disk are covered in two polls, on a busy server
 * in as many as it takes. The likeliest files are in every poll.
 */
const POLL_MS = 20;
const LIKELIEST = 32;

/** Watches paths through kernel events if they arrive, else through polls of bounded cost. */
export function watch(paths: readonly string[], looker: Looker, { poll }: WatchOptions = {}): Watching {
  const silent =
    poll === undefined ? (paths.map((path) => needsPolling(path)).find((reason) => reason !== null) ?? null) : null;
  if (poll === 0 || (poll === undefined && silent === null)) return watchEvents(paths, looker);
  const seconds = poll ?? POLL;
  return watchPolling(
    looker,
    seconds,
    silent === null ? `polling every ${seconds} s` : `polling every ${seconds} s (${silent})`,
  );
}

/**
 * Seconds between the looks in addition to events, for changes without an event: a directory that came back, a file
 * system that went silent.
 */
const SLOW_POLL = 5;

function watchEvents(paths: readonly string[], looker: Looker): Watching {
  const watching = { how: 'events', close: () => {} };
  let polling: Watching | null = null;
  const directories = new DirectoryWatch(paths, {
    changed: (path) => looker.lookAtFile(path),
    failed: (reason) => {
      polling?.close();
      polling = watchPolling(looker, POLL, `polling every ${POLL} s: ${reason}`);
      watching.how = polling.how;
      looker.failed?.(polling.how);
    },
  });
  polling ??= watchPolling(looker, SLOW_POLL, '', () => directories.check());
  watching.close = () => {
    directories.close();
    polling?.close();
  };
  // A change between the first index and the first watch caused no event.
  setImmediate(() => {
    looker.lookAtFiles();
    for (const { path } of looker.files()) looker.lookAtFile(path);
  });
  return watching;
}

function watchPolling(looker: Looker, seconds: number, how: string, before: () => void = () => {}): Watching {
  let next = 0;
  const seen = new Map<string, string>();
  const look = () => {
    before();
    looker.lookAtFiles();
    const files = looker.files();
    const end = performance.now() + POLL_MS;
    const head = Math.min(files.length, LIKELIEST);
    for (let i = 0; i < head; i++) lookAt(itemAt(files, i).path);
    const others = files.length - head;
    for (let i = 0; i < others && performance.now() < end; i++, next++)
      lookAt(itemAt(files, head + (next % others)).path);
  };
  const lookAt = (path: string) => {
    const state = fileState(path);
    // A file that came back and went again between two polls was gone in both, and read in between.
    if (state === GONE || seen.get(path) !== state) looker.lookAtFile(path);
    seen.set(path, state);
  };
  const timer = setInterval(look, seconds * 1000);
  return { how, close: () => clearInterval(timer) };
}

const GONE = 'gone';

function fileState(path: string): string {
  try {
    const { ino, size, mtimeMs } = statSync(path);
    return `${ino} ${size} ${mtimeMs}`;
  } catch {
    return GONE;
  }
}
