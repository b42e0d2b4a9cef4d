import type { SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { ExportRow, ParquetColumn } from '../format.ts';
import { ColumnChunks, type KeyedColumn, type PlainColumn } from './column-chunk.ts';
import type { RowFile } from './row-file.ts';
import { WholeFile } from './whole-file.ts';

/** Rows encoded at a time; bounds the memory. */
const ROW_GROUP = 1000;

/** Parquet by hyparquet-writer, a row group at a time. */
export class ParquetFile extends WholeFile implements RowFile {
  readonly #bytes = new ByteWriter();
  readonly #writer: ParquetWriter;
  readonly #columns: readonly ParquetColumn[];
  #rows: ExportRow[] = [];

  constructor(path: string, columns: readonly ParquetColumn[]) {
    super(path);
    this.#columns = columns;
    this.#writer = new ParquetWriter({ writer: this.#bytes, schema: schemaOf(columns), createdBy: 'rollout-viewer' });
  }

  add(row: ExportRow): void {
    this.#rows.push(row);
    if (this.#rows.length >= ROW_GROUP) this.#group();
  }

  #group(): void {
    if (this.#rows.length > 0) {
      const columnData = this.#columns.map(({ name }) => ({ name, data: this.#rows.map((row) => row[name] ?? null) }));
      void this.#writer.write({ columnData, rowGroupSize: ROW_GROUP });
      this.#rows = [];
    }
    this.#flush();
  }

  /** The writer counts the offsets that the footer needs, so its buffer may be emptied. */
  #flush(): void {
    const { index } = this.#bytes;
    if (index === 0) return;
    this.write(Buffer.from(new Uint8Array(this.#bytes.buffer, 0, index)));
    this.#bytes.index = 0;
  }

  override async finish(): Promise<void> {
    this.#group();
    await this.#writer.finish();
    this.#flush();
    super.finish();
  }
}

function schemaOf(columns: readonly ParquetColumn[]): SchemaElement[] {
  return [
    { name: 'root', num_children: columns.length },
    ...columns.flatMap(({ name, type, keys = [] }): SchemaElement[] => {
      if (type === 'number') return [{ name, type: 'DOUBLE', repetition_type: 'OPTIONAL' }];
      if (type === 'struct')
        return [{ name, num_children: keys.length, repetition_type: 'OPTIONAL' }, ...keys.map(textElement)];
      if (type === 'messages')
        return [
          { name, num_children: 1, converted_type: 'LIST', repetition_type: 'OPTIONAL' },
          { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
          { name: 'element', num_children: 2, repetition_type: 'OPTIONAL' },
          textElement('role'),
          textElement('content'),
        ];
      return [textElement(name)];
    }),
  ];
}

/** A column of a table that is known by its columns. */
export type WrittenColumn = KeyedColumn | PlainColumn;

/** Rows of columns encoded at a time: longer lists leave the part of memory that is freed at little cost. */
const COLUMN_ROWS = 10_000;
const ROOT: SchemaElement = { name: 'root' };

/** Writes a table by its columns: whole or not at all. @throws the system's error */
export async function writeColumns(path: string, columns: readonly WrittenColumn[], rows: number): Promise<void> {
  const file = new WholeFile(path);
  try {
    const bytes = new ByteWriter();
    const schema: SchemaElement[] = [{ ...ROOT, num_children: columns.length }, ...columns.map(cellElement)];
    const writer = new ParquetWriter({ writer: bytes, schema, createdBy: 'rollout-viewer' });
    const flush = (): void => {
      file.write(Buffer.from(new Uint8Array(bytes.buffer, 0, bytes.index)));
      bytes.index = 0;
    };
    for (let from = 0; from < rows; from += COLUMN_ROWS) {
      const to = Math.min(rows, from + COLUMN_ROWS);
      const chunks = new ColumnChunks(bytes, from, to);
      const start = bytes.offset;
      const group = columns.map((column) => chunks.write(column));
      const sizeOf = group.reduce((sum, { meta_data }) => sum + (meta_data?.total_uncompressed_size ?? 0n), 0n);
      const num_rows = BigInt(to - from);
      const total_compressed_size = BigInt(bytes.offset - start);
      writer.row_groups.push({ columns: group, total_byte_size: sizeOf, num_rows, total_compressed_size });
      writer.num_rows += num_rows;
      flush();
    }
    await writer.finish();
    flush();
    file.finish();
    file.publish();
  } catch (error) {
    file.discard();
    throw error;
  }
}

const cellElement = ({ name, type }: Pick<KeyedColumn, 'name' | 'type'>): SchemaElement =>
  type === 'STRING' ? textElement(name) : { name, type, repetition_type: 'OPTIONAL' };

const textElement = (name: string): SchemaElement => ({
  name,
  type: 'BYTE_ARRAY',
  converted_type: 'UTF8',
  repetition_type: 'OPTIONAL',
});
