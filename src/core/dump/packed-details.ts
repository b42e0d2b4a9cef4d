import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { int32At } from '../lists/at.ts';
import { NumberColumn } from './number-column.ts';
import { detailsOf, type RecordDetails } from './record-details.ts';

/** Packed lines, and where the line of each record is. */
export interface StoredDetails {
  chunks: readonly Uint8Array[];
  /** For each record, its chunk and its line there. */
  chunkOf: NumberColumn;
  lineOf: NumberColumn;
}

/** A few bytes must not become gigabytes, whoever wrote them. */
const MOST_UNPACKED = 64 << 20;

export const packLines = (lines: readonly string[]): Uint8Array => deflateRawSync(lines.join('\n'), { level: 1 });

/** The details of a file's records, packed; those that were kept are loaded when somebody asks. */
export class PackedDetails {
  #chunks: Uint8Array[] = [];
  #chunkOf = new NumberColumn();
  #lineOf = new NumberColumn();
  #additions = 0;
  #load: (() => StoredDetails | null) | null = null;
  /** Kept details that are not loaded yet hold for this many records. */
  #loadable = 0;

  /** Kept details. @param count the records that they are of */
  static later(load: () => StoredDetails | null, count: number): PackedDetails {
    const details = new PackedDetails();
    details.#load = load;
    details.#loadable = count;
    return details;
  }

  /** How often some were added. */
  get additions(): number {
    return this.#additions;
  }

  has(record: number): boolean {
    this.#loadKept();
    return !Number.isNaN(this.#chunkOf.at(record));
  }

  /** null if they were not kept, or are too long. */
  at(record: number): RecordDetails | null {
    if (!this.has(record)) return null;
    const { text, ends } = packedLines(this.#chunks[this.#chunkOf.at(record)]);
    const line = this.#lineOf.at(record);
    const end = ends[line];
    return end === undefined ? null : detailsOf(text, line === 0 ? 0 : int32At(ends, line - 1) + 1, end);
  }

  /** @param records of the lines, in order; null for a line that is not needed any more */
  add(records: readonly (number | null)[], packed: Uint8Array): void {
    this.#loadKept();
    this.#additions++;
    const chunk = this.#chunks.push(packed) - 1;
    for (const [line, record] of records.entries()) {
      if (record === null) continue;
      this.#chunkOf.set(record, chunk);
      this.#lineOf.set(record, line);
    }
  }

  truncate(count: number): void {
    this.#loadable = Math.min(this.#loadable, count);
    this.#chunkOf.truncate(count);
    this.#lineOf.truncate(count);
  }

  /** null without details. */
  store(): StoredDetails | null {
    this.#loadKept();
    return this.#chunks.length === 0
      ? null
      : { chunks: [...this.#chunks], chunkOf: this.#chunkOf, lineOf: this.#lineOf };
  }

  #loadKept(): void {
    const load = this.#load;
    if (load === null) return;
    this.#load = null;
    const kept = load();
    if (kept === null) return;
    this.#chunks = [...kept.chunks];
    this.#chunkOf = kept.chunkOf;
    this.#lineOf = kept.lineOf;
    this.#chunkOf.truncate(this.#loadable);
    this.#lineOf.truncate(this.#loadable);
  }
}

/** A text and where each of its lines ends: as many texts of their own would be moved in memory until nobody needs them. */
interface PackedLines {
  text: string;
  ends: Int32Array;
}

const NO_LINES: PackedLines = { text: '', ends: new Int32Array(0) };

/** Lines that were unpacked last, of all files: a sorted list asks for them in any order. */
const unpacked = new LRUCache<Uint8Array, PackedLines>({ maxSize: MOST_UNPACKED });
/** The very last: neighbours mostly lie together. */
let last: Uint8Array | undefined;
let lastLines = NO_LINES;

function packedLines(packed: Uint8Array | undefined): PackedLines {
  if (packed !== last) [last, lastLines] = [packed, packed === undefined ? NO_LINES : unpackedLines(packed)];
  return lastLines;
}

/** Kept bytes that cannot be unpacked hold nothing: their records are read instead. */
function unpackedLines(packed: Uint8Array): PackedLines {
  const known = unpacked.get(packed);
  if (known !== undefined) return known;
  let text = '';
  try {
    text = inflateRawSync(packed, { maxOutputLength: MOST_UNPACKED }).toString('utf8');
  } catch {
    return NO_LINES;
  }
  const ends: number[] = [];
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) ends.push(end);
  ends.push(text.length);
  const lines = { text, ends: new Int32Array(ends) };
  unpacked.set(packed, lines, { size: text.length + 1 });
  return lines;
}
