import xterm from '@xterm/headless';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Frame, paint } from '../../../src/viewer/tui/screen/painter.ts';

const COLUMNS = 20;
const ROWS = 4;

async function shown(terminal: xterm.Terminal, bytes: string): Promise<string[]> {
  await new Promise<void>((resolve) => terminal.write(bytes, resolve));
  return Array.from({ length: ROWS }, (_, row) =>
    terminal.buffer.active.getLine(row)!.translateToString(true).trimEnd(),
  );
}

/** The expected frame: the chrome, with the panes laid over it. */
function expected(frame: Frame): string[] {
  return Array.from({ length: frame.rows }, (_, row) => {
    let line = (frame.chrome[row] ?? '').padEnd(frame.columns);
    for (const { rect, lines } of frame.panes) {
      const at = row - rect.y;
      if (at < 0 || at >= rect.height) continue;
      line = line.slice(0, rect.x) + (lines[at] ?? '').padEnd(rect.width) + line.slice(rect.x + rect.width);
    }
    return line.trimEnd();
  });
}

const word = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '|'), maxLength: 8 });
const line = fc.oneof(word, fc.string({ unit: fc.constantFrom('a', 'b'), minLength: COLUMNS, maxLength: COLUMNS }));
const frame = fc
  .record({
    chrome: fc.array(line, { minLength: ROWS, maxLength: ROWS }),
    left: fc.array(word, { maxLength: 3 }),
    right: fc.array(word, { maxLength: 3 }),
    split: fc.constantFrom(8, 11),
  })
  .map(
    ({ chrome, left, right, split }): Frame => ({
      columns: COLUMNS,
      rows: ROWS,
      chrome,
      panes: [
        { id: 'right', rect: { x: split, y: 1, width: COLUMNS - split, height: 3 }, lines: right },
        { id: 'left', rect: { x: 0, y: 1, width: 8, height: 3 }, lines: left },
      ],
    }),
  );

describe('paint', () => {
  test('whatever frames follow each other, the terminal shows the last one', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { minLength: 1, maxLength: 6 }), async (frames) => {
        const terminal = new xterm.Terminal({ cols: COLUMNS, rows: ROWS, allowProposedApi: true });
        let before: Frame | null = null;
        for (const next of frames) {
          expect(await shown(terminal, paint(before, next))).toEqual(expected(next));
          before = next;
        }
        terminal.dispose();
      }),
      { numRuns: 60 },
    );
  });

  test('writes only the lines that changed, in one synchronized update', () => {
    const rect = { x: 0, y: 0, width: 5, height: 3 };
    const before: Frame = {
      columns: 5,
      rows: 3,
      chrome: [],
      panes: [{ id: 'a', rect, lines: ['one', 'two', 'three'] }],
    };
    const after: Frame = { ...before, panes: [{ id: 'a', rect, lines: ['one', '2', 'three'] }] };
    expect(paint(before, before)).toBe('');
    expect(paint(before, after)).toBe('\x1b[?2026h\x1b[2;1H\x1b[5X2\x1b[?2026l');
  });

  test('erases a line before it writes it: behind a full line, tmux erases its last character as well', () => {
    const bytes = paint(null, { columns: 4, rows: 1, chrome: ['full'], panes: [] });
    expect(bytes).toBe('\x1b[?2026h\x1b[1;1H\x1b[Kfull\x1b[?2026l');
  });

  test('a line with wide characters is followed by what is to its right, which it may have overdrawn', () => {
    const panes = (text: string): Frame['panes'] => [
      { id: 'a', rect: { x: 0, y: 0, width: 4, height: 1 }, lines: [text] },
      { id: 'b', rect: { x: 4, y: 0, width: 4, height: 1 }, lines: ['same'] },
    ];
    const bytes = paint(
      { columns: 8, rows: 1, chrome: [], panes: panes('a') },
      { columns: 8, rows: 1, chrome: [], panes: panes('👩‍👧') },
    );
    expect(bytes).toContain('same');
  });
});
