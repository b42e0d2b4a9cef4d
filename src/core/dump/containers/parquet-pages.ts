import type { ColumnMetaData, PageHeader, PageLocation, RowGroup, SchemaTree } from 'hyparquet/src/types.js';
import { compressors } from 'hyparquet-compressors';
import { itemAt } from '../../lists/at.ts';
import type { FileBytes } from './file-bytes.ts';
import { LARGEST_RECORD } from './limits.ts';
import {
  decompressPage,
  getMaxRepetitionLevel,
  getTreePath,
  parquetHeader,
  readOffsetIndex,
  readRleBitPackedHybrid,
} from './parquet-parts.ts';

/** Enough for most headers of pages; those with long statistics take more. */
const HEADER = 4096;
const LARGEST_HEADER = 16 << 20;

/** The beginnings of the pages of a row group's columns, as far as somebody asked: a range of rows needs no others. */
export class GroupPages {
  readonly #columns: ColumnPages[];

  constructor(file: FileBytes, group: RowGroup, schema: SchemaTree) {
    this.#columns = group.columns.flatMap(
      ({ meta_data: column, offset_index_offset: at, offset_index_length: length }) =>
        column === undefined
          ? []
          : [
              new ColumnPages(
                file,
                column,
                getTreePath(schema, column.path_in_schema),
                at === undefined || length === undefined ? null : [Number(at), Number(at) + length],
              ),
            ],
    );
  }

  /** Takes the pages from the list that a writer may leave near the footer: those of earlier rows are not looked at. */
  async takeLists(): Promise<void> {
    await Promise.all(this.#columns.map((column) => column.takeList().catch(() => {})));
  }

  /** The pages of the rows before `row`, by the columns' paths; of a column that is only read whole, none. */
  async upTo(row: number): Promise<Record<string, PageLocation[]>> {
    const found = await Promise.all(
      this.#columns.map(async (column) => [column.name, await column.upTo(row)] as const),
    );
    return Object.fromEntries(found.flatMap(([name, pages]) => (pages === null ? [] : [[name, pages]])));
  }

  /** Every column so far has pages that can be read alone. */
  get areKnown(): boolean {
    return this.#columns.every(({ isKnown }) => isKnown);
  }
}

class ColumnPages {
  readonly name: string;
  isKnown = true;
  readonly #file: FileBytes;
  readonly #column: ColumnMetaData;
  readonly #maxRepetition: number;
  /** The place of the writer's list of pages. */
  readonly #list: readonly [number, number] | null;
  #pages: PageLocation[] = [];
  /** The header of the next page. */
  #at: number;
  readonly #end: number;
  /** Rows that began before it. */
  #rows = 0;

  constructor(file: FileBytes, column: ColumnMetaData, path: SchemaTree[], list: readonly [number, number] | null) {
    this.#list = list;
    this.name = column.path_in_schema.join('.');
    this.#file = file;
    this.#column = column;
    this.#maxRepetition = getMaxRepetitionLevel(path);
    this.#at = Number(column.dictionary_page_offset || column.data_page_offset);
    this.#end = this.#at + Number(column.total_compressed_size);
    if (!(this.#at >= 0 && this.#end <= file.byteLength)) this.isKnown = false;
  }

  /** Not used for lists that go on from page to page: writers disagree on the first row of such a page. */
  async takeList(): Promise<void> {
    if (this.#list === null || this.#maxRepetition > 0 || !this.isKnown) return;
    const [start, end] = this.#list;
    if (!(start >= 0 && start < end && end - start <= LARGEST_HEADER && end <= this.#file.byteLength)) return;
    const view = new DataView(await this.#file.slice(start, end));
    const { page_locations: pages } = readOffsetIndex({ view, offset: 0 });
    let [at, rows] = [this.#at, -1];
    for (const { offset, compressed_page_size: size, first_row_index: first } of pages) {
      if (Number(offset) < at || !(size > 0) || Number(first) <= rows) return;
      at = Number(offset) + size;
      rows = Number(first);
    }
    const isFromFirst = pages[0]?.first_row_index === 0n;
    if (!isFromFirst || at > this.#end) return;
    this.#pages = pages;
    this.#at = this.#end;
  }

  /** The page after those of the rows is the last of the list, without a length: it ends them. */
  async upTo(row: number): Promise<PageLocation[] | null> {
    // A row of lists may go on in the next page, so the first page that begins after it is looked at, too.
    while (this.isKnown && this.#at < this.#end && (this.#maxRepetition === 0 ? this.#rows < row : this.#rows <= row))
      await this.#walk().catch(() => {
        this.isKnown = false;
      });
    if (!this.isKnown || this.#pages.length === 0) return null;
    if (this.#at >= this.#end) return this.#pages;
    const next = { offset: BigInt(this.#at), compressed_page_size: 0, first_row_index: BigInt(this.#rows) };
    return [...this.#pages, next];
  }

  async #walk(): Promise<void> {
    const { header, length } = await this.#header();
    const start = this.#at;
    const body = start + length;
    const end = body + header.compressed_page_size;
    if (!(header.compressed_page_size >= 0 && end <= this.#end)) throw new Error('a page without an end');
    if (header.compressed_page_size > LARGEST_RECORD) throw new Error('a page that is not read');
    if (header.type !== 'DICTIONARY_PAGE') {
      const { begun, continues } = await this.#rowsOf(header, body, end);
      const last = this.#pages.at(-1);
      if (continues || (begun === 0 && last !== undefined)) {
        if (last === undefined) throw new Error('the first page continues a row');
        last.compressed_page_size = end - Number(last.offset);
      } else
        this.#pages.push({
          offset: BigInt(start),
          compressed_page_size: end - start,
          first_row_index: BigInt(this.#rows),
        });
      this.#rows += begun;
    }
    this.#at = end;
  }

  async #header(): Promise<{ header: PageHeader; length: number }> {
    for (let size = HEADER; ; size *= 8) {
      const view = new DataView(await this.#file.slice(this.#at, Math.min(this.#end, this.#at + size)));
      const reader = { view, offset: 0 };
      try {
        return { header: parquetHeader(reader), length: reader.offset };
      } catch (error) {
        if (size >= LARGEST_HEADER || this.#at + size >= this.#end) throw error;
      }
    }
  }

  /** Rows that begin in a page; it may begin with the rest of one from the page before. */
  async #rowsOf(header: PageHeader, body: number, end: number): Promise<{ begun: number; continues: boolean }> {
    const { data_page_header: old, data_page_header_v2: newer } = header;
    if (newer !== undefined) return { begun: newer.num_rows, continues: false };
    if (old === undefined) throw new Error('a page of another kind');
    if (this.#maxRepetition === 0) return { begun: old.num_values, continues: false };
    if (old.num_values > MOST_VALUES) throw new Error('levels that are not read');
    const packed = new Uint8Array(await this.#file.slice(body, end));
    const bytes = decompressPage(packed, header.uncompressed_page_size, this.#column.codec, compressors);
    const levels: number[] = new Array(old.num_values);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    readRleBitPackedHybrid({ view, offset: 0 }, 32 - Math.clz32(this.#maxRepetition), levels);
    let begun = 0;
    for (const level of levels) if (level === 0) begun++;
    return { begun, continues: levels.length > 0 && itemAt(levels, 0) !== 0 };
  }
}

/** Far more than a page holds. */
const MOST_VALUES = 1 << 27;
