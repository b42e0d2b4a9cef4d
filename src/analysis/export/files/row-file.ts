import type { ExportRow } from '../format.ts';

/** A file of rows being written. */
export interface RowFile {
  add(row: ExportRow): void | Promise<void>;
  /** Writes the rest; nothing is visible yet. @throws the system's error, such as ENOSPC */
  finish(): Promise<void>;
  /** Makes the finished file visible under its name. */
  publish(): void;
  /** Removes every trace of it. */
  discard(): void;
}
