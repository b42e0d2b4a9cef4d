import { countUnderWay, underWayReport } from '../../../analysis/report/under-way.ts';
import { formatCount } from '../../../core/text/numbers.ts';
import type { LiveStates } from '../rows/live-states.ts';
import type { Page } from '../rows/page.ts';
import type { PageSort } from '../state/page.ts';
import { reportPage } from './report-page.ts';

/** Unfinished rollouts. A finished one keeps its row for a while; Enter reads it as far as it is written. */
export function underWayPage(
  live: Pick<LiveStates, 'states' | 'rows' | 'placeOf'>,
  sort: PageSort | null,
  now = Date.now(),
): Page {
  const { states, rows } = live;
  const report = underWayReport(states ?? [], rows, now);
  return reportPage(states === null ? { ...report, empty: 'looking …' } : report, {
    sort,
    note: states === null ? 'looking …' : formatCount(countUnderWay(states)),
    keyOf: ({ key }) => key,
    open: (row) => {
      const place = live.placeOf(row);
      return place === null ? null : { type: 'page-read', place, turn: null };
    },
  });
}
