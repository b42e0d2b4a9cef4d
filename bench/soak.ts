import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rolloutViewer } from '../test/program.ts';
import { App } from '../test/support/driver/app.ts';
import { bin, cpuSeconds, figure, percentile, residentMegabytes, root } from './support/measure.ts';
import { soakSandbox } from './support/sandbox-soak.ts';

const SECONDS = Number(process.env.SOAK_SECONDS ?? 300);
const LINES_A_SECOND = 200;
const FILES = 50;
const COLUMNS = 200;
const ROWS = 50;

/** `step sample score` of every row; the score of a line that is no record is null. */
type Lines = Map<string, number | null>;

interface Written {
  lines: number;
  counts: Record<string, number>;
  truth: Record<string, (number | null)[]>;
}

export async function run(): Promise<void> {
  await soakSandbox(Number(process.env.SANDBOX_SOAK_SECONDS ?? 600));
  await soakViewer();
}

/** A viewer beside a writer that behaves badly, for minutes: it must end with exactly the writer's lines, be quick all the time, and not grow. */
async function soakViewer(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'rollout-viewer-soak-'));
  const marks = new Map<string, number>();
  const shown = new Map<string, number>();
  const writer = startWriter(directory, (mark, at) => marks.set(mark, at));
  await writer.ready;
  const app = App.start([directory], {
    columns: COLUMNS,
    rows: ROWS,
    command: [process.execPath, bin],
    onData: (data) => {
      for (const [mark] of data.matchAll(/1\.\d{4}/g)) {
        if (!shown.has(mark)) shown.set(mark, performance.timeOrigin + performance.now());
      }
    },
  });
  try {
    await app.sees(`${FILES + 1} steps`);
    await app.sees(/▌›assistant/);
    // The list has the keys, the cursor is on the first row of the file with the marked lines, a third down the list.
    app.press('Tab');
    const memory = watchMemory(app.pid);
    const cpu = cpuSeconds(app.pid);
    writer.go();
    const written = await writer.written;
    const used = cpuSeconds(app.pid) - cpu;
    const looks = memory();
    await judge(app, directory, written);
    latency(marks, shown);
    growth(looks);
    console.log(
      `written: ${written.lines} lines in ${SECONDS} s over ${FILES} files; ${Object.entries(written.counts)
        .map(([name, count]) => `${count} ${name}`)
        .join(', ')}; the viewer used ${((used / SECONDS) * 100).toFixed(0)} % of a core`,
    );
  } finally {
    writer.kill();
    await app.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

function startWriter(directory: string, marked: (mark: string, at: number) => void) {
  const script = join(root, 'bench/support/soak-writer.mjs');
  const child = spawn(process.execPath, [script, directory, ...[SECONDS, LINES_A_SECOND, FILES].map(String)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let isReady = () => {};
  let isDone = (_: Written) => {};
  const ready = new Promise<void>((resolve) => {
    isReady = resolve;
  });
  const written = new Promise<Written>((resolve) => {
    isDone = resolve;
  });
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const said = JSON.parse(line) as { ready?: true; mark?: string; at?: number } & Partial<Written>;
      if (said.mark !== undefined) marked(said.mark, said.at!);
      else if (said.truth !== undefined) isDone(said as Written);
      else isReady();
    }
  });
  return { ready, written, go: () => child.stdin.end('go\n'), kill: () => child.kill('SIGKILL') };
}

