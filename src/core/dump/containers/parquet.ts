import { setImmediate } from 'node:timers/promises';
import type { AsyncRowGroup, FileMetaData, PageLocation, RowGroup, SchemaTree } from 'hyparquet/src/types.js';
import { compressors } from 'hyparquet-compressors';
import { plural } from '../../text/numbers.ts';
import { errorMessage } from '../../text/thrown.ts';
import { type FileBytes, type NeedBytes, openBytes, UnreadBytes } from './file-bytes.ts';
import { LARGEST_RECORD } from './limits.ts';
import type { CopyLine } from './lines-in.ts';
import { asBytes, type Cells, isTextColumn, linesOfCells, rowCells } from './parquet-lines.ts';
import { GroupPages } from './parquet-pages.ts';
import { assembleAsync, parquetMetadataAsync, parquetPlanGroup, parquetSchema, readRowGroup } from './parquet-parts.ts';

/** Rows that are read before all others: the first rollout is needed at once. */
const FIRST_ROWS = 16;
/** Rows of a pass at least, and passes of a group at most, if its pages are not known. */
const LEAST_ROWS = 2000;
const MOST_PASSES = 8;
/** A group of more bytes is read by its pages: whole, it would take several times its size in memory. */
const LARGE_GROUP = 64 << 20;
/** Bytes of the rows that are decoded at once, unpacked. */
const WINDOW = 16 << 20;
/** Lines that stand for rows at once. */
const MOST_UNREAD = 1 << 19;
/** Bytes at the end of a file that is elsewhere: enough for the footers of most. */
const FOOTER = 1 << 16;

/**
 * The rows of a parquet file, some hundred at a time. A column's values are in the pages of their row group. Reading
 * rows in order touches each page only a few times, so the file is copied once instead of being searched for each row.
 * @param need null for a file that is here; otherwise the footer and the pages of the first rows are asked for first
 * @param nearest asked after the first rows, which tell what kind of rows they are: those before this line are not read, and a line
 * without a record stands for each
 */
export async function* parquetRows(
  path: string,
  need: NeedBytes | null = null,
  nearest: () => number = () => 1,
): AsyncGenerator<CopyLine> {
  const file = openBytes(path, need);
  let count = 0;
  try {
    const { metadata, schema } = await settled(
      async () => {
        const metadata = await parquetMetadataAsync(file, need === null ? {} : { initialFetchSize: FOOTER });
        return { metadata, schema: parquetSchema(metadata) };
      },
      (why) =>
        `its footer cannot be read (${why}): it is still being written, cut off or damaged; copy or write it again`,
    );
    let first = FIRST_ROWS;
    for (const rowGroup of metadata.row_groups) {
      const groupRows = Number(rowGroup.num_rows);
      const pages = need !== null || bytesOf(rowGroup) > LARGE_GROUP ? new GroupPages(file, rowGroup, schema) : null;
      for (let from = 0; from < groupRows; first = 0) {
        const unread = count < FIRST_ROWS ? 0 : Math.min(groupRows - from, nearest() - 1 - count, MOST_UNREAD);
        if (unread > 0) {
          yield { text: Array(unread).fill('0').join('\n'), lines: unread };
          from += unread;
          count += unread;
          if (from < groupRows) await pages?.takeLists();
          continue;
        }
        const step = pages?.areKnown === true ? rowsAtOnce(rowGroup) : Math.max(LEAST_ROWS, rowsInPass(rowGroup));
        const to = Math.min(groupRows, from + (first || step));
        const cells = await settled(async () => {
          const known = await pages?.upTo(to);
          return cellsIn({ file, metadata, schema }, rowGroup, from, to, known);
        }, undecoded(count));
        let at = from;
        for (const block of linesOfCells(cells, from, to)) {
          // The first rollout is needed at once.
          yield { ...block, isWaited: first > 0 };
          at += block.lines;
        }
        count += at - from;
        if (at < to) throw new Error(undecoded(count)('its pages hold fewer rows than its footer says'));
        from = to;
      }
    }
    // The other bytes describe the columns; with them the copy is whole.
    if (nearest() === 1) await need?.(0, file.byteLength);
  } finally {
    file.close();
  }
}

