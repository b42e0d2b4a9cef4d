import type { AgainLookup } from '../analysis/query/again.ts';

/** Results of calls that were run again, from the journals of these dumps. The journal is loaded only where somebody asks. */
export async function againOf(paths: readonly string[], journal: string | undefined): Promise<AgainLookup> {
  const [{ againIn }, { journalOf }] = await Promise.all([import('../replay/results.ts'), import('./journal-of.ts')]);
  return againIn(await Promise.all(paths.map((path) => journalOf(path, journal))));
}
