import type { DumpFile } from './dump-file.ts';

/** A record's identity: its file and its index there, from 0, not counting blank lines. */
export interface Place {
  file: DumpFile;
  record: number;
}

export interface Progress {
  phase: 'index' | 'facts' | 'done';
  /** Bytes while indexing (files, if some are away), records while extracting facts. */
  done: number;
  total: number;
}

/** How much of some long work is done. */
export interface Work {
  what: string;
  done: number;
  total: number;
}
