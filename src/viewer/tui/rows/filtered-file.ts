import type { DumpFile } from '../../../core/dump/dump-file.ts';
import type { LineIndex } from '../../../core/dump/line-index.ts';
import type { RecordList } from './record-list.ts';

/** The records of one file that are in the list, as far as it was examined. */
export interface FilteredFile {
  file: DumpFile;
  index: LineIndex;
  bytes: number;
  /** The next record to examine, and how many are decided. */
  next: number;
  looked: number;
  records: RecordList;
}
