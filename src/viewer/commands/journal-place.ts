import { type JournalPlace, journalPlace } from '../../replay/journal/place.ts';
import { loadConfig } from '../config/config-file.ts';

/** The journal's place for a dump: from the flag, else from the settings, else in the state directory. */
export async function journalPlaceOf(path: string, flag: string | undefined): Promise<JournalPlace> {
  const journal = flag ?? (await loadConfig()).journal ?? undefined;
  return journalPlace(path, { journal });
}
