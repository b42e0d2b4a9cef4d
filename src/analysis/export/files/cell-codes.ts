import { float64At, int32At } from '../../../core/lists/at.ts';

export type KnownCell = number | string | boolean;
export type ColumnCell = KnownCell | null;
export type ColumnKeys = Float64Array | Int32Array | Uint32Array;

/** For each row the place of its cell among those that differ, in order of appearance; -1 if it is unknown. */
interface CellCodes {
  codes: Int32Array;
  cells: readonly KnownCell[];
  /** Rows whose cell is known. */
  known: number;
}

/** @param cellOf asked once for each key */
export function cellCodes(keys: ColumnKeys, cellOf: (key: number) => ColumnCell): CellCodes {
  const codes = new Int32Array(keys.length);
  // The loop is compiled once if all columns have lists of the same kind.
  const different = haveOneKey(keys, 0, keys.length)
    ? keys.subarray(0, 1)
    : numberKeys(keys instanceof Float64Array ? keys : new Float64Array(keys), codes);
  const cells: KnownCell[] = [];
  const codeOf = Int32Array.from(different, (key) => {
    const cell = cellOf(key);
    return cell === null ? UNKNOWN : cells.push(cell) - 1;
  });
  const known = cells.length === codeOf.length ? codes.length : withoutUnknown(codes, codeOf);
  return { codes, cells, known };
}

const UNKNOWN = -1;

/** Replaces the places of keys by those of cells. @returns how many rows have one */
function withoutUnknown(codes: Int32Array, codeOf: Int32Array): number {
  let known = 0;
  for (let row = 0; row < codes.length; row++) {
    const code = int32At(codeOf, int32At(codes, row));
    codes[row] = code;
    if (code !== UNKNOWN) known++;
  }
  return known;
}

/** Small whole numbers are looked up in a list: most keys are small, and a map takes five times as long. */
const SMALL = 1 << 16;
const UNSEEN = -1;
/** The places of the small numbers of the column under way; all unseen in between. */
const small = new Int32Array(SMALL).fill(UNSEEN);

const isSmall = (key: number): boolean => key >= 0 && key < SMALL && (key | 0) === key && !Object.is(key, -0);

/** Lays the place of each row's key among those that differ. @returns those */
function numberKeys(keys: Float64Array, places: Int32Array): number[] {
  const different: number[] = [];
  // Maps take both zeros for one.
  const others = new Map<number | '-0', number>();
  let last = Number.NaN;
  let place = UNSEEN;
  for (let row = 0; row < keys.length; row++) {
    const key = float64At(keys, row);
    if (key !== last || key === 0) {
      last = key;
      const isListed = isSmall(key);
      const name = key === 0 ? '-0' : key;
      place = isListed ? int32At(small, key) : (others.get(name) ?? UNSEEN);
      if (place === UNSEEN) {
        place = different.push(key) - 1;
        if (isListed) small[key] = place;
        else others.set(name, place);
      }
    }
    places[row] = place;
  }
  for (const key of different) if (isSmall(key)) small[key] = UNSEEN;
  return different;
}

/** Whether all rows from `from` up to `to` have the same key. */
export function haveOneKey(keys: ColumnKeys, from: number, to: number): boolean {
  const first = keys[from];
  for (let row = from + 1; row < to; row++) if (!Object.is(keys[row], first)) return false;
  return to > from;
}
