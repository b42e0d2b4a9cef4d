import { type Column, columnsWidth, fitColumns } from '../present/list.ts';

/** Below this the program only says that it needs more room. */
export const MIN_COLUMNS = 40;
export const MIN_ROWS = 10;

/** A transcript narrower than this is no pleasure to read: the list gives way. */
const READABLE = 48;

export interface Geometry {
  tooSmall: boolean;
  /** Cells of the list, 0 when it is not shown; one more cell parts it from the transcript. */
  listWidth: number;
  transcriptWidth: number;
  /** Rows of the body: between the top line and the footer. */
  bodyHeight: number;
  /** Rows of the list without its titles, and of the transcript without its head. */
  listHeight: number;
  transcriptHeight: number;
}

export interface Shape {
  columns: number;
  rows: number;
  focus: 'list' | 'transcript';
  /** The pane that has the keys has the whole width. */
  zoom: boolean;
  /** Rows below the body: the footer or a prompt. */
  bottom: number;
  /** What the list would show if it had the room. */
  listColumns: readonly Column[];
}

/** Where everything stands. The one source for Ink's layout, for scrolling and for wrapping. */
export function geometry(shape: Shape): Geometry {
  const { columns, rows, focus, listColumns } = shape;
  const bodyHeight = Math.max(1, rows - 1 - shape.bottom);
  const room = columns - 1 - READABLE;
  const full = columnsWidth(listColumns.filter((column) => column.rank < 5));
  const smallest = columnsWidth(fitColumns(listColumns, 0));
  let listWidth = Math.min(full, room);
  if (columns >= 140) listWidth = columnsWidth(fitColumns(listColumns, Math.floor(columns * 0.35)));
  if (listWidth < smallest || shape.zoom) listWidth = focus === 'list' ? columns : 0;
  const transcriptWidth = listWidth === columns ? 0 : columns - (listWidth === 0 ? 0 : listWidth + 1);
  return {
    tooSmall: columns < MIN_COLUMNS || rows < MIN_ROWS,
    listWidth,
    transcriptWidth,
    bodyHeight,
    listHeight: Math.max(1, bodyHeight - 1),
    transcriptHeight: Math.max(1, bodyHeight - 2),
  };
}
