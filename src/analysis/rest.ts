/** A pause between parts of long work, so that it does not block a waiting person. Work that knows how much it is says so. */
export type Rest = (done?: number, total?: number) => Promise<void> | undefined;

/** A stage of a longer work: its progress runs between two shares of the whole. */
export const partOfRest =
  (rest: Rest, from: number, to: number): Rest =>
  (done, total) =>
    done === undefined || total === undefined || total === 0 ? rest() : rest(from + ((to - from) * done) / total, 1);
