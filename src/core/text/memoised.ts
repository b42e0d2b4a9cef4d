/** Texts of numbers that recur, each printed once. */
const SMALL = 1024;
/** More different numbers than these rarely recur. */
const MOST = 4096;

/** Prints numbers: those that recur are printed once. @param print gives equal texts for 0 and -0 */
export function memoised(print: (value: number) => string): (value: number) => string {
  const small: (string | undefined)[] = [];
  const others = new Map<number, string>();
  return (value) => {
    if (value >= 0 && value < SMALL && (value | 0) === value) {
      let text = small[value];
      if (text === undefined) {
        text = print(value);
        small[value] = text;
      }
      return text;
    }
    let text = others.get(value);
    if (text === undefined) {
      text = print(value);
      if (others.size < MOST) others.set(value, text);
    }
    return text;
  };
}
