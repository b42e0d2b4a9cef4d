const isWhole = process.env.TIER === 'long';

/** @param whole the count of `npm run test:long`, before a release; `core` decides on every change */
export const countOf = (core: number, whole: number): number => (isWhole ? whole : core);

/** Those that decide on every change; `npm run test:long` has all of them. */
export const coreOf = <T>(all: readonly T[], isCore: (one: T, at: number) => boolean): T[] =>
  all.filter((one, at) => isWhole || isCore(one, at));
