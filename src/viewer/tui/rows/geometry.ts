import { fitColumns, type PlacedColumn, placedWidth } from '../../present/list.ts';
import type { Column } from '../../present/list-columns.ts';

/** Below this size the program only asks for more room. */
export const MIN_COLUMNS = 40;
export const MIN_ROWS = 10;

/** A narrower transcript is hard to read, so the list is hidden. */
const READABLE = 48;

/** From this width of the screen on, details are beside the transcript, if both keep these widths. */
const WIDE = 160;
const BESIDE_DETAILS = 90;
const LEAST_DETAILS = 40;
/** The details' largest share of the transcript's pane. */
const SHARE_OF_DETAILS = 0.4;

export interface Geometry {
  tooSmall: boolean;
  /** Cells of the list, 0 if hidden; one more cell separates it from the transcript. */
  listWidth: number;
  transcriptWidth: number;
  /** Cells of the details at the right edge, 0 if hidden; a blank and a line separate them from the transcript. */
  detailsWidth: number;
  /** The columns of the list, with their widths. */
  columns: readonly PlacedColumn[];
  /** Rows of the body: between the top line and the footer. */
  bodyHeight: number;
  /** Rows of the list without its titles, and of the transcript without its head. */
  listHeight: number;
  transcriptHeight: number;
}

export interface PaneShape {
  columns: number;
  rows: number;
  focus: 'list' | 'transcript';
  /** The focused pane has the full width. */
  zoom: boolean;
  /** The details may have a column. */
  hasDetails: boolean;
  /** Rows below the body: the footer or a prompt. */
  bottom: number;
  /** Columns that the list would show if they fit. */
  listColumns: readonly Column[];
  /** The user chose these columns: if they do not fit beside a transcript, the focused list takes the whole screen. */
  isChosen: boolean;
  /** A line above the list's titles says what it shows. */
  hasHead: boolean;
}

/** The sizes of the panes: the single source for painting, scrolling and wrapping. */
export function geometry(shape: PaneShape): Geometry {
  const { columns, rows, focus, listColumns } = shape;
  const bodyHeight = Math.max(1, rows - 1 - shape.bottom);
  const room = columns - 1 - READABLE;
  const isWide = columns >= 140;
  const wanted = isWide ? listColumns : listColumns.filter(isNeeded);
  const hasDetails = columns >= WIDE && shape.hasDetails && !shape.zoom;
  const fitting = fittingColumns(wanted, isWide ? Math.floor(columns * 0.4) : room, hasDetails ? columns : null);
  const hasLeft = shape.isChosen && fitting.length < wanted.length;
  let listWidth = placedWidth(fitting);
  if (listWidth > room || shape.zoom) listWidth = focus === 'list' ? columns : 0;
  else if (hasLeft && focus === 'list') listWidth = columns;
  const paneWidth = listWidth === columns ? 0 : columns - (listWidth === 0 ? 0 : listWidth + 1);
  const detailsWidth = hasDetails ? widthOfDetails(paneWidth) : 0;
  return {
    tooSmall: columns < MIN_COLUMNS || rows < MIN_ROWS,
    listWidth,
    transcriptWidth: paneWidth - (detailsWidth === 0 ? 0 : detailsWidth + 2),
    detailsWidth,
    columns: listWidth === columns ? fitColumns(listColumns, columns) : fitting,
    bodyHeight,
    listHeight: Math.max(1, bodyHeight - (shape.hasHead ? 2 : 1)),
    transcriptHeight: Math.max(1, bodyHeight - 2),
  };
}

/** Columns of this rank and above are the first to go; the details show what they show. */
const RANK_OF_SPARE = 5;

/**
 * The columns of the list in this room, or in less of it where that makes room for the details and costs only spare columns.
 * @param screen the cells of a screen that may have details
 */
function fittingColumns(wanted: readonly Column[], room: number, screen: number | null): PlacedColumn[] {
  const usual = fitColumns(wanted, room);
  if (screen === null) return usual;
  const least = Math.min(room, screen - 3 - BESIDE_DETAILS - LEAST_DETAILS);
  if (placedWidth(usual) <= least) return usual;
  const narrow = fitColumns(wanted.filter(isNeeded), least);
  return placedWidth(narrow) <= least && narrow.length === usual.filter(isNeeded).length ? narrow : usual;
}

const isNeeded = ({ rank }: Column): boolean => rank < RANK_OF_SPARE;

function widthOfDetails(paneWidth: number): number {
  const room = Math.min(paneWidth - 2 - BESIDE_DETAILS, Math.floor(paneWidth * SHARE_OF_DETAILS));
  return room < LEAST_DETAILS ? 0 : room;
}
