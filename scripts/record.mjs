// node scripts/record.mjs: drives the built program by keys over a copy of the fixtures, with a training run and a model that
// are played to it, and writes what it drew as an asciicast (docs/tour.cast) and its last screen as a picture (docs/screen.svg).
// The pauses in which a person would read are not waited for: they are added to the clock of the recording.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { model, playedRun, TOUR } from './tour.mjs';

const COLUMNS = 120;
const ROWS = 34;
const root = fileURLToPath(new URL('..', import.meta.url));
const docs = join(root, 'docs');
mkdirSync(docs, { recursive: true });

const run = playedRun(join(root, 'fixtures/rollout_data'));
const { url, close } = await model();
const { NO_COLOR: _, ...env } = process.env;
const home = join(dirname(run.directory), 'home');
const args = ['rollout_data', '--sandbox', 'auto', '--model-url', url, '--model', 'qwen3-8b'];
const pty = spawn(process.execPath, [join(root, 'dist/rollout-viewer.js'), ...args], {
  cols: COLUMNS,
  rows: ROWS,
  cwd: dirname(run.directory),
  env: { ...env, TERM: 'xterm-256color', XDG_CONFIG_HOME: home, XDG_STATE_HOME: home, XDG_DATA_HOME: home },
});
const terminal = new xterm.Terminal({ cols: COLUMNS, rows: ROWS, allowProposedApi: true });
const start = performance.now();
let added = 0;
const events = [];
const now = () => Number(((performance.now() - start) / 1000 + added).toFixed(3));
pty.onData((data) => {
  events.push([now(), 'o', data]);
  terminal.write(data);
});
terminal.onData((reply) => pty.write(reply));

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const line = (row) => terminal.buffer.active.getLine(row)?.translateToString(true) ?? '';
const screen = () => Array.from({ length: ROWS }, (_, row) => line(row)).join('\n');

const PALETTE = ['#45475a', '#f38ba8', '#a6e3a1', '#f9e2af', '#89b4fa', '#cba6f7', '#94e2d5', '#bac2de'];
const [CELL, LINE] = [8.43, 18];
const inXml = (text) => text.replace(/[&<>]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[sign]);

for (const { keys, sees, seconds, plays } of TOUR) {
  const before = events.length;
  const isSeen = () =>
    events.length > before && (typeof sees === 'string' ? screen().includes(sees) : sees.test(screen()));
  // What is typed into a prompt is typed; single keys are pressed at once.
  for (const key of keys.length > 3 ? keys : [keys]) {
    pty.write(key);
    if (keys.length > 3) await pause(60);
  }
  if (plays === true) run.play();
  for (let tries = 0; !isSeen(); tries++) {
    if (tries > 1000) throw new Error(`after ${JSON.stringify(keys)} nothing like ${sees}:\n${screen()}`);
    await pause(20);
  }
  await pause(250);
  added += seconds;
}

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

events.push([now(), 'o', '']);
pty.kill('SIGTERM');
writeFileSync(join(docs, 'screen.svg'), svg());
const header = { version: 2, width: COLUMNS, height: ROWS, title: 'rollout-viewer' };
writeFileSync(join(docs, 'tour.cast'), `${[header, ...events].map((event) => JSON.stringify(event)).join('\n')}\n`);
close();
rmSync(dirname(run.directory), { recursive: true, force: true });
process.exit(0);
