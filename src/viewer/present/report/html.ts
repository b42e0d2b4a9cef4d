import { endsRight, type Report, sentencesOf, shownColumns } from '../../../analysis/report/report.ts';
import { escaped, pageEnd, pageStart } from '../html/page.ts';
import { cellText } from './cell-text.ts';

/** A report as a page that needs no server and runs nothing from the data. */
export function* reportHtml<Row>(report: Report<Row>): Generator<string> {
  const columns = shownColumns(report);
  const kindOf = (column: (typeof columns)[number]): string => (endsRight(column) ? ' class="n"' : '');
  yield pageStart(report.title);
  yield `<article id="report"><h2>${escaped(report.title)}</h2>\n`;
  for (const note of sentencesOf(report)) yield `<p>${escaped(note)}</p>\n`;
  if (report.rows.length === 0) yield `<p>${escaped(report.empty)}</p>`;
  else {
    const heads = columns.map(
      (column) => `<th scope="col"${kindOf(column)} title="${escaped(column.meaning)}">${escaped(column.title)}</th>`,
    );
    yield `<table><thead><tr>${heads.join('')}</tr></thead><tbody>\n`;
    for (const row of report.rows) {
      const cells = columns.map((column) => {
        const text = cellText(column.value(row), column.type);
        return `<td${kindOf(column)}>${text === '' ? '–' : escaped(text)}</td>`;
      });
      yield `<tr>${cells.join('')}</tr>\n`;
    }
    yield '</tbody></table>';
  }
  yield '</article>\n';
  yield pageEnd([], []);
}
