/** How many of so many places fulfil a condition that the first ones fulfil, and no later one: by binary search. */
export function placesWhile(count: number, holds: (at: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
