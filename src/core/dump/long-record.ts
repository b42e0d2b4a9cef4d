import { closeSync, openSync, readSync } from 'node:fs';
import { finishedBetweenKeys } from '../async/finished.ts';
import { ThreadClient } from '../async/thread-client.ts';
import type { ReadContext } from '../formats/format.ts';
import { itemAt } from '../lists/at.ts';
import type { ParsedLine } from './parse-line.ts';
import { type ValuePiece, Whole } from './pieces.ts';

/**
 * From this line length in bytes the screen has a record read in a thread, laid out in steps, and never prefetched: at
 * 50 MB a key would wait for seconds.
 */
export const LONG_RECORD = 1_500_000;
/** Reading one of this length takes several times its bytes: one at a time, in a thread that ends after it. */
const HEAVY_RECORD = 8 << 20;
export const isHeavy = ({ length }: Pick<LongRecordPlace, 'length'>): boolean => length > HEAVY_RECORD;

export interface LongRecordPlace {
  path: string;
  offset: number;
  length: number;
  part: number;
  context: ReadContext;
}

/** Opens a record, or requests more pieces of the last one opened. */
export type LongRecordRequest = { open: LongRecordPlace } | { more: true };

/** A piece of a transfer; the last one is null. Absent if the record could not be read. */
export interface LongRecordAnswer {
  piece?: ValuePiece | null;
}

/** A turn's text usually is part of a text of the rollout, which is transferred once. */
type Slice = { field: string; start: number; end: number };

/** Everything of a record that is transferred to the main thread. */
export interface Crossing extends Omit<ParsedLine, 'json'> {
  /** For each turn without its text: where that text is. */
  slices: (Slice | null)[];
  /** SHA-256 of the text that was read, in hexadecimal. */
  hash: string;
}

/** The text of the record at this place. */
export function recordText({ path, offset, length }: Pick<LongRecordPlace, 'path' | 'offset' | 'length'>): string {
  const fd = openSync(path, 'r');
  try {
    return textInFile(fd, offset, length);
  } finally {
    closeSync(fd);
  }
}

/** The text of these bytes of a file. */
export function textInFile(fd: number, offset: number, length: number): string {
  const bytes = Buffer.allocUnsafe(length);
  let read = 0;
  for (let got = 1; got > 0 && read < length; read += got)
    got = readSync(fd, bytes, read, length - read, offset + read);
  return bytes.toString('utf8', 0, read);
}

/** Turns that get their texts between two pauses. */
const SHARE = 2000;

function* withTexts(rollout: Crossing['rollout'], slices: Crossing['slices']): Generator<void> {
  if (rollout === null) return;
  for (const [i, slice] of slices.entries()) {
    if (slice !== null)
      itemAt(rollout.turns, i).text = (rollout.texts[slice.field] ?? '').slice(slice.start, slice.end);
    if (i % SHARE === SHARE - 1) yield;
  }
}

/** Reads long records in a thread and receives each in pieces, so that keys are answered meanwhile. */
export class LongRecords extends ThreadClient<LongRecordRequest, LongRecordAnswer> {
  #reading: Promise<unknown> = Promise.resolve();

  constructor() {
    super('long-record-worker');
  }

  /**
   * One at a time. @param isWanted is called between pieces. @returns null if the record is no longer wanted, or the
   * thread ended over it
   */
  read(place: LongRecordPlace, isWanted: () => boolean): Promise<(ParsedLine & Pick<Crossing, 'hash'>) | null> {
    const read = this.#reading.then(() => (isWanted() ? this.#read(place, isWanted) : null));
    this.#reading = read.catch(() => null);
    return read;
  }

  async #read(place: LongRecordPlace, isWanted: () => boolean): Promise<(ParsedLine & Pick<Crossing, 'hash'>) | null> {
    const whole = new Whole<Crossing>({ rollout: null, error: null, findings: [], slices: [], hash: '' });
    for (
      let answer = await (isHeavy(place) ? this.askFrugally({ open: place }) : this.ask({ open: place }));
      answer?.piece !== null;
      answer = await this.ask({ more: true })
    ) {
      if (answer?.piece === undefined || !isWanted()) return null;
      whole.add(answer.piece);
      // The next piece may already have come: without a pause all would be taken at once.
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (isHeavy(place)) this.rest();
    const { rollout, error, findings, slices, hash } = whole.value;
    await finishedBetweenKeys(withTexts(rollout, slices));
    return { json: undefined, rollout, error, findings: rollout?.findings ?? findings, hash };
  }
}
