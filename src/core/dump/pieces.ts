import { itemAt } from '../lists/at.ts';

/** The approximate bytes transferred to the main thread at once: it receives them within a few ms. */
const PIECE = 300_000;
const VALUE_BYTES = 8;
const OBJECT_BYTES = 50;
const KEY_BYTES = 50;

/** Values of one list or object, or a part of a large one. */
export interface ValuePiece {
  /** The number of the list or object that they belong to: 0 is the whole, others are numbered as they are opened. */
  into: number;
  /** null for a list, which these values extend. */
  keys: string[] | null;
  values: unknown[];
  /** Indices of the values that are still empty, to be filled by later pieces. */
  opened: number[];
}

/**
 * Splits lists and objects of any depth and length, without recursion. Each piece is small, unless it is a single long
 * text.
 */
export function* piecesOf(whole: object): Generator<ValuePiece> {
  const open: object[] = [whole];
  for (let into = 0; into < open.length; into++) {
    const container = itemAt(open, into);
    const isList = Array.isArray(container);
    const keys = isList ? null : Object.keys(container);
    const values: readonly unknown[] = isList ? container : Object.values(container);
    let piece: ValuePiece = { into, keys: keys && [], values: [], opened: [] };
    let bytes = 0;
    for (const [i, value] of values.entries()) {
      const weight = weigh(value);
      if (weight >= PIECE && isContainer(value)) {
        open.push(value);
        piece.opened.push(piece.values.length);
        piece.values.push(Array.isArray(value) ? [] : {});
        bytes += OBJECT_BYTES;
      } else {
        piece.values.push(value);
        bytes += weight;
      }
      if (piece.keys !== null && keys !== null) {
        piece.keys.push(itemAt(keys, i));
        bytes += KEY_BYTES;
      }
      if (bytes < PIECE) continue;
      yield piece;
      piece = { into, keys: keys && [], values: [], opened: [] };
      bytes = 0;
    }
    if (piece.values.length > 0) yield piece;
    // A part that was transferred need not be kept.
    open[into] = NOTHING;
  }
}

const NOTHING = {};

const isContainer = (value: unknown): value is object =>
  Array.isArray(value) || (typeof value === 'object' && value !== null && value.constructor === Object);

/** The approximate bytes of a value; for a large value it only determines that it is large. */
function weigh(value: unknown): number {
  const rest = [value];
  let bytes = 0;
  while (rest.length > 0 && bytes < PIECE) {
    const one = rest.pop();
    bytes += VALUE_BYTES;
    if (typeof one === 'string') bytes += one.length;
    if (!isContainer(one)) continue;
    const values = Array.isArray(one) ? one : Object.values(one);
    bytes += OBJECT_BYTES;
    if (bytes + values.length * VALUE_BYTES >= PIECE) return PIECE;
    for (const inner of values) rest.push(inner);
  }
  return bytes;
}

/** Reassembles pieces in the order in which they were made. */
export class Whole<Value extends object> {
  readonly value: Value;
  readonly #open: object[];

  /** @param empty receives the values of the whole */
  constructor(empty: Value) {
    this.value = empty;
    this.#open = [empty];
  }

  add({ into, keys, values, opened }: ValuePiece): void {
    const container = this.#open[into];
    for (const at of opened) this.#open.push(values[at] as object);
    for (const [i, value] of values.entries()) {
      if (keys === null) (container as unknown[]).push(value);
      // A record may contain such a key.
      else if (keys[i] === '__proto__')
        Object.defineProperty(container, keys[i], { value, enumerable: true, writable: true, configurable: true });
      else (container as Record<string, unknown>)[itemAt(keys, i)] = value;
    }
  }
}
