// node scripts/record.mjs: drives the built program over the fixtures by keys, and writes what it drew as an asciicast
// (docs/tour.cast) and its last screen as a picture (docs/screen.svg). The pauses in which a person would read are not
// waited for: they are added to the clock of the recording.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';

const COLUMNS = 120;
const ROWS = 34;
const root = fileURLToPath(new URL('..', import.meta.url));
const docs = join(root, 'docs');
mkdirSync(docs, { recursive: true });

/** Keys, what must be on the screen after them, and seconds to read it. */
const TOUR = [
  ['', '▌›assistant', 8],
  ['l', 't3 · 4/7', 6],
  ['l', 't4 · 5/7', 6],
  ['x', 'fold', 5],
  ['J', '3.jsonl:2', 6],
  ['J', '3.jsonl:3', 6],
  ['H', '2.jsonl', 7],
  ['L', '3.jsonl', 5],
  ['v', 'raw text', 8],
  ['v', '▾ {', 7],
  ['v', '›input', 6],
  ['v', 'loss mask', 9],
  ['v', 'chat', 4],
  ['/rate', 'rate', 5],
  ['\r', '/', 4],
  ['n', '/', 3],
  ['?', 'Move', 9],
  ['\x1b', 'score', 4],
  ['\x1b', 'j/k sample', 5],
  ['\r', 'h/l turn', 4],
  ['yl', 'copied', 6],
];

const { NO_COLOR: _, ...env } = process.env;
const pty = spawn(process.execPath, [join(root, 'dist/rollout-viewer.js'), 'fixtures/rollout_data'], {
  cols: COLUMNS,
  rows: ROWS,
  cwd: root,
  env: { ...env, TERM: 'xterm-256color' },
});
const terminal = new xterm.Terminal({ cols: COLUMNS, rows: ROWS, allowProposedApi: true });
const start = performance.now();
let added = 0;
const events = [];
pty.onData((data) => {
  events.push([Number(((performance.now() - start) / 1000 + added).toFixed(3)), 'o', data]);
  terminal.write(data);
});
terminal.onData((reply) => pty.write(reply));

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const line = (row) => terminal.buffer.active.getLine(row)?.translateToString(true) ?? '';
const screen = () => Array.from({ length: ROWS }, (_, row) => line(row)).join('\n');

for (const [keys, sees, seconds] of TOUR) {
  const before = events.length;
  pty.write(keys);
  for (let tries = 0; events.length === before || !screen().includes(sees); tries++) {
    if (tries > 250) throw new Error(`after ${JSON.stringify(keys)} nothing like ${sees}:\n${screen()}`);
    await pause(20);
  }
  await pause(150);
  added += seconds;
}

const PALETTE = ['#45475a', '#f38ba8', '#a6e3a1', '#f9e2af', '#89b4fa', '#cba6f7', '#94e2d5', '#bac2de'];
const [CELL, LINE] = [8.43, 18];
const inXml = (text) => text.replace(/[&<>]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[sign]);

/** The screen's cells as SVG: a run of cells that look alike is one text. */
function svg() {
  const out = [];
  for (let y = 0; y < ROWS; y++) {
    const row = terminal.buffer.active.getLine(y);
    let run = null;
    const close = () => {
      if (run === null || run.text.trim() === '') return;
      const { x, text, look, back, cells } = run;
      if (back)
        out.push(`<rect x="${x * CELL}" y="${y * LINE}" width="${cells * CELL}" height="${LINE}" fill="${back}"/>`);
      out.push(
        `<text x="${(x * CELL).toFixed(1)}" y="${y * LINE + 13}" textLength="${(cells * CELL).toFixed(1)}" ${look}>${inXml(text)}</text>`,
      );
    };
    for (let x = 0; x < COLUMNS; x++) {
      const cell = row.getCell(x);
      if (cell.getWidth() === 0) continue;
      const colour = cell.isFgDefault() ? '#cdd6f4' : PALETTE[cell.getFgColor() % 8];
      const back = cell.isBgDefault() ? '' : PALETTE[cell.getBgColor() % 8];
      const look = `fill="${colour}"${cell.isBold() ? ' font-weight="bold"' : ''}${cell.isDim() ? ' opacity="0.6"' : ''}`;
      if (run === null || run.look !== look || run.back !== back) {
        close();
        run = { x, text: '', look, back, cells: 0 };
      }
      run.text += cell.getChars() || ' ';
      run.cells += cell.getWidth();
    }
    close();
  }
  const [width, height] = [Math.ceil(COLUMNS * CELL), ROWS * LINE];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-12 -10 ${width + 24} ${height + 20}" font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" xml:space="preserve"><rect x="-12" y="-10" width="${width + 24}" height="${height + 20}" rx="8" fill="#1e1e2e"/>\n${out.join('\n')}\n</svg>\n`;
}

writeFileSync(join(docs, 'screen.svg'), svg());
events.push([Number(((performance.now() - start) / 1000 + added).toFixed(3)), 'o', '']);
pty.kill('SIGTERM');
const header = { version: 2, width: COLUMNS, height: ROWS, title: 'rollout-viewer' };
writeFileSync(join(docs, 'tour.cast'), `${[header, ...events].map((event) => JSON.stringify(event)).join('\n')}\n`);
process.exit(0);
