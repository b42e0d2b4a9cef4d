// A footer only claims the size of a row group: reading takes no more memory or disk for it than there are bytes.
import { mkdtempSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetMetadata } from 'hyparquet';
import type { FileMetaData } from 'hyparquet/src/types.js';
import { ByteWriter, parquetWriteBuffer } from 'hyparquet-writer';
import { writeMetadata } from 'hyparquet-writer/src/metadata.js';
import { expect, test } from 'vitest';
import { Dump } from '../../../src/core/dump/dump.ts';
import { peakFromNow } from '../../support/peak-memory.ts';

const ROWS = 20;
const folder = mkdtempSync(join(tmpdir(), 'rollout-viewer-claims-'));

/** A file whose footer says something else. @param hole bytes between the pages and the footer, which take no room on the disk */
function claiming(change: (metadata: FileMetaData, end: number) => void, hole = 0): string {
  const rows = Array.from({ length: ROWS }, (_, at) => at);
  const plain = parquetWriteBuffer({
    columnData: [
      { name: 'input', data: rows.map(() => 'hi'), type: 'STRING' },
      { name: 'output', data: rows.map((at) => `answer ${at}`), type: 'STRING' },
      { name: 'score', data: rows.map((at) => at / 2), type: 'DOUBLE' },
    ],
  });
  const metadata = parquetMetadata(plain);
  const end = plain.byteLength - 8 - new DataView(plain).getUint32(plain.byteLength - 8, true);
  change(metadata, end);
  const writer = new ByteWriter();
  writeMetadata(writer, metadata);
  const path = join(folder, 'claims.parquet');
  writeFileSync(path, Buffer.from(plain, 0, end));
  truncateSync(path, end + hole);
  writeFileSync(path, Buffer.concat([writer.getBytes(), Buffer.from('PAR1')]), { flag: 'a' });
  return path;
}

const GROUP = 4n << 30n;

test.each([
  [
    'rows',
    (metadata: FileMetaData) => {
      metadata.num_rows = GROUP;
      for (const group of metadata.row_groups) group.num_rows = GROUP;
    },
    0,
    /only the first 20 rows can be decoded \(its pages hold fewer rows than its footer says\)/,
  ],
  [
    'bytes, unpacked',
    (metadata: FileMetaData) => {
      for (const { meta_data } of metadata.row_groups.flatMap(({ columns }) => columns))
        if (meta_data !== undefined) meta_data.total_uncompressed_size = GROUP;
    },
    0,
    null,
  ],
  [
    'bytes',
    (metadata: FileMetaData) => {
      for (const { meta_data } of metadata.row_groups.flatMap(({ columns }) => columns))
        if (meta_data !== undefined) meta_data.total_compressed_size = GROUP;
    },
    0,
    null,
  ],
  [
    'bytes, and has them',
    (metadata: FileMetaData, end: number) => {
      for (const { meta_data } of metadata.row_groups.flatMap(({ columns }) => columns)) {
        if (meta_data === undefined) continue;
        meta_data.data_page_offset = BigInt(end);
        delete meta_data.dictionary_page_offset;
        meta_data.total_compressed_size = GROUP;
        meta_data.total_uncompressed_size = GROUP;
      }
    },
    Number(GROUP),
    /no row can be decoded \(column input takes more than 512 MB in one row group, and its pages cannot be read one by one\)/,
  ],
])('a footer that claims a row group of 4 GB: %s', async (_, change, hole, says) => {
  const path = claiming(change, hole);
  const taken = peakFromNow();
  const dump = Dump.open([path]);
  const [file] = dump.files;
  await file?.buildIndex(() => true);
  expect(taken()).toBeLessThan(300);
  if (says === null) expect([file?.error, file?.count]).toEqual([null, ROWS]);
  else expect(file?.error).toMatch(says);
  dump.close();
});
