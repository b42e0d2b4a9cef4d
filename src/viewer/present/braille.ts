import { itemAt } from '../../core/lists/at.ts';
import type { Piece } from './line.ts';

/** A point of a chart; y is finite. */
export interface ChartPoint {
  x: number;
  y: number;
}

/** Dots of a cell by column and row, as Unicode numbers them. */
const DOTS = [
  [0x01, 0x02, 0x04, 0x40],
  [0x08, 0x10, 0x20, 0x80],
] as const;

/**
 * A line through points in `width` × `height` cells of 2 × 4 dots, from the lowest value at the bottom to the highest at the top. If
 * several points fall on one column of dots, everything between the least and the greatest is drawn. A gap in `x` stays empty.
 * @param points by rising x
 */
export function brailleChart(points: readonly ChartPoint[], width: number, height: number): string[] {
  const cells = Array.from({ length: height }, () => new Uint8Array(width));
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || width < 1 || height < 1) return cells.map(() => ' '.repeat(width));
  const low = points.reduce((least, { y }) => Math.min(least, y), Number.POSITIVE_INFINITY);
  const high = points.reduce((most, { y }) => Math.max(most, y), Number.NEGATIVE_INFINITY);
  const [columns, rows] = [width * 2, height * 4];
  const columnOf = (x: number): number =>
    last.x === first.x ? 0 : Math.round(((x - first.x) / (last.x - first.x)) * (columns - 1));
  const rowOf = (y: number): number =>
    high === low ? rows >> 1 : Math.round((1 - (y - low) / (high - low)) * (rows - 1));
  const dot = (column: number, row: number): void => {
    itemAt(cells, row >> 2)[column >> 1]! |= itemAt(itemAt(DOTS, column & 1), row & 3);
  };
  const usual = usualGap(points);
  for (const [i, { x, y }] of points.entries()) {
    const [column, row] = [columnOf(x), rowOf(y)];
    dot(column, row);
    const before = points[i - 1];
    if (before === undefined || x - before.x > usual * 1.5) continue;
    const [from, start] = [columnOf(before.x), rowOf(before.y)];
    const steps = Math.max(column - from, Math.abs(row - start));
    for (let step = 1; step < steps; step++)
      dot(from + Math.round(((column - from) * step) / steps), start + Math.round(((row - start) * step) / steps));
  }
  return cells.map((line) =>
    Array.from(line, (bits) => (bits === 0 ? ' ' : String.fromCharCode(0x2800 + bits))).join(''),
  );
}

/** The most common distance between neighbouring points. */
function usualGap(points: readonly ChartPoint[]): number {
  const gaps = points
    .slice(1)
    .map(({ x }, i) => x - itemAt(points, i).x)
    .sort((a, b) => a - b);
  return gaps[gaps.length >> 1] ?? 1;
}

/**
 * The chart with its range at the left, the highest value above the lowest, and the first and last x below it.
 * @param at the x of the cursor: its point is marked, and its value is shown below it
 */
export function labelledChart(
  points: readonly ChartPoint[],
  width: number,
  height: number,
  textOf: (value: number) => string,
  at: number | null = null,
): Piece[][] {
  const [start, end] = [points[0], points.at(-1)];
  if (start === undefined || end === undefined) return [];
  const least = points.reduce((known, { y }) => Math.min(known, y), Number.POSITIVE_INFINITY);
  const most = points.reduce((known, { y }) => Math.max(known, y), Number.NEGATIVE_INFINITY);
  const [low, high] = [textOf(least), textOf(most)];
  const room = Math.max(low.length, high.length);
  const inner = Math.max(1, width - room - 2);
  const here = points.find(({ x }) => x === at);
  const column =
    here === undefined || start.x === end.x ? 0 : Math.round(((here.x - start.x) / (end.x - start.x)) * (inner - 1));
  const row =
    here === undefined || most === least ? height >> 1 : Math.round(((most - here.y) / (most - least)) * (height - 1));
  const lines = brailleChart(points, inner, height).map((line, i): Piece[] => {
    const label = i === 0 ? high : i === height - 1 && low !== high ? low : '';
    const axis: Piece = ['quiet', `${label.padStart(room)} ${i === 0 ? '┐' : i === height - 1 ? '┘' : '│'}`];
    return here === undefined || i !== row
      ? [axis, ['accent', line]]
      : [axis, ['accent', line.slice(0, column)], ['strong', '●'], ['accent', line.slice(column + 1)]];
  });
  const [first, last] = [String(start.x), String(end.x)];
  const gap = Math.max(1, inner - first.length - last.length);
  const scale = `${first}${first === last ? '' : ' '.repeat(gap) + last}`;
  if (here === undefined) return [...lines, [['quiet', ' '.repeat(room + 2) + scale]]];
  // The value takes the place of what it covers.
  const text = `▲ ${here.x}: ${textOf(here.y)}`;
  const from = Math.max(0, Math.min(column, inner - text.length));
  const rest = scale.padEnd(inner);
  const before = from < first.length ? ' '.repeat(from) : rest.slice(0, from);
  const after = from + text.length > inner - last.length ? '' : rest.slice(from + text.length);
  return [
    ...lines,
    [
      ['quiet', ' '.repeat(room + 2) + before],
      ['strong', text],
      ['quiet', after],
    ],
  ];
}
