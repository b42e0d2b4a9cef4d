import type { Page } from '../rows/page.ts';

/** Replaces a page that is still being computed. @param note how much of the work is done */
export const stillWorking = (what: string, note = ''): Page => ({
  title: `looking for ${what} …`,
  note,
  columns: [],
  length: 0,
  row: () => ({ cells: [] }),
  empty: 'Esc goes back, and stops the work',
  sort: null,
});