/** The writer's rollouts, those on the screen page by page, and those listed by a new viewer must be the same. */
async function judge(app: App, directory: string, { truth }: Written): Promise<void> {
  const wanted: Lines = new Map();
  for (const [step, scores] of Object.entries(truth))
    for (const [i, score] of scores.entries()) wanted.set(`${step} ${i + 1}`, score);
  const start = performance.now();
  const total = wanted.size.toLocaleString('en-US');
  await app.sees(`${total} rollouts`);
  const settled = performance.now() - start;
  const onScreen = await walk(app, wanted.size);
  const listed: Lines = new Map();
  for (const line of (await rolloutViewer(['ls', '--json', directory])).stdout.trimEnd().split('\n')) {
    const row = JSON.parse(line) as { locator: string; format: string | null; score: number };
    const [, step, number] = /(\d+)\.jsonl:(\d+)$/.exec(row.locator)!;
    listed.set(`${step} ${number}`, row.format === null ? null : row.score);
  }
  const [truthHash, screenHash, listHash] = [wanted, onScreen, listed].map(hashOf);
  const isSame = truthHash === screenHash && truthHash === listHash;
  figure(
    'rows on the screen at the end',
    onScreen.size.toLocaleString('en-US'),
    `written: ${total}, listed again: ${listed.size.toLocaleString('en-US')}`,
    null,
    `the writer's lines (${isSame ? `yes, sha1 ${truthHash}` : 'NO'}; all there ${settled.toFixed(0)} ms after the last)`,
  );
  if (!isSame) {
    for (const [name, rows] of Object.entries({ screen: onScreen, list: listed }))
      for (const key of new Set([...wanted.keys(), ...rows.keys()]))
        if (wanted.get(key) !== rows.get(key))
          console.log(`  ${name} ${key}: ${rows.get(key)}, written ${wanted.get(key)}`);
    process.exitCode = 1;
  }
}

const hashOf = (rows: Lines): string =>
  createHash('sha1')
    .update(
      [...rows]
        .map(([key, score]) => `${key} ${score}`)
        .sort()
        .join('\n'),
    )
    .digest('hex')
    .slice(0, 12);

/** Reads every row off the screen, from the first page of the list to the last. */
async function walk(app: App, total: number): Promise<Lines> {
  const rows: Lines = new Map();
  app.press('Home');
  for (let here = 1; ; here = Math.min(total, here + ROWS - 4)) {
    const place = `${here.toLocaleString('en-US')}/${total.toLocaleString('en-US')}`;
    await app.sees(new RegExp(`(^|\\s)${place}(\\s|$)`, 'm'));
    for (const line of app.lines()) {
      const row = /^[^│\d]*(\d+)\s+(\d+)\s+(\d\.\d+|–)\s/.exec(line);
      if (row !== null) rows.set(`${row[1]} ${row[2]}`, row[3] === '–' ? null : Number(row[3]));
    }
    if (here === total) return rows;
    app.press('PageDown');
  }
}

function latency(marks: ReadonlyMap<string, number>, shown: ReadonlyMap<string, number>): void {
  const times = [...marks].map(([mark, at]) => (shown.get(mark) ?? Number.POSITIVE_INFINITY) - at);
  const p95 = percentile(times, 0.95);
  figure(
    'append to frame: p50, p95',
    `${percentile(times, 0.5).toFixed(0)}, ${p95.toFixed(0)} ms`,
    `${times.length} marked lines, longest ${Math.max(...times).toFixed(0)} ms`,
    p95 / 150,
    'p95 ≤ 1 × 150 ms',
  );
}

/** MB once a second, until it is asked for. */
function watchMemory(pid: number): () => number[] {
  const looks: number[] = [];
  const timer = setInterval(() => looks.push(residentMegabytes(pid)), 1000);
  return () => {
    clearInterval(timer);
    return looks;
  };
}

/** The slope of a straight line through the second half. */
function growth(looks: readonly number[]): void {
  const half = looks.slice(looks.length >> 1);
  const middle = (half.length - 1) / 2;
  const mean = half.reduce((sum, value) => sum + value, 0) / half.length;
  let covariance = 0;
  let variance = 0;
  for (const [i, value] of half.entries()) {
    covariance += (i - middle) * (value - mean);
    variance += (i - middle) ** 2;
  }
  const slope = (covariance / variance) * 60;
  figure(
    'memory, second half',
    `${slope >= 0 ? '+' : ''}${slope.toFixed(1)} MB/min`,
    `${half[0]?.toFixed(0)} → ${half.at(-1)?.toFixed(0)} MB, most ${Math.max(...looks).toFixed(0)} MB`,
    null,
    'flat (≤ 2 MB/min)',
  );
}
