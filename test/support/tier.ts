/** @param whole the count of `npm run test:long`, before a release; `core` decides on every change */
export const countOf = (core: number, whole: number): number => (process.env.TIER === 'long' ? whole : core);
