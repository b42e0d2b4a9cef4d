import type { Place, Source, SourceFile } from './source.ts';

/** The rollouts of the list in their order. A view, not a copy: a dump holds millions. */
export interface Rows {
  readonly length: number;
  at(index: number): Place | null;
  /** -1 for a record that is not in the list. */
  indexOf(place: Place): number;
}

/** All records, file after file. Built again whenever a count has changed: it costs one step a file. */
export function allRows(files: Source['files']): Rows {
  const starts: number[] = [];
  const order = new Map<SourceFile, number>();
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

/** Where the program opens: the first record of the newest step that was trained on, else of the newest that is known. */
export function newestPlace(files: Source['files']): Place | null {
  const known = files.filter((file) => file.count > 0);
  const trained = known.filter((file) => !file.validation);
  const streams = trained.length > 0 ? trained : known;
  const stream = streams.find((file) => file.stream === 'train')?.stream ?? streams[0]?.stream;
  const file = streams.filter((file) => file.stream === stream).at(-1);
  return file === undefined ? null : { file, record: 0 };
}
