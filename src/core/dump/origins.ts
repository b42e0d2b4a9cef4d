import { resolve } from 'node:path';

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

const origins = new Map<string, Origin>();

/** @param path of the copy */
export function noteOrigin(path: string, origin: Origin): void {
  origins.set(resolve(path), origin);
}

/** Null for a file that is not copied by this process. */
export const originOf = (path: string): Origin | null =>
  // Copies are named by whole paths; to make each path whole would take most of a frame of ten thousand files.
  origins.size === 0 ? null : (origins.get(path) ?? origins.get(resolve(path)) ?? null);
