/** Whole numbers below this are looked up in a list. */
const SMALL = 1024;
/** More different numbers than these rarely recur. */
const MOST = 4096;

/** The text of a number, as bytes if it was printed before. @param print gives equal texts for 0 and -0 */
export function memoised(print: (value: number) => string): (value: number) => Uint8Array | string {
  const small: (Uint8Array | undefined)[] = [];
  const others = new Map<number, Uint8Array>();
  // Neighbours are often the same, and a number that is not small is looked up by a copy of it.
  let last = Number.NaN;
  let lastBytes: Uint8Array | undefined;
  return (value) => {
    if (lastBytes !== undefined && value === last) return lastBytes;
    if (value >= 0 && value < SMALL && (value | 0) === value) {
      let bytes = small[value];
      if (bytes === undefined) {
        bytes = Buffer.from(print(value));
        small[value] = bytes;
      }
      return bytes;
    }
    const known = others.get(value);
    if (known !== undefined) {
      last = value;
      lastBytes = known;
      return known;
    }
    const text = print(value);
    if (others.size < MOST) others.set(value, Buffer.from(text));
    return text;
  };
}
