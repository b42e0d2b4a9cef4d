import type { ColumnChunk, CompressionCodec, Encoding } from 'hyparquet';
import { ByteWriter } from 'hyparquet-writer';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js';
import { writePlain } from 'hyparquet-writer/src/plain.js';
import { snappyCompress } from 'hyparquet-writer/src/snappy.js';
import { int32At, itemAt } from '../../../core/lists/at.ts';
import { type ColumnCell, type ColumnKeys, cellCodes, type KnownCell } from './cell-codes.ts';

/** Cells that repeat: a number for each row, and the cell of a number. Equal numbers have equal cells. */
export interface KeyedColumn {
  name: string;
  type: 'DOUBLE' | 'INT32' | 'STRING' | 'BOOLEAN';
  keys: ColumnKeys;
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
  /** By their cells and keys. */
  readonly #known = new Map<KeyedColumn['cellOf'], Map<KeyedColumn['keys'], Pages>>();

  constructor(writer: ByteWriter, from: number, to: number) {
    this.#writer = writer;
    this.#from = from;
    this.#to = to;
  }

  write(column: KeyedColumn | PlainColumn): ColumnChunk {
    if ('at' in column) return this.#chunk(column, plainPages(column, this.#from, this.#to), 'SNAPPY');
    const { keys, cellOf } = column;
    const known = this.#known.get(cellOf) ?? new Map<KeyedColumn['keys'], Pages>();
    const pages = known.get(keys) ?? pagesOf(column, this.#from, this.#to);
    this.#known.set(cellOf, known.set(keys, pages));
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
  const { codes, cells, known } = cellCodes(keys.subarray(from, to), cellOf);
  const out = new ByteWriter();
  const page = new ByteWriter();
  let encoding: Encoding = 'PLAIN';
  let dictionary = 0;
  if (type === 'BOOLEAN' && known > 0) {
    encoding = 'RLE';
    writeBooleans(page, ofKnown(codes, known), cells);
  } else if (known > 0 && cells.length * USES > known) {
    writeCells(page, knownCells(codes, cells), type);
  } else if (known > 0) {
    encoding = 'RLE_DICTIONARY';
    dictionary = writeDictionary(out, cells, type);
    const width = Math.ceil(Math.log2(cells.length));
    page.appendUint8(width);
    writeRleBitPackedHybrid(page, ofKnown(codes, known), width);
  }
  writeDataPage(out, levelsOf(codes, known), known, encoding, page.getBytes(), null);
  return { bytes: out.getBytes(), size: out.offset, dictionary, encoding };
}

function writeBooleans(page: ByteWriter, codes: Int32Array, cells: readonly KnownCell[]): void {
  const bits = new ByteWriter();
  writeRleBitPackedHybrid(
    bits,
    codes.map((code) => Number(cells[code])),
    1,
  );
  page.appendUint32(bits.offset);
  page.appendBytes(bits.getBytes());
}

/** @returns its bytes */
function writeDictionary(out: ByteWriter, cells: readonly KnownCell[], type: KeyedColumn['type']): number {
  const values = new ByteWriter();
  writeCells(values, cells, type);
  writePageHeader(out, {
    type: 'DICTIONARY_PAGE',
    uncompressed_page_size: values.offset,
    compressed_page_size: values.offset,
    dictionary_page_header: { num_values: cells.length, encoding: 'PLAIN' },
  });
  out.appendBytes(values.getBytes());
  return out.offset;
}

function knownCells(codes: Int32Array, cells: readonly KnownCell[]): KnownCell[] {
  const known: KnownCell[] = [];
  for (const code of codes) if (code >= 0) known.push(itemAt(cells, code));
  return known;
}

/** 1 for each row with a cell. */
function levelsOf(codes: Int32Array, known: number): Uint8Array {
  const levels = new Uint8Array(codes.length);
  if (known === codes.length) levels.fill(1);
  else if (known > 0) for (let at = 0; at < codes.length; at++) if (int32At(codes, at) >= 0) levels[at] = 1;
  return levels;
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

function writeCells(writer: ByteWriter, cells: readonly KnownCell[], type: KeyedColumn['type']): void {
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
