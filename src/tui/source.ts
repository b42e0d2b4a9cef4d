import type { Check, Finding } from '../rollout/finding.ts';
import type { Rollout } from '../rollout/rollout.ts';

/** What the screen needs of a dump; dump/ offers it, and tests may stand in for it. */
export interface SourceFile {
  readonly path: string;
  readonly stream: string;
  readonly validation: boolean;
  readonly stem: string;
  readonly step: number | null;
  readonly error: string | null;
  /** Records known so far. */
  readonly count: number;
  score(record: number): number | null | undefined;
  facts(record: number): { turns: number; toolCalls: number; findings: readonly Check[] } | undefined;
  byteLength(record: number): number;
}

export interface Place<File extends SourceFile = SourceFile> {
  file: File;
  /** From 0; blank lines are not counted. */
  record: number;
}

export interface SourceRecord {
  locator: string;
  raw: string;
  rollout: Rollout | null;
  error: string | null;
  findings: Finding[];
}

export interface Source<File extends SourceFile = SourceFile> {
  readonly files: readonly File[];
  readonly notices: readonly string[];
  start(): void;
  progress(): { phase: 'index' | 'facts' | 'done'; done: number; total: number };
  subscribe(listener: () => void): () => void;
  want(places: readonly Place<File>[]): void;
  read(place: Place<File>): SourceRecord;
  close(): void;
}

export const samePlace = (a: Place | null, b: Place | null): boolean =>
  a === b || (a !== null && b !== null && a.file === b.file && a.record === b.record);
