import type { DumpFile } from './dump-file.ts';

/** The limits of one request to a thread, so that a row that becomes visible waits less than a tenth of a second. */
export const BATCH_RECORDS = 256;
const BATCH_BYTES = 2 << 20;

/** As many of these records as one request takes. */
export function batchOf(file: DumpFile, wanted: Iterable<number>): number[] {
  const records: number[] = [];
  let bytes = 0;
  for (const record of wanted) {
    records.push(record);
    bytes += file.index.length(record);
    if (records.length === BATCH_RECORDS || bytes >= BATCH_BYTES) break;
  }
  return records;
}

export function* recordsFrom(file: DumpFile, from: number): Generator<number> {
  for (let record = from; record < file.count; record++) yield record;
}
