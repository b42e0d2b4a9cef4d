import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { printJson } from '../../json/print.ts';
import { objectIn } from '../../json/value.ts';
import { jsonOf } from './foreign-values.ts';
import type { CopyLine } from './lines-in.ts';

/** Rows that are read before all others: the first rollout is needed at once. */
const FIRST_ROWS = 16;
const MOST_ROWS = 2000;

/**
 * The rows of a parquet file, some hundred at a time. A column's values are in the pages of their row group. Reading
 * rows in order touches each page only a few times, so the file is copied once instead of being searched for each row.
 */
export async function* parquetRows(path: string): AsyncGenerator<CopyLine> {
  const fd = openSync(path, 'r');
  try {
    const { size } = fstatSync(fd);
    const file = {
      byteLength: size,
      slice(start: number, end = size): ArrayBuffer {
        const from = start < 0 ? size + start : start;
        const buffer = new ArrayBuffer(Math.max(0, Math.min(end, size) - from));
        readSync(fd, new Uint8Array(buffer), 0, buffer.byteLength, from);
        return buffer;
      },
    };
    const metadata = await settled(() => parquetMetadataAsync(file));
    let row = 0;
    for (const group of metadata.row_groups) {
      const end = row + Number(group.num_rows);
      // A large group is decoded in few passes, because each pass starts again at the group's first page.
      const step = Math.max(MOST_ROWS, Math.ceil(Number(group.num_rows) / 8));
      while (row < end) {
        const rowEnd = Math.min(end, row + (row === 0 ? FIRST_ROWS : step));
        const rows = await settled(() => parquetReadObjects({ file, metadata, compressors, rowStart: row, rowEnd }));
        for (const one of rows) yield { text: printJson(objectIn(jsonOf(one))) };
        row = rowEnd;
      }
    }
  } finally {
    closeSync(fd);
  }
}

/**
 * In a damaged file several columns fail, but the reader reports only the first. The other rejections, which nobody
 * awaits, would end the process.
 */
async function settled<T>(read: () => Promise<T>): Promise<T> {
  const ignore = () => undefined;
  process.on('unhandledRejection', ignore);
  try {
    return await read();
  } finally {
    await setImmediate();
    process.off('unhandledRejection', ignore);
  }
}
