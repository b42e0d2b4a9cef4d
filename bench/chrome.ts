import { Writable } from 'node:stream';
import { Box, render, Text } from 'ink';
import { createElement } from 'react';
import { COLOURS, styled } from '../src/viewer/present/theme.ts';
import { type Frame, paint } from '../src/viewer/tui/screen/painter.ts';
import { InkChrome } from '../src/viewer/tui/shell/ink-chrome.tsx';
import type { Chrome } from '../src/viewer/tui/views/chrome.ts';
import { drawPlainly } from '../src/viewer/tui/views/draw-plainly.tsx';
import { figure } from './support/measure.ts';

const COLUMNS = 200;
const ROWS = 50;
const RUNS = 200;
/** Frames before the compiler has seen enough of them. */
const WARM = 30;

const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** ms of a frame, the median. @param draw takes the number of the frame, which every line shows */
function frameMs(draw: (frame: number) => void): number {
  const times: number[] = [];
  for (let frame = 0; frame < RUNS + WARM; frame++) {
    const start = performance.now();
    draw(frame);
    if (frame >= WARM) times.push(performance.now() - start);
  }
  return median(times);
}

const lineAt = (frame: number, row: number): string =>
  styled(COLOURS, 'accent', `${frame} ${row} `) + 'a word and another one '.repeat(8).slice(0, COLUMNS - 12);

const chromeAt = (frame: number): Chrome => ({
  columns: COLUMNS,
  tooSmall: null,
  top: { left: [['heading', ` rollout_data ${frame}`]], right: [['quiet', 'indexing 50 % ']] },
  editor: null,
  foot: [
    {
      left: [
        ['accent', ' h/l'],
        ['quiet', ' turn '],
      ],
      right: [['quiet', `t${frame}/t40   ~62 % trained `]],
    },
  ],
  prompt: null,
});

/** The cost of the lines around the panes, drawn plainly and by Ink, and the would-be cost of the panes. */
export async function run(): Promise<void> {
  const plain = frameMs((frame) => drawPlainly(chromeAt(frame), COLOURS));
  const chrome = new InkChrome(COLOURS, () => {});
  const inInk = frameMs((frame) => chrome.draw(chromeAt(frame)));
  chrome.close();

  const output = Object.assign(new Writable({ write: (_chunk, _encoding, done) => done() }), {
    columns: COLUMNS,
    rows: ROWS,
  }) as unknown as NodeJS.WriteStream;
  const body = (frame: number) =>
    createElement(
      Box,
      { flexDirection: 'column', width: COLUMNS },
      ...Array.from({ length: ROWS }, (_, row) =>
        createElement(Text, { key: row, wrap: 'truncate' }, lineAt(frame, row)),
      ),
    );
  const ink = render(body(0), { stdout: output, debug: true, patchConsole: false, exitOnCtrlC: false });
  const whole = frameMs((frame) => ink.rerender(body(frame)));
  ink.unmount();

  let before: Frame | null = null;
  const painted = frameMs((frame) => {
    const lines = Array.from({ length: ROWS }, (_, row) => lineAt(frame, row));
    const rect = { x: 0, y: 0, width: COLUMNS, height: ROWS };
    const next: Frame = { columns: COLUMNS, rows: ROWS, chrome: [], panes: [{ id: 'body', rect, lines }] };
    paint(before, next);
    before = next;
  });
  figure('lines around the panes, plainly', `${plain.toFixed(2)} ms`, `Ink: ${inInk.toFixed(2)} ms`, plain / inInk, '');
  figure(
    'a whole frame of 200 × 50, painted',
    `${painted.toFixed(2)} ms`,
    `Ink: ${whole.toFixed(1)} ms`,
    painted / whole,
    '',
  );
}
