import { setImmediate } from 'node:timers/promises';
import type { RowGroup } from 'hyparquet/src/types.js';
import { compressors } from 'hyparquet-compressors';
import { printJson } from '../../json/print.ts';
import { plural } from '../../text/numbers.ts';
import { errorMessage } from '../../text/thrown.ts';
import { type NeedBytes, openBytes, UnreadBytes } from './file-bytes.ts';
import { jsonOf } from './foreign-values.ts';
import type { CopyLine } from './lines-in.ts';
import { GroupPages } from './parquet-pages.ts';
import {
  assembleAsync,
  asyncGroupToRows,
  parquetMetadataAsync,
  parquetPlanGroup,
  parquetSchema,
  readRowGroup,
} from './parquet-parts.ts';

/** Rows that are read before all others: the first rollout is needed at once. */
const FIRST_ROWS = 16;
/** Rows of a pass at least, and passes of a group at most, if its pages are not known. */
const LEAST_ROWS = 2000;
const MOST_PASSES = 8;
/** A group of more bytes is read by its pages: whole, it would take several times its size in memory. */
const LARGE_GROUP = 64 << 20;
/** Bytes of the rows that are decoded at once, unpacked. */
const WINDOW = 16 << 20;
/** Bytes at the end of a file that is elsewhere: enough for the footers of most. */
const FOOTER = 1 << 16;

/**
 * The rows of a parquet file, some hundred at a time. A column's values are in the pages of their row group. Reading
 * rows in order touches each page only a few times, so the file is copied once instead of being searched for each row.
 * @param need null for a file that is here; otherwise the footer and the pages of the first rows are asked for first
 */
export async function* parquetRows(path: string, need: NeedBytes | null = null): AsyncGenerator<CopyLine> {
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
    const names = new Map<string, string>();
    for (const rowGroup of metadata.row_groups) {
      const groupRows = Number(rowGroup.num_rows);
      const pages = need !== null || bytesOf(rowGroup) > LARGE_GROUP ? new GroupPages(file, rowGroup, schema) : null;
      for (let from = 0; from < groupRows; first = 0) {
        const step = pages?.areKnown === true ? rowsAtOnce(rowGroup) : Math.max(LEAST_ROWS, rowsInPass(rowGroup));
        const to = Math.min(groupRows, from + (first || step));
        const rows = await settled(async () => {
          const pageLocations = await pages?.upTo(to);
          const { groups } = parquetPlanGroup({
            rowGroup,
            groupStart: 0,
            groupRows,
            ranges: [[from, to]],
            ...(pageLocations !== undefined && { pageLocations }),
          });
          const plan = { metadata, rowStart: from, rowEnd: to, fetches: [], groups };
          const read = groups.map((group) =>
            assembleAsync(readRowGroup({ file, metadata, compressors }, plan, group), schema),
          );
          await Promise.allSettled(read.flatMap(({ asyncColumns }) => asyncColumns.map(({ data }) => data)));
          const [group] = read;
          return group === undefined ? [] : await asyncGroupToRows(group, from, to, undefined, 'object');
        }, undecoded(count));
        for (const one of rows) yield { text: rowText(one, names) };
        count += to - from;
        from = to;
      }
    }
    // The other bytes describe the columns; with them the copy is whole.
    await need?.(0, file.byteLength);
  } finally {
    file.close();
  }
}

/**
 * A decoded row in JSON, as `printJson` prints what `jsonOf` makes of it, without an object of the values.
 * @param names of columns in JSON, which recur in each row
 */
export function rowText(row: Readonly<Record<string, unknown>>, names = new Map<string, string>()): string {
  let text = '';
  for (const key of Object.keys(row)) {
    let name = names.get(key);
    if (name === undefined) {
      name = `${printJson(key)}:`;
      names.set(key, name);
    }
    text += `${text === '' ? '{' : ','}${name}${printJson(jsonOf(row[key]))}`;
  }
  return text === '' ? '{}' : `${text}}`;
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
