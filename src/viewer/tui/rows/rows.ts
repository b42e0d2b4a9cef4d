import type { Place } from '../../../core/dump/dump.ts';
import type { DumpFile } from '../../../core/dump/dump-file.ts';
import { itemAt, numberInAt, uint32At } from '../../../core/lists/at.ts';
import { placesWhile } from '../../../core/lists/places.ts';
import type { Rows } from '../state/rows.ts';

/** The part of a file that is in the list: all its records up to `length`, or the given ones in ascending order. */
export interface FileRows {
  file: DumpFile;
  length: number;
  records: Uint32Array | null;
}

/** All records, file after file. Rebuilt whenever a count has changed, at the cost of one step per file. */
export const allRows = (files: readonly DumpFile[]): Rows =>
  rowsOf(files.map((file) => ({ file, length: file.count, records: null })));

/** Files one after another, at the cost of one step per file. */
export function rowsOf(parts: readonly FileRows[]): Rows {
  const starts: number[] = [];
  const order = new Map<DumpFile, number>();
  let length = 0;
  for (const part of parts) {
    order.set(part.file, starts.length);
    starts.push(length);
    length += part.length;
  }
  return {
    length,
    at(index) {
      if (index < 0 || index >= length) return null;
      let low = 0;
      let high = parts.length - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (numberInAt(starts, middle) <= index) low = middle;
        else high = middle - 1;
      }
      const { file, records } = itemAt(parts, low);
      const at = index - numberInAt(starts, low);
      return { file, record: records === null ? at : uint32At(records, at) };
    },
    indexOf({ file, record }) {
      const number = order.get(file);
      const at = number === undefined ? -1 : positionIn(itemAt(parts, number), record);
      return at < 0 ? -1 : numberInAt(starts, number!) + at;
    },
    near({ file, record }) {
      const number = order.get(file);
      const at = number === undefined ? -1 : nearestIn(itemAt(parts, number), record);
      return at < 0 ? -1 : numberInAt(starts, number!) + at;
    },
  };
}

/** Some records of one file, in the given order. */
export const groupRows = (file: DumpFile, records: readonly number[]): Rows => ({
  length: records.length,
  at: (index) => (records[index] === undefined ? null : { file, record: records[index] }),
  indexOf: (place) => (place.file === file ? records.indexOf(place.record) : -1),
  near: (place) => (place.file === file && records.length > 0 ? Math.max(0, records.indexOf(place.record)) : -1),
});

/** The index of a record among its file's rows; -1 if it is not listed. */
export function positionIn({ records, length }: FileRows, record: number): number {
  if (records === null) return record < length ? record : -1;
  const at = lowerBound(records, length, record);
  return at < length && records[at] === record ? at : -1;
}

/** The index of the nearest record; -1 if absent. */
export function nearestIn({ records, length }: FileRows, record: number): number {
  if (records === null) return Math.min(record, length - 1);
  const at = lowerBound(records, length, record);
  if (at === 0) return length === 0 ? -1 : 0;
  if (at === length) return length - 1;
  return uint32At(records, at) - record <= record - uint32At(records, at - 1) ? at : at - 1;
}

const lowerBound = (records: Uint32Array, length: number, record: number): number =>
  placesWhile(length, (at) => uint32At(records, at) < record);

/** Only that rollout. */
export const oneRow = ({ file, record }: Place): Rows => groupRows(file, [record]);
