import { closeSync, openSync, readSync } from 'node:fs';
import { finishedBetweenKeys } from '../async/finished.ts';
import { ThreadClient } from '../async/thread-client.ts';
import type { ReadContext } from '../formats/format.ts';
import { int32At } from '../lists/at.ts';
import { type PackedSpans, unpackingSpans } from './packed-spans.ts';
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

/** Everything of a record that is transferred to the main thread. */
export interface Crossing extends Omit<ParsedLine, 'json'> {
  /** Those of the rollout. */
  spans: PackedSpans;
  /** For each turn its span, whose text it has: a text is transferred once. -1 if it comes with its text. */
  places: Int32Array;
  /** SHA-256 of the text that was read, in hexadecimal. */
  hash: string;
}

/** A line without a rollout. */
export const NOTHING_CROSSES: Omit<Crossing, 'hash'> = {
  rollout: null,
  error: null,
  findings: [],
  spans: { fields: [], numbers: new Int32Array() },
  places: new Int32Array(),
};

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

function* withTexts({ rollout, spans, places }: Crossing): Generator<void> {
  if (rollout === null) return;
  rollout.spans = yield* unpackingSpans(spans);
  // Each came as a text of its own.
  const roles = new Map<string, string>();
  for (const [i, turn] of rollout.turns.entries()) {
    const role = roles.get(turn.role) ?? turn.role;
    roles.set(role, role);
    turn.role = role;
    const span = rollout.spans[int32At(places, i)];
    if (span !== undefined) turn.text = (rollout.texts[span.field] ?? '').slice(span.start, span.end);
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
    const whole = new Whole<Crossing>({ ...NOTHING_CROSSES, hash: '' });
    for (
      let answer = await (isHeavy(place) ? this.askFrugally({ open: place }, place.length) : this.ask({ open: place }));
      answer?.piece !== null;
      answer = await this.ask({ more: true })
    ) {
      if (answer?.piece === undefined || !isWanted()) return null;
      whole.add(answer.piece);
      // The next piece may already have come: without a pause all would be taken at once.
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (isHeavy(place)) this.rest();
    const { rollout, error, findings, hash } = whole.value;
    await finishedBetweenKeys(withTexts(whole.value));
    return { json: undefined, rollout, error, findings: rollout?.findings ?? findings, hash };
  }
}
