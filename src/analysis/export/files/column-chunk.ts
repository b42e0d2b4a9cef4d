import type { ColumnChunk, CompressionCodec, Encoding } from 'hyparquet';
import { ByteWriter } from 'hyparquet-writer';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js';
import { writePlain } from 'hyparquet-writer/src/plain.js';
import { snappyCompress } from 'hyparquet-writer/src/snappy.js';
import { int32At, itemAt } from '../../../core/lists/at.ts';

type KnownCell = number | string | boolean;
type ColumnCell = KnownCell | null;

/** Cells that repeat: a number for each row, and the cell of a number. Equal numbers have equal cells. */
export interface KeyedColumn {
  name: string;
  type: 'DOUBLE' | 'INT32' | 'STRING' | 'BOOLEAN';
  keys: Float64Array | Int32Array | Uint32Array;
  cellOf(key: number): ColumnCell;
}

/** A column whose cells differ from row to row. */
export type PlainColumn = Pick<KeyedColumn, 'name' | 'type'> & { at(row: number): ColumnCell };

/** The pages of some rows of a column: a dictionary if values repeat, and one page of data. */
interface Pages {
  bytes: Uint8Array;
  /** Bytes before they were compressed. */
  size: number;
  /** Bytes of the dictionary; 0 without one. */
  dictionary: number;
  encoding: Encoding;
}

const PHYSICAL = { DOUBLE: 'DOUBLE', INT32: 'INT32', STRING: 'BYTE_ARRAY', BOOLEAN: 'BOOLEAN' } as const;

/** A dictionary pays if its values are used twice, on average. */
const USES = 2;

/** Writes the column chunks of a row group. Columns with the same cells are encoded once. */
export class ColumnChunks {
  readonly #writer: ByteWriter;
  readonly #from: number;
  readonly #to: number;
  readonly #known = new Map<KeyedColumn['cellOf'], { keys: KeyedColumn['keys']; pages: Pages }>();

  constructor(writer: ByteWriter, from: number, to: number) {
    this.#writer = writer;
    this.#from = from;
    this.#to = to;
  }

  write(column: KeyedColumn | PlainColumn): ColumnChunk {
    if ('at' in column) return this.#chunk(column, plainPages(column, this.#from, this.#to), 'SNAPPY');
    const { keys, cellOf } = column;
    const known = this.#known.get(cellOf);
    const pages = known?.keys === keys ? known.pages : pagesOf(column, this.#from, this.#to);
    this.#known.set(cellOf, { keys, pages });
    return this.#chunk(column, pages, 'UNCOMPRESSED');
  }

  #chunk({ name, type }: PlainColumn | KeyedColumn, pages: Pages, codec: CompressionCodec): ColumnChunk {
    const { bytes, size, dictionary, encoding } = pages;
    const start = this.#writer.offset;
    this.#writer.appendBytes(bytes);
    return {
      meta_data: {
        type: PHYSICAL[type],
        encodings: dictionary > 0 ? ['PLAIN', encoding] : [encoding],
        path_in_schema: [name],
        codec,
        num_values: BigInt(this.#to - this.#from),
        total_compressed_size: BigInt(bytes.length),
        total_uncompressed_size: BigInt(size),
        data_page_offset: BigInt(start + dictionary),
        ...(dictionary > 0 && { dictionary_page_offset: BigInt(start) }),
      },
      file_offset: BigInt(start),
    };
  }
}

/** Compressed: the names of neighbours begin alike. */
function plainPages({ type, at }: PlainColumn, from: number, to: number): Pages {
  const page = new ByteWriter();
  const levels = new Uint8Array(to - from);
  const cells: KnownCell[] = [];
  for (let row = from; row < to; row++) {
    const cell = at(row);
    if (cell === null) continue;
    levels[row - from] = 1;
    cells.push(cell);
  }
  writeCells(page, cells, type);
  const out = new ByteWriter();
  const bytes = snappyCompress(page.getBytes());
  writeDataPage(out, levels, cells.length, 'PLAIN', bytes, page.offset);
  return { bytes: out.getBytes(), size: out.offset - bytes.length + page.offset, dictionary: 0, encoding: 'PLAIN' };
}

function pagesOf({ type, keys, cellOf }: KeyedColumn, from: number, to: number): Pages {
  const { codes, cells, known } = codesOf(keys, cellOf, from, to);
  const out = new ByteWriter();
  const page = new ByteWriter();
  let encoding: Encoding = 'PLAIN';
  let dictionary = 0;
  if (type === 'BOOLEAN' && known > 0) {
    encoding = 'RLE';
    const bits = new ByteWriter();
    writeRleBitPackedHybrid(
      bits,
      ofKnown(codes, known).map((code) => Number(cells[code])),
      1,
    );
    page.appendUint32(bits.offset);
    page.appendBytes(bits.getBytes());
  } else if (known > 0 && cells.length * USES > known) {
    const plain: KnownCell[] = [];
    for (const code of codes) if (code >= 0) plain.push(itemAt(cells, code));
    writeCells(page, plain, type);
  } else if (known > 0) {
    encoding = 'RLE_DICTIONARY';
    const values = new ByteWriter();
    writeCells(values, cells, type);
    writePageHeader(out, {
      type: 'DICTIONARY_PAGE',
      uncompressed_page_size: values.offset,
      compressed_page_size: values.offset,
      dictionary_page_header: { num_values: cells.length, encoding: 'PLAIN' },
    });
    out.appendBytes(values.getBytes());
    dictionary = out.offset;
    const width = Math.ceil(Math.log2(cells.length));
    page.appendUint8(width);
    writeRleBitPackedHybrid(page, ofKnown(codes, known), width);
  }
  const levels = new Uint8Array(codes.length);
  if (known === codes.length) levels.fill(1);
  else if (known > 0) for (let at = 0; at < codes.length; at++) if (int32At(codes, at) >= 0) levels[at] = 1;
  writeDataPage(out, levels, known, encoding, page.getBytes(), null);
  return { bytes: out.getBytes(), size: out.offset, dictionary, encoding };
}

/** @param levels 1 for each row with a cell @param size of the bytes before they were compressed; null if they are not */
function writeDataPage(
  out: ByteWriter,
  levels: Uint8Array,
  known: number,
  encoding: Encoding,
  bytes: Uint8Array,
  size: number | null,
): void {
  const levelBytes = new ByteWriter();
  writeRleBitPackedHybrid(levelBytes, levels, 1);
  writePageHeader(out, {
    type: 'DATA_PAGE_V2',
    uncompressed_page_size: levelBytes.offset + (size ?? bytes.length),
    compressed_page_size: levelBytes.offset + bytes.length,
    data_page_header_v2: {
      num_values: levels.length,
      num_nulls: levels.length - known,
      num_rows: levels.length,
      encoding,
      definition_levels_byte_length: levelBytes.offset,
      repetition_levels_byte_length: 0,
      is_compressed: size !== null,
    },
  });
  out.appendBytes(levelBytes.getBytes());
  out.appendBytes(bytes);
}

const ofKnown = (codes: Int32Array, known: number): Int32Array =>
  known === codes.length ? codes : codes.filter((code) => code >= 0);

function writeCells(
  writer: ByteWriter,
  cells: readonly (number | string | boolean)[],
  type: KeyedColumn['type'],
): void {
  if (type !== 'STRING') {
    writePlain(writer, [...cells], PHYSICAL[type], undefined);
    return;
  }
  for (const cell of cells) writeText(writer, String(cell));
}

/** The first unit that takes more than one byte. */
const FIRST_WIDE = 0x80;
const LENGTH_BYTES = 4;

/** A text with its length before it. Most are short, and a loop encodes those several times as fast as the system. */
function writeText(writer: ByteWriter, text: string): void {
  const { length } = text;
  writer.ensure(LENGTH_BYTES + length);
  const { view, index } = writer;
  let at = index + LENGTH_BYTES;
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= FIRST_WIDE) {
      const bytes = Buffer.from(text);
      writer.appendUint32(bytes.length);
      writer.appendBytes(bytes);
      return;
    }
    view.setUint8(at++, unit);
  }
  view.setUint32(index, length, true);
  writer.index = at;
  writer.offset += at - index;
}

