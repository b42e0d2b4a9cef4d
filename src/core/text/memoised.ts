/** Whole numbers below this are looked up in a list. */
const SMALL = 1024;
/** More different numbers than these rarely recur. */
const MOST = 4096;

/** The print of a number, printed once if the number recurs. @param print gives equal prints for 0 and -0 */
export function memoised<Print>(print: (value: number) => Print): (value: number) => Print {
  const small: (Print | undefined)[] = [];
  const others = new Map<number, Print>();
  return (value) => {
    if (value >= 0 && value < SMALL && (value | 0) === value) {
      let known = small[value];
      if (known === undefined) {
        known = print(value);
        small[value] = known;
      }
      return known;
    }
    let known = others.get(value);
    if (known === undefined) {
      known = print(value);
      if (others.size < MOST) others.set(value, known);
    }
    return known;
  };
}
