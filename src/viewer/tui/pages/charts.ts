import { curveOf } from '../../../analysis/charts/numbers-of.ts';
import type { FactRows } from '../../../analysis/facts/fact-rows.ts';
import { curvesReport, histogramReport, spreadReport } from '../../../analysis/report/stats.ts';
import { formatCount } from '../../../core/text/numbers.ts';
import { meanText } from '../../../core/text/quantities.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import { labelledChart } from '../../present/braille.ts';
import { barText } from '../../present/report/cell-text.ts';
import type { Store } from '../rows/data.ts';
import type { Page } from '../rows/page.ts';
import type { PageSort } from '../state/page.ts';
import { reportPage } from './report-page.ts';
import { stillWorking } from './waiting-page.ts';

/** Most rows of a chart; half of the page is left for the table. */
const CHART_HEIGHT = 12;
/** Cells of the longest bar, and of the columns beside it. */
const BAR = 40;
const BESIDE_BAR = 46;

/** Every number that varies, with its curve by step; Enter draws it or, in the column `known`, shows its values. */
export function chartsPage(sort: PageSort | null, facts: FactRows, data: Store): Page {
  const report = data.workedOut.of(facts, 'curves', (rest) => curvesReport(facts, rest));
  if (report === null) return stillWorking('numbers', data.workedOut.note);
  return reportPage(report, {
    sort,
    note: data.facts.note,
    head: ['means of a step; Enter draws the number, in the column known it shows how often it has which value'],
    open: ({ number: name }, key) => ({
      type: 'page-open',
      subject: { kind: key === 'known' ? 'histogram' : 'chart', name },
    }),
  });
}

/** A number by step: drawn, with one row per step; Enter lists the rollouts of that step. */
export function chartPage(
  name: string,
  sort: PageSort | null,
  facts: FactRows,
  data: Store,
  { width, height }: { width: number; height: number },
): Page {
  const report = spreadReport(facts, [name], 'step');
  const { stream, points } = curveOf(facts, name);
  const isOneStream = report.rows.every((row) => row.stream === report.rows[0]?.stream);
  const text = (value: number): string => (Number.isInteger(value) ? formatCount(value) : meanText(value));
  const rows = Math.max(3, Math.min(CHART_HEIGHT, height >> 1));
  return reportPage(report, {
    sort,
    note: data.facts.note,
    head:
      report.rows.length === 0
        ? []
        : [sanitiseLine(`mean${stream === '' ? '' : ` of ${stream}`}; Enter lists the rollouts of a step`)],
    ...(points.length === 0
      ? {}
      : {
          drawing: {
            height: rows + 1,
            lines: ({ value, stream: own }) =>
              labelledChart(points, width - 2, rows, text, own === stream && typeof value === 'number' ? value : null),
          },
        }),
    open: ({ value, stream: own }) =>
      value === null
        ? null
        : {
            type: 'page-list',
            filter: `step == ${value}${isOneStream ? '' : ` && stream == ${JSON.stringify(own)}`}`,
          },
  });
}

/** How often a number has each value; Enter lists the rollouts of a bar. */
export function histogramPage(name: string, sort: PageSort | null, facts: FactRows, data: Store, width: number): Page {
  const room = Math.max(8, Math.min(BAR, width - BESIDE_BAR));
  return reportPage(histogramReport(facts, [name]), {
    sort,
    note: data.facts.note,
    head: ['Enter lists the rollouts of a bar'],
    drawn: { bar: ({ bar }) => barText(bar, room) },
    open: ({ filter }) => ({ type: 'page-list', filter }),
  });
}