/** Codes of small whole numbers are looked up in a list: most keys are small, and a map takes five times as long. */
const SMALL = 1 << 16;
const UNSEEN = -2;
const UNKNOWN = -1;
/** Codes of the small numbers of the column under way; all unseen in between. */
const small = new Int32Array(SMALL).fill(UNSEEN);

/** For each row the place of its cell among those that differ, -1 if it is unknown. */
function codesOf(
  keys: KeyedColumn['keys'],
  cellOf: KeyedColumn['cellOf'],
  from: number,
  to: number,
): { codes: Int32Array; cells: KnownCell[]; known: number } {
  const codes = new Int32Array(to - from);
  const cells: KnownCell[] = [];
  const codeOf = (key: number): number => {
    const cell = cellOf(key);
    return cell === null ? UNKNOWN : cells.push(cell) - 1;
  };
  if (haveOneKey(keys, from, to)) {
    codes.fill(codeOf(keys[from] ?? Number.NaN));
    return { codes, cells, known: cells.length * codes.length };
  }
  const seen: number[] = [];
  const others = new Map<number, number>();
  let known = 0;
  let negativeZero = UNSEEN;
  for (let at = 0; at < codes.length; at++) {
    const key = keys[from + at] ?? Number.NaN;
    let code: number;
    if (key >= 0 && key < SMALL && (key | 0) === key && !Object.is(key, -0)) {
      code = small[key] ?? UNSEEN;
      if (code === UNSEEN) {
        code = codeOf(key);
        small[key] = code;
        seen.push(key);
      }
    } else if (key === 0) {
      // Maps take both zeros for one.
      if (negativeZero === UNSEEN) negativeZero = codeOf(key);
      code = negativeZero;
    } else {
      code = others.get(key) ?? UNSEEN;
      if (code === UNSEEN) {
        code = codeOf(key);
        others.set(key, code);
      }
    }
    codes[at] = code;
    if (code >= 0) known++;
  }
  for (const key of seen) small[key] = UNSEEN;
  return { codes, cells, known };
}

/** Whether all rows from `from` up to `to` have the same key. */
export function haveOneKey(keys: KeyedColumn['keys'], from: number, to: number): boolean {
  const first = keys[from];
  for (let row = from + 1; row < to; row++) if (!Object.is(keys[row], first)) return false;
  return to > from;
}
