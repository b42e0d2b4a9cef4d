import { closeSync, openSync } from 'node:fs';
import type { ReadContext } from '../../formats/format.ts';
import { addNameless } from '../nameless-file.ts';
import { HEAD_BYTES } from './kind.ts';
import { sessionOfRows } from './sessions.ts';
import { unzstd } from './zstd.ts';

/**
 * Writes the beginning of a copy that a thread will write whole: the thread takes longer to start than the first records to unpack. It
 * writes the same bytes again.
 * @param unpacks with its bytes, unpacked; otherwise rows of parquet
 * @returns false if there is nothing to read yet
 */
export async function writeFirstRecords(
  copy: string,
  path: string,
  context: ReadContext,
  unpacks: boolean,
): Promise<boolean> {
  const fd = openSync(copy, 'r+');
  try {
    if (unpacks) {
      let bytes = 0;
      for await (const chunk of unzstd(path)) {
        addNameless(fd, chunk);
        bytes += chunk.length;
        if (bytes >= HEAD_BYTES) return true;
      }
      return false;
    }
    const { parquetRows } = await import('./parquet.ts');
    for await (const block of parquetRows(path)) {
      // Events become records once all of them are read.
      if (sessionOfRows(block, context) !== null) return false;
      addNameless(fd, Buffer.concat([Buffer.from(block.text), NEWLINE]));
      return true;
    }
    return false;
  } catch {
    // The thread says why.
    return false;
  } finally {
    closeSync(fd);
  }
}

const NEWLINE = Buffer.from('\n');
