import type { Place } from '../dump/dump.ts';
import type { DumpFile } from '../dump/dump-file.ts';

/** The rollouts of the list in their order. A view, not a copy: a dump holds millions. */
export interface Rows {
  readonly length: number;
  at(index: number): Place | null;
  /** -1 for a record that is not in the list. */
  indexOf(place: Place): number;
}

/** All records, file after file. Built again whenever a count has changed: it costs one step a file. */
export function allRows(files: readonly DumpFile[]): Rows {
  const starts: number[] = [];
  const order = new Map<DumpFile, number>();
  let length = 0;
  for (const file of files) {
    order.set(file, starts.length);
    starts.push(length);
    length += file.count;
  }
  return {
    length,
    at(index) {
      if (index < 0 || index >= length) return null;
      let low = 0;
      let high = files.length - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (starts[middle]! <= index) low = middle;
        else high = middle - 1;
      }
      return { file: files[low]!, record: index - starts[low]! };
    },
    indexOf({ file, record }) {
      const at = order.get(file);
      return at === undefined || record >= file.count ? -1 : starts[at]! + record;
    },
  };
}

export const samePlace = (a: Place | null, b: Place | null): boolean =>
  a === b || (a !== null && b !== null && a.file === b.file && a.record === b.record);

/** That rollout alone. */
export const oneRow = (place: Place): Rows => ({
  length: 1,
  at: (index) => (index === 0 ? place : null),
  indexOf: (other) => (samePlace(place, other) ? 0 : -1),
});
