import type { ColumnChunk, Encoding } from 'hyparquet';
import { ByteWriter } from 'hyparquet-writer';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js';
import { writePlain } from 'hyparquet-writer/src/plain.js';
import { itemAt } from '../../../core/lists/at.ts';

export type ColumnCell = number | string | boolean | null;

/** Cells that repeat: a number for each row, and the cell of a number. Equal numbers have equal cells. */
export interface KeyedColumn {
  name: string;
  type: 'DOUBLE' | 'INT32' | 'STRING' | 'BOOLEAN';
  keys: Float64Array | Int32Array | Uint32Array;
  cellOf(key: number): ColumnCell;
}

/** The pages of some rows of a column: a dictionary if values repeat, and one page of data. */
interface Pages {
  bytes: Uint8Array;
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

  write(column: KeyedColumn): ColumnChunk {
    const { name, type, keys, cellOf } = column;
    const known = this.#known.get(cellOf);
    const pages = known?.keys === keys ? known.pages : pagesOf(column, this.#from, this.#to);
    this.#known.set(cellOf, { keys, pages });
    const { bytes, dictionary, encoding } = pages;
    const start = this.#writer.offset;
    this.#writer.appendBytes(bytes);
    return {
      meta_data: {
        type: PHYSICAL[type],
        encodings: dictionary > 0 ? ['PLAIN', encoding] : [encoding],
        path_in_schema: [name],
        codec: 'UNCOMPRESSED',
        num_values: BigInt(this.#to - this.#from),
        total_compressed_size: BigInt(bytes.length),
        total_uncompressed_size: BigInt(bytes.length),
        data_page_offset: BigInt(start + dictionary),
        ...(dictionary > 0 && { dictionary_page_offset: BigInt(start) }),
      },
      file_offset: BigInt(start),
    };
  }
}

function pagesOf({ type, keys, cellOf }: KeyedColumn, from: number, to: number): Pages {
  const { codes, cells, known } = codesOf(keys, cellOf, from, to);
  const out = new ByteWriter(1024);
  const page = new ByteWriter(1024);
  let encoding: Encoding = 'PLAIN';
  let dictionary = 0;
  if (type === 'BOOLEAN' && known > 0) {
    encoding = 'RLE';
    const bits = new ByteWriter(64);
    writeRleBitPackedHybrid(
      bits,
      Int32Array.from(ofKnown(codes, known), (code) => Number(cells[code])),
      1,
    );
    page.appendUint32(bits.offset);
    page.appendBytes(bits.getBytes());
  } else if (known > 0 && cells.length * USES > known) {
    writePlain(
      page,
      Array.from(ofKnown(codes, known), (code) => itemAt(cells, code)),
      PHYSICAL[type],
      undefined,
    );
  } else if (known > 0) {
    encoding = 'RLE_DICTIONARY';
    const values = new ByteWriter(1024);
    writePlain(values, cells, PHYSICAL[type], undefined);
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
  const levels = new ByteWriter(64);
  writeRleBitPackedHybrid(
    levels,
    codes.map((code) => (code < 0 ? 0 : 1)),
    1,
  );
  writePageHeader(out, {
    type: 'DATA_PAGE_V2',
    uncompressed_page_size: levels.offset + page.offset,
    compressed_page_size: levels.offset + page.offset,
    data_page_header_v2: {
      num_values: codes.length,
      num_nulls: codes.length - known,
      num_rows: codes.length,
      encoding,
      definition_levels_byte_length: levels.offset,
      repetition_levels_byte_length: 0,
      is_compressed: false,
    },
  });
  out.appendBytes(levels.getBytes());
  out.appendBytes(page.getBytes());
  return { bytes: out.getBytes(), dictionary, encoding };
}

const ofKnown = (codes: Int32Array, known: number): Int32Array =>
  known === codes.length ? codes : codes.filter((code) => code >= 0);

/** Codes of small whole numbers are looked up in a list: most keys are small, and a map takes five times as long. */
const SMALL = 1024;
const UNSEEN = -2;
const UNKNOWN = -1;

/** For each row the place of its cell among those that differ, -1 if it is unknown. */
function codesOf(
  keys: KeyedColumn['keys'],
  cellOf: KeyedColumn['cellOf'],
  from: number,
  to: number,
): { codes: Int32Array; cells: (number | string | boolean)[]; known: number } {
  const codes = new Int32Array(to - from);
  const cells: (number | string | boolean)[] = [];
  const small = new Int32Array(SMALL).fill(UNSEEN);
  const others = new Map<number, number>();
  let known = 0;
  const codeOf = (key: number): number => {
    const cell = cellOf(key);
    return cell === null ? UNKNOWN : cells.push(cell) - 1;
  };
  let negativeZero = UNSEEN;
  for (let at = 0; at < codes.length; at++) {
    const key = keys[from + at] ?? Number.NaN;
    let code: number;
    if (key >= 0 && key < SMALL && (key | 0) === key && !Object.is(key, -0)) {
      code = small[key] ?? UNSEEN;
      if (code === UNSEEN) {
        code = codeOf(key);
        small[key] = code;
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
  return { codes, cells, known };
}
