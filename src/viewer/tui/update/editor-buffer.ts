import { itemAt, lastItem } from '../../../core/lists/at.ts';
import { graphemes } from '../../../core/text/graphemes.ts';
import type { Buffer } from '../state/editor.ts';

/** The cursor is at the start. */
export const bufferOf = (text: string): Buffer => ({ lines: text.split('\n'), row: 0, column: 0 });

export const editorText = ({ lines }: Buffer): string => lines.join('\n');

const INDENT = 4;

const lineOf = ({ lines, row }: Buffer): string => itemAt(lines, row);

/** Offsets at which the cursor may be in a line: between graphemes. */
function stops(line: string): number[] {
  return [0, ...graphemes(line).ends];
}

const before = (line: string, column: number): number => stops(line).findLast((stop) => stop < column) ?? 0;
const behind = (line: string, column: number): number => stops(line).find((stop) => stop > column) ?? line.length;

/** Replaces the text between two positions; the cursor goes after the insertion. */
function splice(buffer: Buffer, from: CursorPlace, to: CursorPlace, text: string): Buffer {
  const { lines } = buffer;
  const put = (itemAt(lines, from.row).slice(0, from.column) + text).split('\n');
  const column = lastItem(put).length;
  put[put.length - 1] += itemAt(lines, to.row).slice(to.column);
  return {
    lines: [...lines.slice(0, from.row), ...put, ...lines.slice(to.row + 1)],
    row: from.row + put.length - 1,
    column,
  };
}

type CursorPlace = Pick<Buffer, 'row' | 'column'>;

export const insert = (buffer: Buffer, text: string): Buffer => splice(buffer, buffer, buffer, text);

/** A new line keeps the indentation of this one; after a colon, as in Python, it is one step deeper. */
export function newline(buffer: Buffer): Buffer {
  const head = lineOf(buffer).slice(0, buffer.column);
  const indent = /^[ \t]*/.exec(head)![0];
  return insert(buffer, `\n${indent}${/:\s*$/.test(head) ? ' '.repeat(INDENT) : ''}`);
}

export const indent = (buffer: Buffer): Buffer => insert(buffer, ' '.repeat(INDENT - (buffer.column % INDENT)));

export function dedent(buffer: Buffer): Buffer {
  const line = lineOf(buffer);
  const count = /^(?:\t| {0,4})/.exec(line)![0].length;
  const lines = buffer.lines.with(buffer.row, line.slice(count));
  return { ...buffer, lines, column: Math.max(0, buffer.column - count) };
}

export function backspace(buffer: Buffer): Buffer {
  const { row, column } = buffer;
  const head = lineOf(buffer).slice(0, column);
  if (column === 0) return row === 0 ? buffer : splice(buffer, endOf(buffer, row - 1), buffer, '');
  // Spaces inserted by indentation are deleted a step at a time.
  const isIndented = head.trim() === '' && column % INDENT === 0 && head.endsWith(' '.repeat(INDENT));
  const start = isIndented ? column - INDENT : before(lineOf(buffer), column);
  return splice(buffer, { row, column: start }, buffer, '');
}

/** Deletes the character before the cursor. */
export const eraseLeft = (buffer: Buffer): Buffer =>
  splice(buffer, { row: buffer.row, column: before(lineOf(buffer), buffer.column) }, buffer, '');

export function deleteNext(buffer: Buffer): Buffer {
  const { row, column, lines } = buffer;
  const line = lineOf(buffer);
  if (column < line.length) return splice(buffer, buffer, { row, column: behind(line, column) }, '');
  return row === lines.length - 1 ? buffer : splice(buffer, buffer, { row: row + 1, column: 0 }, '');
}

const endOf = ({ lines }: Buffer, row: number): CursorPlace => ({ row, column: itemAt(lines, row).length });

/** Deletes to the end of the line; at its end, the line break. */
export const killRight = (buffer: Buffer): Buffer =>
  buffer.column === lineOf(buffer).length ? deleteNext(buffer) : splice(buffer, buffer, endOf(buffer, buffer.row), '');

export const killLeft = (buffer: Buffer): Buffer => splice(buffer, { row: buffer.row, column: 0 }, buffer, '');

export function killWord(buffer: Buffer): Buffer {
  if (buffer.column === 0) return backspace(buffer);
  return splice(buffer, wordLeft(buffer), buffer, '');
}

export function left(buffer: Buffer): Buffer {
  const { row, column } = buffer;
  if (column > 0) return { ...buffer, column: before(lineOf(buffer), column) };
  return row === 0 ? buffer : { ...buffer, ...endOf(buffer, row - 1) };
}

export function right(buffer: Buffer): Buffer {
  const { row, column, lines } = buffer;
  const line = lineOf(buffer);
  if (column < line.length) return { ...buffer, column: behind(line, column) };
  return row === lines.length - 1 ? buffer : { ...buffer, row: row + 1, column: 0 };
}

export function wordLeft(buffer: Buffer): Buffer {
  if (buffer.column === 0) return left(buffer);
  const head = lineOf(buffer).slice(0, buffer.column);
  const word = /(?:[\p{L}\p{N}_]+|[^\p{L}\p{N}_\s]+)?\s*$/u.exec(head)![0];
  return { ...buffer, column: buffer.column - word.length };
}

export function wordRight(buffer: Buffer): Buffer {
  const line = lineOf(buffer);
  if (buffer.column === line.length) return right(buffer);
  const word = /^\s*(?:[\p{L}\p{N}_]+|[^\p{L}\p{N}_\s]+)?/u.exec(line.slice(buffer.column))![0];
  return { ...buffer, column: buffer.column + Math.max(1, word.length) };
}

/** To the first nonblank character of the line; from there, to its start. */
export function home(buffer: Buffer): Buffer {
  const start = /^\s*/.exec(lineOf(buffer))![0].length;
  return { ...buffer, column: buffer.column === start ? 0 : start };
}

export const lineStart = (buffer: Buffer): Buffer => ({ ...buffer, column: 0 });
export const end = (buffer: Buffer): Buffer => ({ ...buffer, ...endOf(buffer, buffer.row) });
export const textStart = (buffer: Buffer): Buffer => ({ ...buffer, row: 0, column: 0 });
export const textEnd = (buffer: Buffer): Buffer => ({ ...buffer, ...endOf(buffer, buffer.lines.length - 1) });
