import { formatCount, formatPercent, plural } from '../../../core/text/numbers.ts';
import { scoreText } from '../../../core/text/quantities.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import type { Piece } from '../../present/line.ts';
import type { Store } from '../rows/data.ts';
import type { FoundHits, FoundTurn } from '../rows/hits.ts';
import type { Page } from '../rows/page.ts';
import type { PageSort, PageSubject } from '../state/page.ts';
import type { State } from '../state/state.ts';
import { byColumn } from './by-column.ts';

type HitsSubject = Extract<PageSubject, { kind: 'hits' }>;

const hitName = ({ place: { file, record } }: FoundTurn): string => `${file.stem}:${file.index.line(record)}`;
const hitTurn = ({ hit: { turn, role } }: FoundTurn): string => (turn === null ? '' : `t${turn} ${role ?? ''}`);
const scoreOf = ({ place: { file, record } }: FoundTurn): number | null => file.score(record) ?? null;

/** The hits of a pattern in all rollouts of the list: a row for each matching turn. */
export function hitsPage(subject: HitsSubject, sort: PageSort | null, state: State, data: Store): Page {
  const found = data.hits.of(subject, state);
  const values: readonly ((row: FoundTurn) => number | string | null)[] = [
    hitName,
    hitTurn,
    scoreOf,
    ({ count }) => count,
    ({ hit }) => hit.text,
  ];
  const rows = sort === null ? found.turns : byColumn(found.turns, values[sort.column]!, sort.descending);
  return {
    title: hitsTitle(subject, found),
    note: noteOf(found),
    head: [
      `${data.keys.label('open', 'page')} opens the turn; there ${data.keys.label('search.next')} goes on in it, ${data.keys.label('page.next')} to the next row`,
    ],
    columns: [
      { title: 'rollout', width: 12, isText: true, isFixed: true },
      { title: 'turn', width: 14, isText: true },
      { title: 'score', width: 6 },
      { title: 'hits', width: 5 },
      { title: 'text', width: 30, isText: true, grows: true },
    ],
    length: rows.length,
    empty: found.isDone ? 'no hit' : 'searching …',
    sort,
    row: (index) => {
      const row = rows[index]!;
      return {
        cells: [
          sanitiseLine(hitName(row)),
          sanitiseLine(hitTurn(row)),
          scoreText(scoreOf(row)),
          formatCount(row.count),
          hitPieces(row),
        ],
        open: () => ({
          type: 'page-read',
          place: row.place,
          turn: row.hit.turn,
          ...(subject.field === null ? { search: subject.pattern } : {}),
        }),
      };
    },
  };
}

function hitsTitle({ pattern, roles, field }: HitsSubject, { hits, rollouts }: FoundHits): string {
  const where = field !== null ? ` in ${field}` : roles !== null ? ` in turns of ${roles.join(', ')}` : '';
  return sanitiseLine(`${pattern}${where}: ${plural(hits, 'hit')} in ${plural(rollouts, 'rollout')}`);
}

function noteOf({ isDone, isFull, looked, total, lost }: FoundHits): string {
  const share = isDone || total === 0 ? '' : `searching, ${formatPercent(looked / total)}`;
  const unread = lost === 0 ? '' : `${plural(lost, 'rollout')} not searched: too large for the memory`;
  return [isFull ? `the first in ${formatPercent(looked / total)} of the rollouts` : share, unread]
    .filter((one) => one !== '')
    .join(', ');
}

/** Characters before a hit: the text after it says more. */
const BEFORE = 24;

const oneLine = (text: string): string => sanitiseLine(text.replace(/\s*\n\s*/g, ' ⏎ '));

function hitPieces({ hit: { before, text, after, goesOn } }: FoundTurn): Piece[] {
  const left = oneLine(before);
  const isCut = left.length > BEFORE || goesOn[0];
  return [
    ['quiet', `${isCut ? '…' : ''}${[...left].slice(-BEFORE).join('')}`],
    ['match', oneLine(text)],
    ['quiet', `${oneLine(after)}${goesOn[1] ? '…' : ''}`],
  ];
}
