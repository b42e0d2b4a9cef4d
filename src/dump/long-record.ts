import { closeSync, openSync, readSync } from 'node:fs';
import type { ReadContext } from '../formats/format.ts';
import type { Finding } from '../rollout/finding.ts';
import type { Rollout, RolloutTokens, Span, Turn } from '../rollout/rollout.ts';
import type { ParsedLine } from './parse-line.ts';
import { ThreadClient } from './thread-client.ts';

/**
 * Bytes of a line from which the screen has its record read in a thread, laid out in several goes, and never read ahead: with 50 MB a
 * key would wait for seconds.
 */
export const LONG_RECORD = 1_500_000;

export interface LongRecordPlace {
  path: string;
  offset: number;
  length: number;
  part: number;
  context: ReadContext;
}

/** Opens a record, or asks for a piece of the one that was opened last. */
export type LongRecordRequest = { open: LongRecordPlace } | { piece: number };

/** The turn's text is this piece of a text of the rollout, which came before it. */
type Slice = { field: string; start: number; end: number };

/** A part of a rollout that is small enough to cross to the main thread between two keys. */
export type RolloutPiece =
  | { kind: 'texts'; texts: [field: string, text: string][] }
  | { kind: 'turns'; turns: Turn[]; slices: (Slice | null)[] }
  | { kind: 'spans'; spans: Span[] }
  | { kind: 'tokens'; list: TokenList; values: (number | null)[] };
type TokenList = Exclude<keyof RolloutTokens, 'more'>;

export type LongRecordAnswer =
  | { kind: 'opened'; error: string | null; findings: Finding[]; rollout: Rollout | null; pieces: number }
  | { kind: 'piece'; piece: RolloutPiece }
  | { kind: 'unreadable'; problem: string };

/** The text of a record that lies there. */
export function recordText({ path, offset, length }: Pick<LongRecordPlace, 'path' | 'offset' | 'length'>): string {
  const bytes = Buffer.allocUnsafe(length);
  const fd = openSync(path, 'r');
  try {
    let read = 0;
    for (let got = 1; got > 0 && read < length; read += got)
      got = readSync(fd, bytes, read, length - read, offset + read);
    return bytes.toString('utf8', 0, read);
  } finally {
    closeSync(fd);
  }
}

/** Reads long records in a thread, and takes each over in pieces, so that keys are answered meanwhile. */
export class LongRecords extends ThreadClient<LongRecordRequest, LongRecordAnswer> {
  #reading: Promise<unknown> = Promise.resolve();

  constructor() {
    super('long-record-worker');
  }

  /** One at a time. @param isWanted is asked between pieces. @returns null where it is wanted no more, or the thread ended over it */
  read(place: LongRecordPlace, isWanted: () => boolean): Promise<ParsedLine | null> {
    const read = this.#reading.then(() => (isWanted() ? this.#read(place, isWanted) : null));
    this.#reading = read.catch(() => null);
    return read;
  }

  async #read(place: LongRecordPlace, isWanted: () => boolean): Promise<ParsedLine | null> {
    const opened = await this.ask({ open: place });
    if (opened === null || opened.kind !== 'opened') return null;
    const { rollout, error, findings, pieces } = opened;
    for (let piece = 0; piece < pieces && rollout !== null; piece++) {
      if (!isWanted()) return null;
      const answer = await this.ask({ piece });
      if (answer?.kind !== 'piece') return null;
      addPiece(rollout, answer.piece);
    }
    return { json: undefined, rollout, error, findings };
  }
}

function addPiece(rollout: Rollout, piece: RolloutPiece): void {
  switch (piece.kind) {
    case 'texts':
      for (const [field, text] of piece.texts) rollout.texts[field] = text;
      break;
    case 'turns':
      for (const [i, turn] of piece.turns.entries()) {
        const slice = piece.slices[i];
        if (slice) turn.text = rollout.texts[slice.field]!.slice(slice.start, slice.end);
        rollout.turns.push(turn);
      }
      break;
    case 'spans':
      for (const span of piece.spans) rollout.spans.push(span);
      break;
    case 'tokens': {
      const list = rollout.tokens![piece.list] as (number | null)[];
      for (const value of piece.values) list.push(value);
    }
  }
}
