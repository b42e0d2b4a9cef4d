import type { Place } from '../../core/dump/dump.ts';
import { plural } from '../../core/text/numbers.ts';
import type { SearchFor, TextHit } from '../search/search-thread.ts';
import { column } from './columns.ts';
import type { Report } from './report.ts';

/** Hits in one turn of a rollout, or in a field of it. */
export interface FoundTurn {
  place: Place;
  count: number;
  /** The first of them. */
  hit: TextHit;
}

/** @param count all hits of the rollout: those not reported are attributed to its last reported turn */
export function hitsByTurn(place: Place, count: number, hits: readonly TextHit[]): FoundTurn[] {
  const turns: FoundTurn[] = [];
  for (const hit of hits) {
    const last = turns.at(-1);
    if (last !== undefined && last.hit.turn === hit.turn) last.count++;
    else turns.push({ place, count: 1, hit });
  }
  const last = turns.at(-1);
  if (last !== undefined) last.count += count - hits.length;
  return turns;
}

/** The turns with hits of a search: the first hit of each with the words around it. */
export function hitsReport(
  { pattern, roles, field }: Pick<SearchFor, 'pattern' | 'roles' | 'field'>,
  { turns, hits, rollouts }: { turns: readonly FoundTurn[]; hits: number; rollouts: number },
): Report<FoundTurn> {
  const where = field !== null ? ` in ${field}` : roles !== null ? ` in turns of ${roles.join(', ')}` : '';
  return {
    title: `${pattern}${where}: ${plural(hits, 'hit')} in ${plural(rollouts, 'rollout')}`,
    columns: [
      {
        ...{ key: 'locator', title: 'rollout', type: 'rollout', identifies: true },
        meaning: 'the turn, or the rollout whose field was searched',
        value: ({ place, hit }) => ({ ...place, turn: hit.turn }),
      },
      column('role', 'role', 'text', 'role of the turn', ({ hit }) => hit.role, { width: 9 }),
      {
        ...{ key: 'score', title: 'score', type: 'score' },
        meaning: 'score of the rollout',
        value: ({ place: { file, record } }) => file.score(record) ?? null,
      },
      { key: 'hits', title: 'hits', type: 'count', meaning: 'hits in the turn', value: ({ count }) => count },
      {
        ...{ key: 'text', title: 'text', type: 'text', width: 30, grows: true },
        meaning: 'the first hit with the words around it',
        value: ({ hit: { before, text, after, goesOn } }) =>
          `${goesOn[0] ? '…' : ''}${onOneLine(before)}${onOneLine(text)}${onOneLine(after)}${goesOn[1] ? '…' : ''}`,
      },
    ],
    rows: turns,
    empty: 'no hit',
  };
}

/** A line break as a sign. */
export const onOneLine = (text: string): string => text.replace(/\s*\n\s*/g, ' ⏎ ');
