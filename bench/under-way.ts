import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { LiveRun } from '../src/analysis/live-run.ts';
import { Dump } from '../src/core/dump/dump.ts';
import { Follower } from '../src/core/dump/follow.ts';
import { MONO } from '../src/viewer/present/theme.ts';
import { Keymap } from '../src/viewer/tui/keys/keymap.ts';
import { Pages } from '../src/viewer/tui/pages/pages.ts';
import { DumpData } from '../src/viewer/tui/rows/dump-data.ts';
import { freshPage } from '../src/viewer/tui/state/page.ts';
import { initialState, type State } from '../src/viewer/tui/state/state.ts';
import { update } from '../src/viewer/tui/update/update.ts';
import { pageView } from '../src/viewer/tui/views/panes.ts';
import { figure, percentile } from './support/measure.ts';

const RUNNING = 512;
const TURNS_A_SECOND = 200;
/** Turns of a rollout; then it is written to the dump and another one begins. */
const TURNS = 8;
/** `--seconds=600` for ten minutes. */
const SECONDS = Number(process.argv.find((one) => one.startsWith('--seconds='))?.slice(10) ?? 20);

/** 512 rollouts under way at 200 turns a second, looked at as the screen does, with keys between. */
export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'live-'));
  const writer = new Worker(fileURLToPath(import.meta.url), { workerData: folder, env: { LIVE_WRITER: folder } });
  await new Promise((resolve) => writer.once('message', resolve));
  const dump = Dump.open([folder], { waits: true, holdBack: 'while-arriving' });
  await dump.start();
  const follower = new Follower(dump);
  let state: State = { ...initialState(200, 50), page: freshPage({ kind: 'under-way' }, null) };
  const none = (): void => {};
  const data: DumpData = new DumpData(
    { dump, live: new LiveRun(dump, []), keys: new Keymap(), pages: new Pages() },
    { changed: none, rowsChanged: none, found: none, liveChanged: () => changed() },
  );
  const ages: number[] = [];
  function changed(): void {
    state = update(state, { type: 'live-changed' }, data).state;
    const [first] = data.underWay.states ?? [];
    if (first !== undefined) ages.push(Date.now() - first.written);
  }
  dump.subscribe(() => {
    data.changed();
    state = update(state, { type: 'dump-changed' }, data).state;
  });
  const lag = monitorEventLoopDelay({ resolution: 1 });
  const keys: number[] = [];
  const memory: number[] = [];
  const seen = new Set<string>();
  let doubled = 0;
  lag.enable();
  const end = Date.now() + SECONDS * 1000;
  for (let i = 0; Date.now() < end; i++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    const start = performance.now();
    state = update(state, { type: 'scroll', by: i % 40 < 20 ? 1 : -1, unit: 'line' }, data).state;
    pageView({ state, data, theme: MONO, name: '' }, 200, 48);
    keys.push(performance.now() - start);
    const names = data.underWay.rows.map(({ key }) => key);
    if (new Set(names).size < names.length) doubled++;
    for (const name of names) seen.add(name);
    if (i % 20 === 0) memory.push(process.memoryUsage().rss / 1e6);
  }
  lag.disable();
  writer.postMessage('stop');
  const begun = await new Promise<number>((resolve) => writer.once('message', resolve));
  figure(
    'under way: what is shown is so old',
    `${percentile(ages, 0.5).toFixed(0)} ms`,
    `the worst ${Math.max(...ages)} ms`,
    null,
    '≤ 1 s behind its writer',
  );
  figure(
    'a key on the page of 512',
    `${percentile(keys, 0.99).toFixed(1)} ms`,
    `p99; half of them ${percentile(keys, 0.5).toFixed(1)} ms`,
    null,
    '≤ 16 ms',
  );
  figure(
    'lag of the event loop meanwhile',
    `${(lag.percentile(99) / 1e6).toFixed(1)} ms`,
    `p99; the worst ${(lag.max / 1e6).toFixed(0)} ms`,
    null,
    '≤ 16 ms',
  );
  const half = memory.length >> 1;
  figure(
    'memory after half of the time, and at the end',
    `${memory[half]!.toFixed(0)} MB`,
    `${memory.at(-1)!.toFixed(0)} MB`,
    memory.at(-1)! / memory[half]!,
    '≤ 1.1 ×',
  );
  figure('rollouts begun, rows seen, looks with a doubled one', `${begun}`, `${seen.size}`, doubled, '0 ×');
  follower.close();
  data.close();
  dump.close();
  await writer.terminate();
  rmSync(folder, { recursive: true, force: true });
}

/** The writer, in a separate thread: `live.json` once a second, a message at a time. */
async function write(folder: string): Promise<void> {
  const { parentPort } = await import('node:worker_threads');
  const own = join(folder, '.rollout-viewer');
  mkdirSync(join(own, 'live'), { recursive: true });
  writeFileSync(join(folder, '1.jsonl'), '');
  let next = 0;
  const begin = () => ({ id: next++, turns: 0, since: Date.now(), sign: Date.now() });
  const running = Array.from({ length: RUNNING }, begin);
  const path = (id: number) => join(own, 'live', `1-${id}-0.jsonl`);
  const tell = () => {
    const now = Date.now();
    const rollouts = running.map(({ id, turns, since, sign }) => ({
      task: id,
      rollout: 0,
      step: 1,
      uid: `${id}_0_0`,
      at: 'generating',
      turns,
      seconds: (now - since) / 1000,
      quiet: (now - sign) / 1000,
      file: `1-${id}-0.jsonl`,
    }));
    const state = {
      time: new Date(now).toISOString(),
      pid: process.pid,
      host: hostname(),
      at: { generating: RUNNING },
    };
    writeFileSync(join(own, 'live.json.new'), JSON.stringify({ ...state, rollouts }));
    renameSync(join(own, 'live.json.new'), join(own, 'live.json'));
  };
  const text = 'a word and another one '.repeat(40);
  let at = 0;
  const turn = () => {
    const one = running[at++ % RUNNING]!;
    const message = { role: one.turns % 2 === 0 ? 'user' : 'assistant', content: text };
    appendFileSync(
      path(one.id),
      `${JSON.stringify({ trace: `${one.id}_0_0`, nodes: [{ parent: one.turns === 0 ? null : one.turns - 1, message }] })}\n`,
    );
    one.turns++;
    one.sign = Date.now();
    if (one.turns < TURNS) return;
    rmSync(path(one.id));
    appendFileSync(
      join(folder, '1.jsonl'),
      `${JSON.stringify({ input: 'user\nq\nassistant\n', output: text, score: 1, step: 1, uid: `${one.id}_0_0` })}\n`,
    );
    Object.assign(one, begin());
  };
  for (let i = 0; i < RUNNING; i++) turn();
  tell();
  const timers = [
    setInterval(tell, 1000),
    setInterval(() => {
      for (let i = 0; i < TURNS_A_SECOND / 20; i++) turn();
    }, 50),
  ];
  parentPort?.on('message', () => {
    for (const timer of timers) clearInterval(timer);
    parentPort.postMessage(next);
  });
  parentPort?.postMessage('ready');
}

if (process.env.LIVE_WRITER !== undefined) await write(process.env.LIVE_WRITER);
