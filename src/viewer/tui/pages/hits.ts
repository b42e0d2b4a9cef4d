import { type FoundTurn, hitsReport, onOneLine } from '../../../analysis/report/hits.ts';
import { formatPercent, plural } from '../../../core/text/numbers.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import type { Piece } from '../../present/line.ts';
import type { Store } from '../rows/data.ts';
import type { FoundHits } from '../rows/hits.ts';
import type { Page } from '../rows/page.ts';
import type { PageSort, SubjectOf } from '../state/page.ts';
import type { State } from '../state/state.ts';
import { reportPage } from './report-page.ts';

/** The hits of a pattern in all rollouts of the list: a row for each matching turn. */
export function hitsPage(subject: SubjectOf<'hits'>, sort: PageSort | null, state: State, data: Store): Page {
  const found = data.hits.of(subject, state);
  const report = hitsReport(subject, found);
  return reportPage(found.isDone ? report : { ...report, empty: 'searching …' }, {
    sort,
    note: noteOf(found),
    head: [
      `${data.keys.label('open', 'page')} opens the turn; there ${data.keys.label('search.next')} continues in it, ${data.keys.label('page.next')} to the next row`,
    ],
    drawn: { text: hitPieces },
    open: ({ place, hit }) => ({
      type: 'page-read',
      place,
      turn: hit.turn,
      ...(subject.field === null ? { search: subject.pattern } : {}),
    }),
  });
}

function noteOf({ isDone, isFull, looked, total, lost }: FoundHits): string {
  const share = isDone || total === 0 ? '' : `searching, ${formatPercent(looked / total)}`;
  const unread = lost === 0 ? '' : `${plural(lost, 'rollout')} not searched: too large for the memory`;
  return [isFull ? `the first in ${formatPercent(looked / total)} of the rollouts` : share, unread]
    .filter((one) => one !== '')
    .join(', ');
}

/** Characters before a hit: the text after it says more. */
const BEFORE = 16;

function hitPieces({ hit: { before, text, after, goesOn } }: FoundTurn): Piece[] {
  const [left, hit, right] = [before, text, after].map((part) => sanitiseLine(onOneLine(part)));
  const isCut = (left ?? '').length > BEFORE || goesOn[0];
  return [
    ['quiet', `${isCut ? '…' : ''}${[...(left ?? '')].slice(-BEFORE).join('')}`],
    ['match', hit ?? ''],
    ['quiet', `${right ?? ''}${goesOn[1] ? '…' : ''}`],
  ];
}
