import { int32At, uint32At } from '../../core/lists/at.ts';

/** The rows of each number from 0, in order, stored one number after another. Rows numbered -1 are left out. */
export interface Members {
  readonly length: number;
  of(number: number): Uint32Array;
  /** The same without building a list. */
  size(number: number): number;
  at(number: number, i: number): number;
}

/** Two passes and three arrays, whatever the number of rows. */
export function membersByNumber(numbers: Int32Array): Members {
  let most = -1;
  for (const number of numbers) if (number > most) most = number;
  const starts = new Uint32Array(most + 2);
  for (const number of numbers) if (number >= 0) starts[number + 1] = uint32At(starts, number + 1) + 1;
  for (let i = 1; i < starts.length; i++) starts[i] = uint32At(starts, i) + uint32At(starts, i - 1);
  const next = starts.slice();
  const rows = new Uint32Array(uint32At(starts, most + 1));
  for (let row = 0; row < numbers.length; row++) {
    const number = int32At(numbers, row);
    if (number >= 0) rows[next[number]!++] = row;
  }
  return {
    length: most + 1,
    of: (number) => rows.subarray(starts[number], starts[number + 1]),
    size: (number) => uint32At(starts, number + 1) - uint32At(starts, number),
    at: (number, i) => uint32At(rows, uint32At(starts, number) + i),
  };
}
