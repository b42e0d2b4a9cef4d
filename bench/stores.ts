import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from '../test/support/driver/app.ts';
import { ObjectServer, objectOf } from '../test/support/object-server.ts';
import { bin, cpuSeconds, figure, residentMegabytes } from './support/measure.ts';

const OBJECTS = Number(process.env.STORE_OBJECTS ?? 10_000);
const BYTES = 10_000_000;
const DELAY_MS = 30;

/** 100 GB in 10,000 objects behind a store that takes 30 ms to answer: the newest step, another one, and how much is read for them. */
export async function run(): Promise<void> {
  const server = await ObjectServer.start({ delayMs: DELAY_MS });
  const line = (step: number): string => {
    const turn = `<|im_start|>user\nWhat is 1+1?<|im_end|>\n<|im_start|>assistant\n${'step by step, '.repeat(140)}`;
    return `${JSON.stringify({ input: turn, output: `so 2 of ${step}`, gts: '2', score: 1, step })}\n`;
  };
  // All steps but two share their bytes.
  const other = objectOf(line(1).repeat(BYTES / line(1).length));
  for (let step = 1; step <= OBJECTS; step++) server.put(`run/train/${step}.jsonl`, { ...other, etag: `"${step}"` });
  const newest = objectOf(line(OBJECTS).repeat(BYTES / line(OBJECTS).length));
  server.put(`run/train/${OBJECTS}.jsonl`, newest);
  const cache = mkdtempSync(join(tmpdir(), 'rollout-viewer-stores-'));
  const start = performance.now();
  const app = App.start(['s3://bucket/run'], {
    columns: 200,
    rows: 50,
    command: [
      process.execPath,
      ...(process.env.STORE_PROFILE ? ['--cpu-prof', '--cpu-prof-dir', process.env.STORE_PROFILE] : []),
      bin,
    ],
    env: { ...server.env, XDG_CACHE_HOME: cache },
  });
  try {
    await app.until(() => app.screen().includes(`so 2 of ${OBJECTS}`), 'the newest step', 60_000);
    figure('first rollout of 100 GB in 10,000 objects', ms(start), `${DELAY_MS} ms a request`, null, '≤ 1500 ms');
    figure('processor of the program until then', `${cpuSeconds(app.pid)} s`, '', null, '');
    figure('requests and bytes for it', `${server.asked.length}`, `${megabytes(server.bytesSent)} sent`, null, '');
    app.press('Tab');
    await app.until(() => /▸ *step/.test(app.screen()), 'the list to have the keys', 30_000);
    const place = `${OBJECTS.toLocaleString('en')}/`;
    await app.until(() => app.screen().includes(place), 'the steps that are not here', 60_000);
    const pressed = performance.now();
    app.press('k');
    await app.until(() => /so 2 of 1\b/.test(app.screen()), 'another step', 30_000);
    figure("another step's rows", ms(pressed), `${megabytes(server.bytesSent)} sent`, null, '≤ 3000 ms');
    figure(
      'memory; processor so far',
      `${residentMegabytes(app.pid).toFixed(0)} MB`,
      `${cpuSeconds(app.pid)} s`,
      null,
      '',
    );
    console.log(app.screen().split('\n')[0]);
  } finally {
    if (process.env.STORE_PROFILE) {
      app.press('q');
      await app.exits();
    }
    await app.stop();
    server.close();
  }
}

const ms = (since: number): string => `${(performance.now() - since).toFixed(0)} ms`;
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
