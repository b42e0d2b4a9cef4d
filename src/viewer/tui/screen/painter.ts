import { itemAt } from '../../../core/lists/at.ts';

/** A rectangle of the screen, in cells from 0. */
export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Lines drawn over the chrome. A line takes at most `rect.width` cells and contains no control sequence except SGR. */
export interface Pane {
  id: string;
  rect: Rect;
  lines: readonly string[];
}

export interface Frame {
  columns: number;
  rows: number;
  /** Lines above and below the panes, one string per row. */
  chrome: readonly string[];
  panes: readonly Pane[];
}

const BEGIN = '\x1b[?2026h';
const END = '\x1b[?2026l';
const ASCII = /^[\x1b\x20-\x7e]*$/;

export const sameRect = (a: Rect, b: Rect): boolean =>
  a.x === b.x && a.y === b.y && a.width === b.width && a.height === b.height;

function sameLayout(a: Frame, b: Frame): boolean {
  return (
    a.columns === b.columns &&
    a.rows === b.rows &&
    a.panes.length === b.panes.length &&
    a.panes.every((pane, i) => pane.id === itemAt(b.panes, i).id && sameRect(pane.rect, itemAt(b.panes, i).rect))
  );
}

/** Resets styles after a line; only a line with SGR codes needs it. */
const closed = (line: string): string => (line.includes('\x1b') && !line.endsWith('\x1b[0m') ? `${line}\x1b[0m` : line);

/**
 * The bytes that turn one frame into the next: only changed rows, in one synchronized update; '' if nothing changed. A row is rewritten in
 * place and the screen is never cleared, which would flicker and, as CSI 3J, wipe the user's scrollback. Panes are written from left to
 * right at absolute columns, so that a terminal which draws an emoji wider than expected spoils only its own line.
 */
export function paint(previous: Frame | null, next: Frame): string {
  const whole = previous === null || !sameLayout(previous, next);
  const panes = [...next.panes].map((pane, i) => ({ pane, before: whole ? null : previous.panes[i] }));
  panes.sort((a, b) => a.pane.rect.x - b.pane.rect.x);
  let out = '';
  for (let row = 0; row < next.rows; row++) {
    const chrome = next.chrome[row] ?? '';
    let rewrite = whole || (previous.chrome[row] ?? '') !== chrome;
    // Erased first: behind a full line the cursor still is in its last cell, which would be erased with the rest.
    if (rewrite) out += `\x1b[${row + 1};1H\x1b[K${closed(chrome)}`;
    for (const { pane, before } of panes) {
      const at = row - pane.rect.y;
      if (at < 0 || at >= pane.rect.height) continue;
      const line = pane.lines[at] ?? '';
      if (!rewrite && before!.lines[at] === line) continue;
      if (!rewrite && line === '' && before!.lines[at] === undefined) continue;
      out += `\x1b[${row + 1};${pane.rect.x + 1}H\x1b[${pane.rect.width}X${closed(line)}`;
      // This line or the one it replaces may have overdrawn the panes to the right.
      if (!rewrite && !(ASCII.test(line) && ASCII.test(before!.lines[at] ?? ''))) rewrite = true;
    }
  }
  return out === '' ? '' : BEGIN + out + END;
}
