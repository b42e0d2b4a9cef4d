import { truncate } from '../../../core/text/fit.ts';
import { wrappedLines } from '../../../core/text/wrap.ts';
import { renderEdges, renderPieces } from '../../present/line.ts';
import { placeColumns, renderTableHead, renderTableRow } from '../../present/page-table.ts';
import { styled } from '../../present/theme.ts';
import { rowsOfPage } from '../rows/page.ts';
import { pageInSight } from '../state/panes.ts';
import type { PaneView } from './scene.ts';

/** The sign for further columns. */
const MORE = 2;

export const pageView: PaneView = ({ state, data, theme }, width, height) => {
  const shown = pageInSight(state);
  const page = data.page(state);
  if (shown === null || page === null) return [];
  const { row: here, column: cursor } = shown;
  const lines = [renderEdges(theme, [['heading', ` ${page.title}`]], [['quiet', `${page.note} `]], width)];
  for (const text of page.head ?? []) lines.push(styled(theme, 'quiet', truncate(` ${text}`, width)));
  for (const pieces of page.drawing?.lines(here) ?? [])
    lines.push(renderPieces(theme, [['plain', ' '], ...pieces], width));
  const placed = placeColumns(page.columns, cursor, width - MORE);
  lines.push(renderTableHead(page.columns, placed, { cursor, sort: page.sort, theme, width }));
  if (page.length === 0) return [...lines, styled(theme, 'quiet', truncate(`  ${page.empty}`, width))];
  const end = lines.length + rowsOfPage(page, height);
  for (let index = shown.top; index < page.length && lines.length < end; index++)
    lines.push(
      renderTableRow(page.row(index).cells, page.columns, placed, { isHere: index === here, cursor, theme, width }),
    );
  const cell = page.inFull === undefined ? undefined : page.row(here).cells[page.inFull];
  if (typeof cell !== 'string') return lines;
  while (lines.length < end + 1 && end + 1 < height) lines.push('');
  return [...lines, ...wrappedLines(cell.trim(), width - 2).map((text) => ` ${text}`)].slice(0, height);
};
