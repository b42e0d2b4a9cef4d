/** A remote file in its current state. */
export interface RemoteFile {
  /** Absolute, with slashes. */
  path: string;
  size: number;
  /** Whole seconds since the epoch. */
  modified: number;
  /** Distinguishes one content of the path from another; '' if unknown. */
  inode: string;
  /** Set for an object, which is only ever replaced as a whole: two contents never share it. Absent where a file may grow. */
  version?: string;
}

/** A remote machine, whose files are only ever read. */
export interface Machine {
  /** Its name in messages: `node7`. */
  readonly name: string;
  /** Hexadecimal digits for where it is, if the user chose that: the same name elsewhere is another machine. */
  readonly endpoint?: string;
  /** The files at or below a path, and the path itself with `~` resolved. @throws SourceError */
  list(path: string, signal: AbortSignal): Promise<{ root: string; files: RemoteFile[] }>;
  /** Files that may be read at once; absent for one after the other. */
  readonly lanes?: number;
  /** The bytes of a file from an offset to `end`, of no other version than this. @throws SourceError */
  read(path: string, offset: number, end: number, signal: AbortSignal, version?: string): AsyncIterable<Buffer>;
  /** Calls `grown` when bytes may have been added to a file, until the signal aborts; absent if only polling can find out. */
  follow?(path: string, size: number, grown: () => void, signal: AbortSignal): Promise<void>;
  /** Asks for a password now, while the user has the terminal. */
  greet?(): Promise<void>;
  close(): void;
}

export class SourceError extends Error {
  /** The connection was lost or never made, and may recover by itself. */
  readonly isLost: boolean;
  /** Another content has taken the place of what was read: the list is out of date. */
  readonly isReplaced: boolean;
  constructor(message: string, isLost: boolean, isReplaced = false) {
    super(message);
    this.isLost = isLost;
    this.isReplaced = isReplaced;
  }
}
