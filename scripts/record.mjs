// node scripts/record.mjs [--out=DIR] [NAME…]: drives the built program by keys over a run, and writes its screens as animations, docs/NAME.svg, and the last one of `retry` as a still, docs/screen.svg. The
// pauses for reading are only in the picture; the script does not wait for them.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { movingSvg, screenRows } from './moving-svg.mjs';
import { screenSvg } from './screen-svg.mjs';
import { plantedRun, playedRun, RECORDINGS } from './tour.mjs';

const COLUMNS = 120;
const ROWS = 34;
const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function record({ run: kind, args, steps }) {
  const run = kind === 'planted' ? await plantedRun(root) : playedRun(join(root, 'fixtures/rollout_data'));
  const { NO_COLOR: _, ...env } = process.env;
  const home = join(dirname(run.directory), 'home');
  const pty = spawn(process.execPath, [join(root, 'dist/rollout-viewer.js'), 'rollout_data', ...args], {
    cols: COLUMNS,
    rows: ROWS,
    cwd: dirname(run.directory),
    env: {
      ...env,
      TERM: 'xterm-256color',
      XDG_CONFIG_HOME: home,
      XDG_STATE_HOME: home,
      XDG_DATA_HOME: home,
      XDG_CACHE_HOME: home,
    },
  });
  const terminal = new xterm.Terminal({ cols: COLUMNS, rows: ROWS, allowProposedApi: true });
  let events = 0;
  const screens = [];
  pty.onData((data) => {
    events++;
    terminal.write(data);
  });
  terminal.onData((reply) => pty.write(reply));
  const line = (row) => terminal.buffer.active.getLine(row)?.translateToString(true) ?? '';
  const screen = () => Array.from({ length: ROWS }, (_, row) => line(row)).join('\n');
  const title = `rollout-viewer ${version}`;
  try {
    for (const { keys, sees, seconds, plays } of steps) {
      const before = events;
      // A key must be answered; without one the text may have been on the screen since the step before.
      const isSeen = () =>
        (keys === '' || events > before) && (typeof sees === 'string' ? screen().includes(sees) : sees.test(screen()));
      for (const key of keys) {
        pty.write(key);
        await pause(60);
      }
      if (plays === true) run.play();
      for (let tries = 0; !isSeen(); tries++) {
        if (tries > 9000) throw new Error(`after ${JSON.stringify(keys)} nothing like ${sees}:\n${screen()}`);
        await pause(20);
      }
      await pause(250);
      screens.push({ rows: screenRows(terminal), seconds });
    }
    return { moving: movingSvg(screens, terminal, title), still: screenSvg(terminal, title) };
  } finally {
    const isGone = new Promise((resolve) => pty.onExit(resolve));
    pty.kill('SIGTERM');
    await isGone;
    rmSync(dirname(run.directory), { recursive: true, force: true });
  }
}

const names = process.argv.slice(2).filter((name) => !name.startsWith('--'));
const out = process.argv.find((one) => one.startsWith('--out='))?.slice('--out='.length) ?? join(root, 'docs');
for (const name of names.length === 0 ? Object.keys(RECORDINGS) : names) {
  const { moving, still } = await record(RECORDINGS[name]);
  writeFileSync(join(out, `${name}.svg`), moving);
  // The picture of docs/reading.md.
  if (name === 'retry') writeFileSync(join(out, 'screen.svg'), still);
}
process.exit(0);
