import { float64At } from '../../core/lists/at.ts';

/** The set of findings of each row, and the first row of each set. */
export interface FindingSets {
  of: Uint32Array;
  first: readonly number[];
}

/** Rows with the same bits are of one set; a dump has few. */
export function findingSetsOf(found: Float64Array, observed: Float64Array): FindingSets {
  const of = new Uint32Array(found.length);
  const first: number[] = [];
  const known = new Map<number, Map<number, number>>();
  for (let row = 0; row < of.length; row++) {
    let sets = known.get(float64At(found, row));
    if (sets === undefined) {
      sets = new Map();
      known.set(float64At(found, row), sets);
    }
    let set = sets.get(float64At(observed, row));
    if (set === undefined) {
      set = first.push(row) - 1;
      sets.set(float64At(observed, row), set);
    }
    of[row] = set;
  }
  return { of, first };
}
