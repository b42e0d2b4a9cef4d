import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import { Dump } from '../src/core/dump/dump.ts';
import { bin, figure, interleaved, madeDump, median, residentMegabytes, root } from './support/measure.ts';

/** Opening, indexing and memory, on 1 GB against 10 MB, `wc -l` and Ink's hello world. */
export async function run(): Promise<void> {
  const large = madeDump('1gb', 40, 1024, 24);
  const small = madeDump('10mb', 40, 10, 24);

  const [first, reference] = await interleaved(
    9,
    () => firstRollout(large),
    () => firstRollout(small),
  );
  figure(
    'first rollout on the screen, 1 GB',
    `${first.toFixed(0)} ms`,
    `10 MB: ${reference.toFixed(0)} ms`,
    first / reference,
    '≤ 1.2 ×',
  );

  await index(large);
  const [indexed, counted] = await interleaved(
    9,
    () => index(large),
    () => countLines(large),
  );
  figure(
    'index with score and step of every line',
    `${indexed.toFixed(0)} ms`,
    `wc -l: ${counted.toFixed(0)} ms`,
    indexed / counted,
    '≤ 1.5 ×',
  );

  const [used, hello] = await interleaved(
    3,
    () => memoryOfScreen(large),
    () => memoryOfHello(),
  );
  figure(
    'memory with 1 GB open and indexed',
    `${used.toFixed(0)} MB`,
    `Ink's hello world: ${hello.toFixed(0)} MB`,
    null,
    `≤ 100 MB more (${(used - hello).toFixed(0)} MB more)`,
  );
}

/** ms from the start of the process until text of the newest rollout is on the screen. */
function firstRollout(path: string): Promise<number> {
  const start = performance.now();
  return onScreen(path, /Problem 40-0|<think>|think,/, () => performance.now() - start);
}

/** Starts the program in a terminal of 200 × 50 and ends it when `done` has been answered. */
function onScreen(path: string, sees: RegExp, done: (pid: number) => number | Promise<number>): Promise<number> {
  const terminal = spawn(process.execPath, [bin, path], { cols: 200, rows: 50, cwd: root, name: 'xterm-256color' });
  let seen = '';
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`nothing like ${sees} on the screen of ${path}`)), 60_000);
    let isDone = false;
    terminal.onData((data) => {
      seen += data;
      if (isDone || !sees.test(seen)) return;
      isDone = true;
      clearTimeout(timer);
      void Promise.resolve(done(terminal.pid)).then((value) => {
        terminal.kill('SIGTERM');
        terminal.onExit(() => resolve(value));
      });
    });
  });
}

async function index(path: string): Promise<number> {
  const start = performance.now();
  const dump = Dump.open([path]);
  for (const file of dump.files) await file.buildIndex(() => true);
  dump.close();
  return performance.now() - start;
}

async function countLines(path: string): Promise<number> {
  const files = readdirSync(path).map((name) => join(path, name));
  const start = performance.now();
  spawnSync('wc', ['-l', ...files]);
  return performance.now() - start;
}

/** The whole process, threads included, once it has settled: the median of ten looks over two seconds. */
async function settledMemory(pid: number): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 8000));
  const looks: number[] = [];
  for (let i = 0; i < 10; i++) {
    looks.push(residentMegabytes(pid));
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return median(looks);
}

const memoryOfScreen = (path: string): Promise<number> => onScreen(path, /think/, settledMemory);

async function memoryOfHello(): Promise<number> {
  const file = join(root, '.bench/hello.mjs');
  const { build } = await import('esbuild');
  const source = join(root, '.bench/hello-source.mjs');
  writeFileSync(
    source,
    "import { createElement } from 'react';\nimport { render, Text } from 'ink';\nrender(createElement(Text, null, 'hello, world'));\nsetInterval(() => {}, 1000);\n",
  );
  await build({
    entryPoints: [source],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    define: { 'process.env.NODE_ENV': '"production"' },
    alias: { 'react-devtools-core': join(root, 'scripts/empty-module.mjs') },
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
    },
  });
  const terminal = spawn(process.execPath, [file], { cols: 200, rows: 50, cwd: root, name: 'xterm-256color' });
  const used = await settledMemory(terminal.pid);
  terminal.kill('SIGKILL');
  return used;
}