/** @param pageLocations of the columns whose pages are known; others are read whole @throws Error if one is too long for that */
async function cellsIn(
  { file, metadata, schema }: { file: FileBytes; metadata: FileMetaData; schema: SchemaTree },
  rowGroup: RowGroup,
  from: number,
  to: number,
  pageLocations: Record<string, PageLocation[]> = {},
): Promise<Cells[]> {
  const ranges: [number, number][] = [[from, to]];
  const { groups } = parquetPlanGroup({
    rowGroup,
    groupStart: 0,
    groupRows: Number(rowGroup.num_rows),
    ranges,
    pageLocations,
  });
  const [whole] = groups;
  if (whole === undefined) return [];
  for (const { columnMetadata, range, ...chunk } of whole.chunks)
    if (!('pageLocations' in chunk) && Math.min(file.byteLength, range.endByte) - range.startByte > LARGEST_RECORD)
      throw new Error(
        `column ${columnMetadata.path_in_schema.join('.')} takes more than 512 MB in one row group, and its pages cannot be read one by one`,
      );
  const texts = new Set(schema.children.filter(isTextColumn).map(({ element }) => element.name));
  const read = (areTexts: boolean): AsyncRowGroup => {
    const chunks = whole.chunks.filter(
      ({
        columnMetadata: {
          path_in_schema: [name = ''],
        },
      }) => texts.has(name) === areTexts,
    );
    const options = { file, metadata, compressors, ...(areTexts && { parsers: asBytes }) };
    const plan = { metadata, rowStart: from, rowEnd: to, fetches: [], groups };
    return assembleAsync(readRowGroup(options, plan, { ...whole, chunks }), schema);
  };
  const [own, others] = [read(true), read(false)];
  await Promise.allSettled([own, others].flatMap(({ asyncColumns }) => asyncColumns.map(({ data }) => data)));
  return rowCells(
    own,
    others,
    schema.children.map(({ element }) => element.name),
  );
}

const bytesOf = ({ columns }: RowGroup): number =>
  columns.reduce((sum, { meta_data: column }) => sum + Number(column?.total_uncompressed_size ?? 0), 0);

/** As many rows as take a window, by the average of their group. */
function rowsAtOnce(group: RowGroup): number {
  const rows = Number(group.num_rows);
  const fit = Math.floor((WINDOW / Math.max(1, bytesOf(group))) * rows);
  return Math.max(FIRST_ROWS, Math.min(fit, rows));
}

/** Each pass begins again at the first page of a column that is read whole, so a group that fits into a window has one. */
function rowsInPass(group: RowGroup): number {
  const bytes = bytesOf(group);
  const passes = bytes === 0 ? MOST_PASSES : Math.min(MOST_PASSES, Math.ceil(bytes / WINDOW));
  return Math.ceil(Number(group.num_rows) / passes);
}

const undecoded =
  (count: number) =>
  (why: string): string =>
    `${count === 0 ? 'no row' : `only the first ${plural(count, 'row')}`} can be decoded (${why}): it is damaged; copy or write it again`;

/**
 * In a damaged file several columns fail, but the reader reports only the first. The other rejections, which nobody
 * awaits, would end the process.
 * @param damage a sentence around the reader's words, which speak of its buffers
 */
async function settled<T>(read: () => Promise<T>, damage: (why: string) => string): Promise<T> {
  const ignore = () => undefined;
  process.on('unhandledRejection', ignore);
  try {
    return await read();
  } catch (error) {
    if (error instanceof UnreadBytes) throw error.cause;
    // A slip of the reader's over a damaged value: its words name its variables.
    throw new Error(damage(error instanceof TypeError ? 'a value of another type' : errorMessage(error)));
  } finally {
    await setImmediate();
    process.off('unhandledRejection', ignore);
  }
}
