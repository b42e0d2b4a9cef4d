import type { AgainLookup } from '../analysis/query/again.ts';

/** What the journals of these dumps know of calls that were run again. The journal is loaded for those who ask alone. */
export async function againOf(paths: readonly string[], journal: string | undefined): Promise<AgainLookup> {
  const [{ againIn }, { journalOf }] = await Promise.all([import('../replay/results.ts'), import('./journal-of.ts')]);
  return againIn(await Promise.all(paths.map((path) => journalOf(path, journal))));
}
