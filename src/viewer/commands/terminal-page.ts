import { fitLeft } from '../../core/text/fit.ts';
import stringWidth from '../../core/text/string-width.ts';
import { wrappedLines } from '../../core/text/wrap.ts';

const INDENT = '  ';
/** A first column wider than this has its text below it. */
const WIDEST_TERM = 24;

/** A page of docs/ for a terminal of this width: headings at the margin, text, code and tables indented; without comments and pictures. */
export function terminalPage(markdown: string, width: number): string {
  const lines = markdown
    .replace(/<!--.*?-->\n?/gs, '')
    .replace(/^!\[.*\n+/gm, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\*\*([^*]+)\*\*/g, '$1')
    .split('\n');
  const page: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const kind = kindOf(lines[at] ?? '');
    let end = at + 1;
    if (kind === 'code') while (end < lines.length && !lines[end]?.startsWith('```')) end++;
    else if (kind !== 'heading') while (end < lines.length && kindOf(lines[end] ?? '') === kind) end++;
    page.push(...BLOCKS[kind](lines.slice(at, end), width), '');
    at = kind === 'code' ? end + 1 : end;
  }
  return `${page
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .replace(/^\n+|\n+$/g, '')}\n`;
}

type BlockKind = 'heading' | 'code' | 'table' | 'blank' | 'text';

function kindOf(line: string): BlockKind {
  if (line.startsWith('```')) return 'code';
  if (line.startsWith('#')) return 'heading';
  if (line.startsWith('|')) return 'table';
  return line.trim() === '' ? 'blank' : 'text';
}

const BLOCKS: Readonly<Record<BlockKind, (lines: readonly string[], width: number) => readonly string[]>> = {
  heading: (lines, width) => lines.flatMap((line) => beside('', line.replace(/^#+ /, ''), width)),
  code: (lines) => lines.slice(1).map((line) => `${INDENT.repeat(2)}${line}`.trimEnd()),
  blank: () => [],
  text: (lines, width) => lines.flatMap((line) => hanging(line, width)),
  table: tableLines,
};

/** A paragraph, or an item of a list, whose further lines begin below its text. */
function hanging(line: string, width: number): string[] {
  const [mark = ''] = /^\s*(?:[-*]|\d+\.) /.exec(line) ?? [];
  return beside(`${INDENT}${mark}`, line.slice(mark.length), width);
}

/** A text in lines of this width, the first of them after a lead, the others below the same column. */
export function beside(lead: string, text: string, width: number): string[] {
  const column = stringWidth(lead);
  return wrappedLines(text, Math.max(20, width - column)).map((line, i) =>
    `${i === 0 ? lead : ' '.repeat(column)}${line}`.trimEnd(),
  );
}

function tableLines(lines: readonly string[], width: number): string[] {
  const rows = lines
    .filter((line) => !/^\|(?:[-:]+\|)+$/.test(line))
    .map((line) => line.replace(/^\| ?| ?\|$/g, '').split(/ ?(?<!\\)\| ?/))
    .map((cells) => cells.map((cell) => cell.replaceAll('\\|', '|').trim()))
    .filter((cells) => cells.some((cell) => cell !== ''));
  // Headings of columns may be empty, and so may whole columns.
  const isUsed = (column: number): boolean => rows.some((cells) => (cells[column] ?? '') !== '');
  const shown = rows.map((cells) => cells.filter((_, column) => isUsed(column)));
  // A cell that lists keys has one of them on each line.
  if (shown.some((cells) => cells.some((cell) => cell.includes(' · '))))
    return shown.flatMap((cells) => listLines(cells, width));
  const columns = Math.max(...shown.map(({ length }) => length));
  const widths = Array.from({ length: columns }, (_, at) =>
    Math.max(...shown.map((cells) => stringWidth(cells[at] ?? ''))),
  );
  const whole = widths.reduce((sum, one) => sum + one + 2, INDENT.length);
  return whole <= width
    ? shown.map((cells) => `${INDENT}${cells.map((cell, i) => fitLeft(cell, widths[i] ?? 0)).join('  ')}`.trimEnd())
    : shown.flatMap((cells) => termLines(cells, Math.min(widths[0] ?? 0, WIDEST_TERM), width));
}

const listLines = ([name = '', ...cells]: readonly string[], width: number): string[] => [
  `${INDENT}${name}`,
  ...cells.flatMap((cell) => cell.split(' · ')).flatMap((item) => beside(INDENT.repeat(2), item, width)),
];

/** A row as a term and its text, for a table that is too wide. */
function termLines([term = '', ...cells]: readonly string[], column: number, width: number): string[] {
  const text = cells.filter((cell) => cell !== '').join('  ');
  if (stringWidth(term) <= column) return beside(`${INDENT}${fitLeft(term, column)}  `, text, width);
  return [...beside(INDENT, term, width), ...beside(INDENT.repeat(2), text, width)];
}
