import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import { parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { openBytes } from '../src/core/dump/containers/file-bytes.ts';
import { parquetMetadataAsync } from '../src/core/dump/containers/parquet-parts.ts';
import { unzstd } from '../src/core/dump/containers/zstd.ts';
import { Dump } from '../src/core/dump/dump.ts';
import { ObjectServer, objectOf } from '../test/support/object-server.ts';
import { bin, figure, interleaved, madeDump, percentile, root } from './support/measure.ts';

const ROWS = 200_000;
const GROUP_ROWS = 20_000;
/** Files of ROWS rows, together about 1 GB. */
const FILES = 8;
const KEYS = 80;
const APART_MS = 50;
const RUNS = 3;
/** A wait that ends here is the figure. */
const LONGEST_MS = 60_000;

/** Parquet of 200,000 rows and zstd of 1 GB: the first rollout, all of it beside the codec alone, and keys while they fill. */
export async function run(): Promise<void> {
  const parquet = madeParquet();
  const zstd = madeZstd();
  await packed('parquet of 200,000 rows', parquet, () => rowsOf(join(parquet, '1.parquet')));
  if (zstd === null) console.log('zstd: left out, since the program zstd is not here');
  else await packed('zstd of 1 GB', zstd, () => bytesOf(join(zstd, '1.jsonl.zst')));
  const many = mkdtempSync(join(tmpdir(), 'rollout-viewer-packed-'));
  for (let step = 1; step <= FILES; step++) cpSync(join(parquet, '1.parquet'), join(many, `${step}.parquet`));
  await keys('parquet of 1 GB', [many], {});
  if (zstd !== null) await keys('zstd of 1 GB', [zstd], {});
  const server = await ObjectServer.start({ delayMs: 5 });
  const object = objectOf(readFileSync(join(parquet, '1.parquet')));
  for (let step = 1; step <= FILES; step++) server.put(`run/${step}.parquet`, object);
  await keys('parquet of 1 GB from a store', ['s3://bucket/run', '--bring-all'], server.env);
  server.close();
}

async function packed(name: string, folder: string, codec: () => Promise<void>): Promise<void> {
  const times: number[] = [];
  for (let i = 0; i < RUNS; i++) times.push(await firstRollout(folder));
  const [first] = times.sort((a, b) => a - b).slice(RUNS >> 1);
  figure(`first rollout, ${name}`, ms(first ?? Number.NaN), '', null, '≤ 300 ms');
  const [whole, own] = await interleaved(
    RUNS,
    () => timed(() => indexed(folder)),
    () => timed(codec),
  );
  figure(`all of it, ${name}`, ms(whole), `the codec alone: ${ms(own)}`, whole / own, '≤ 1.3 ×');
}

const ms = (milliseconds: number): string => `${milliseconds.toFixed(0)} ms`;

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function indexed(folder: string): Promise<void> {
  const dump = Dump.open([folder]);
  for (const file of dump.files) await file.update({ holdBack: false, inThread: true });
  dump.close();
}

async function rowsOf(path: string): Promise<void> {
  const file = openBytes(path, null);
  const metadata = await parquetMetadataAsync(file);
  for (let rowStart = 0; rowStart < ROWS; rowStart += GROUP_ROWS)
    await parquetReadObjects({ file, metadata, compressors, rowStart, rowEnd: rowStart + GROUP_ROWS });
  file.close();
}

async function bytesOf(path: string): Promise<void> {
  for await (const _ of unzstd(path));
}

const SEES = /\bsample 1[/]/;

/** ms from the start of the process until text of the newest rollout is on the screen. */
async function firstRollout(path: string): Promise<number> {
  const start = performance.now();
  const screen = opened([path], {});
  try {
    await screen.until(() => SEES.test(screen.seen()));
    return performance.now() - start;
  } finally {
    screen.end();
  }
}

async function keys(name: string, args: readonly string[], env: Record<string, string>): Promise<void> {
  const cache = mkdtempSync(join(tmpdir(), 'rollout-viewer-packed-'));
  const screen = opened(args, { ...env, XDG_CACHE_HOME: cache });
  try {
    await screen.until(() => SEES.test(screen.seen()));
    const waits: number[] = [];
    for (let at = 0; at < KEYS; at++) {
      await new Promise((resolve) => setTimeout(resolve, APART_MS));
      screen.forget();
      const pressed = performance.now();
      // Each brings another rollout: a key that changes nothing would wait for the next frame of the progress.
      screen.press(at % 2 === 0 ? 'J' : 'K');
      await screen.until(() => screen.seen() !== '');
      waits.push(performance.now() - pressed);
    }
    const slow = percentile(waits, 0.95);
    figure(`keys while it fills, p95: ${name}`, `${slow.toFixed(1)} ms`, '16 ms', slow / 16, '≤ 1 ×');
  } finally {
    screen.end();
  }
}

/** The program in a terminal, and what it has written. */
function opened(args: readonly string[], env: Record<string, string>) {
  const given = { ...(process.env as Record<string, string>), ...env };
  const size = { cols: 200, rows: 50, name: 'xterm-256color' };
  const terminal = spawn(process.execPath, [bin, ...args, '--fresh'], { ...size, cwd: root, env: given });
  let seen = '';
  let told = (): void => {};
  terminal.onData((data) => {
    seen += data;
    told();
  });
  return {
    seen: () => seen,
    forget() {
      seen = '';
    },
    press: (key: string) => terminal.write(key),
    end: () => terminal.kill('SIGKILL'),
    async until(holds: () => boolean): Promise<void> {
      const start = performance.now();
      while (!holds()) {
        if (performance.now() - start > LONGEST_MS) return;
        await new Promise<void>((resolve) => {
          told = resolve;
          setTimeout(resolve, 100);
        });
      }
    },
  };
}

/** A folder of one file of rows like verl's, made once. */
function madeParquet(): string {
  const folder = join(root, '.bench/dumps/parquet-200k');
  const path = join(folder, '1.parquet');
  if (existsSync(path)) return folder;
  mkdirSync(folder, { recursive: true });
  const rows = Array.from({ length: ROWS }, (_, at) => at);
  const words = (at: number): string =>
    Array.from({ length: 60 }, (_, i) => `step ${(at * 7919 + i * 104_729) % 9973}`).join(', ');
  const text = (name: string, of: (at: number) => string) => ({ name, data: rows.map(of), type: 'STRING' as const });
  const columnData = [
    text('input', (at) => `<|im_start|>user\nWhat is ${at >> 3} + 1?<|im_end|>\n<|im_start|>assistant\n`),
    text('output', (at) => `${words(at)}; so the answer is ${at}.`),
    text('gts', (at) => String(at)),
    { name: 'score', data: rows.map((at) => at % 2), type: 'DOUBLE' as const },
    { name: 'step', data: rows.map(() => 1), type: 'INT32' as const },
  ];
  const options = { columnData, rowGroupSize: GROUP_ROWS, codec: 'SNAPPY' as const };
  writeFileSync(path, new Uint8Array(parquetWriteBuffer(options)));
  return folder;
}

/** A folder of one file in a single frame, made once; null without zstd. */
function madeZstd(): string | null {
  const folder = join(root, '.bench/dumps/zstd-1gb');
  const path = join(folder, '1.jsonl.zst');
  if (existsSync(path)) return folder;
  mkdirSync(folder, { recursive: true });
  const lines = madeDump('1gb', 40, 1024, 24);
  const names = readdirSync(lines).map((name) => join(lines, name));
  const made = spawnSync('sh', ['-c', 'cat "$@" | zstd -q -o "$0"', path, ...names]);
  return made.status === 0 && statSync(path).size > 0 ? folder : null;
}
