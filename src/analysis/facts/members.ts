import { int32At, uint32At } from '../../core/lists/at.ts';

/** The rows of each number, in order, stored one number after another. Rows numbered -1 are left out. */
export interface Members {
  /** The numbers are from here up to `length`. */
  readonly first: number;
  readonly length: number;
  of(number: number): Uint32Array;
  /** The same without building a list. */
  size(number: number): number;
  at(number: number, i: number): number;
}

/** Two passes and three arrays, whatever the number of rows. @param from the first row: its number and those of later rows are in no earlier one */
export function membersByNumber(numbers: Int32Array, from = 0): Members {
  let most = -1;
  let least = from === 0 ? 0 : numbers.length;
  for (let row = from; row < numbers.length; row++) {
    const number = int32At(numbers, row);
    if (number > most) most = number;
    if (number >= 0 && number < least) least = number;
  }
  const first = Math.min(least, most + 1);
  const starts = new Uint32Array(most - first + 2);
  for (let row = from; row < numbers.length; row++) {
    const after = int32At(numbers, row) - first + 1;
    if (after > 0) starts[after] = uint32At(starts, after) + 1;
  }
  for (let i = 1; i < starts.length; i++) starts[i] = uint32At(starts, i) + uint32At(starts, i - 1);
  const next = starts.slice();
  const rows = new Uint32Array(uint32At(starts, most - first + 1));
  for (let row = from; row < numbers.length; row++) {
    const number = int32At(numbers, row) - first;
    if (number >= 0) rows[next[number]!++] = row;
  }
  return {
    first,
    length: most + 1,
    of: (number) => rows.subarray(starts[number - first], starts[number - first + 1]),
    size: (number) => uint32At(starts, number - first + 1) - uint32At(starts, number - first),
    at: (number, i) => uint32At(rows, uint32At(starts, number - first) + i),
  };
}
