// Reads of a place that the caller knows to exist. One function for each kind of array: V8 inlines a read that only ever sees one kind, and
// such a read costs as much as an index.

/** The item at a place that the list has. @throws RangeError beyond its ends */
export function itemAt<T>(list: ArrayLike<T>, at: number): T {
  const item = list[at];
  if (item === undefined) throw new RangeError(`no item ${at} in a list of ${list.length}`);
  return item;
}

/** The last item of a list that has one. */
export const lastItem = <T>(list: ArrayLike<T>): T => itemAt(list, list.length - 1);

/** NaN beyond the ends, as for all functions below. */
export const numberInAt = (list: ArrayLike<number>, at: number): number => list[at] ?? Number.NaN;

export const float64At = (list: Float64Array, at: number): number => list[at] ?? Number.NaN;

export const int32At = (list: Int32Array, at: number): number => list[at] ?? Number.NaN;

export const uint32At = (list: Uint32Array, at: number): number => list[at] ?? Number.NaN;

export const uint16At = (list: Uint16Array, at: number): number => list[at] ?? Number.NaN;

export const uint8At = (list: Uint8Array, at: number): number => list[at] ?? Number.NaN;
