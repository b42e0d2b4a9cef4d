import type { SortValue } from '../../analysis/query/sort.ts';
import type { ReplayState } from '../state/replay.ts';

/** Columns of what was run again, which no dump holds. Their names are no names of fields. */
export const REPLAY_KEYS = { again: '(run again)', rescored: '(scored again)' } as const;

/** Results of the rollouts, by locator; null for any other key. */
export function replayValues(key: string, { words, rescores }: ReplayState): ReadonlyMap<string, SortValue> | null {
  if (key === REPLAY_KEYS.again) return words;
  if (key !== REPLAY_KEYS.rescored) return null;
  return new Map([...rescores].map(([locator, { score }]) => [locator, score]));
}

/** The keys of what more than one rollout was run for: then the list has a column for it that nobody needs to choose. */
export const replayColumnsShown = ({ words, rescores }: ReplayState): ReadonlySet<string> =>
  new Set([...(words.size > 1 ? [REPLAY_KEYS.again] : []), ...(rescores.size > 1 ? [REPLAY_KEYS.rescored] : [])]);
