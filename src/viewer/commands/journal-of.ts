import { Journal } from '../../replay/journal/journal.ts';
import { journalPlaceOf } from './journal-place.ts';

/** The journal of a dump, at `journalPlaceOf`. */
export const journalOf = async (path: string, flag: string | undefined): Promise<Journal> =>
  new Journal(await journalPlaceOf(path, flag));
