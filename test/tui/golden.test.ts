import { basename, dirname } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { cellWidth } from '../../src/text/graphemes.ts';
import { App, type Cell } from '../driver/app.ts';
import { smallRun, writeDump } from '../support/dump.ts';

const run = writeDump(smallRun(3, 8));
afterAll(() => run.remove());

const SIZES = [
  [80, 24],
  [120, 36],
  [200, 50],
] as const;

const LOOKS: Record<string, Record<string, string>> = {
  colour: { TERM: 'xterm-256color', COLORTERM: 'truecolor' },
  '16-colours': { TERM: 'xterm-16color', COLORTERM: '' },
  'no-color': { TERM: 'xterm-256color', NO_COLOR: '1' },
};

const VIEWS = ['chat', 'raw', 'json', 'fields'] as const;

function looks(cell: Cell): string {
  const words = [];
  if (cell.colour !== null) words.push(`fg${cell.colour}`);
  if (cell.background !== null) words.push(`bg${cell.background}`);
  for (const word of ['bold', 'dim', 'inverse', 'underline'] as const) if (cell[word]) words.push(word);
  return words.join('+');
}

/** The screen, and below it how each run of cells that is not plain is drawn. */
function picture(app: App, columns: number): string {
  const lines = app.lines();
  const styles: string[] = [];
  lines.forEach((line, y) => {
    const runs: string[] = [];
    let from = 0;
    let look = '';
    const end = Math.min(columns, cellWidth(line));
    for (let x = 0; x <= end; x++) {
      const next = x === end ? '' : looks(app.cell(x, y));
      if (next === look) continue;
      if (look !== '') runs.push(`${from}-${x - 1} ${look}`);
      from = x;
      look = next;
    }
    if (runs.length > 0) styles.push(`${y}: ${runs.join(', ')}`);
  });
  return `${lines.join('\n')}\n${'─'.repeat(columns)}\n${styles.join('\n')}\n`;
}

for (const [columns, rows] of SIZES) {
  for (const [look, env] of Object.entries(LOOKS)) {
    test(`each view at ${columns}×${rows}, ${look}`, async () => {
      const app = App.start([basename(run.dir)], { columns, rows, env, cwd: dirname(run.dir) });
      const matches = (view: string) =>
        expect(picture(app, columns)).toMatchFileSnapshot(`../golden/${view}-${columns}x${rows}-${look}.txt`);
      try {
        await app.sees('▌›assistant');
        // Groups are known, and every line is counted, before a picture is taken.
        app.press('4', 'v');
        await app.sees('recomputed from score');
        await app.until(() => !/indexing|checking/.test(app.screen()), 'the end of indexing');
        await matches('details');
        const signs = [/▌›assistant/, /▌›<think>/, /›▾ \{/, /›input/];
        for (const [i, view] of VIEWS.entries()) {
          app.press('v');
          await app.sees(signs[i]!);
          await matches(view);
        }
      } finally {
        await app.stop();
      }
    });
  }
}
