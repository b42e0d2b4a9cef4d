// Recorded calls and scores that workers do behind a real Redis: the journal is that of one process, each call once.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { directoryWith, jsonLines, rolloutViewer, verlLine } from '../program.ts';
import { callLine } from '../replay/fixture.ts';
import { kill, killAll, start, startWorker, until } from './processes.ts';
import { hasRedis, noRedis, TestRedis } from './redis-server.ts';
import { type Busiest, slowSandbox } from './workplace.ts';

let redis: TestRedis;
let sandbox: Awaited<ReturnType<typeof slowSandbox>>;
const busiest: Busiest = { sandbox: 0, model: 0 };
beforeAll(async () => {
  if (!hasRedis) return;
  redis = await TestRedis.start();
  sandbox = await slowSandbox(busiest);
});
afterEach(killAll);
afterAll(async () => {
  await redis?.down();
  sandbox?.close();
});

const CALLS = 60;
let runs = 0;

function workplace(lines: string) {
  const folder = directoryWith({ 'rollout_data/1.jsonl': lines });
  const url = `${redis.url}?prefix=replays${process.pid}-${runs++}`;
  const journal = (name: string) => ['--journal', join(folder, name)];
  const run = (args: readonly string[]) => rolloutViewer(args, { cwd: folder, env: { SANDBOX_FUSION_ENDPOINT: '' } });
  return { folder, url, journal, run };
}

/** All entries of a journal without times, sorted. */
function entries(folder: string): string[] {
  const found = readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((path) => statSync(path).isFile() && path.endsWith('.jsonl'))
    .flatMap((path) => jsonLines(readFileSync(path, 'utf8')));
  return found.map((entry) => JSON.stringify(entry, (key, value) => (TIMES.has(key) ? undefined : value))).sort();
}
const TIMES = new Set(['at', 'duration', 'run_time', 'time', 'seal', 'seconds', 'how', 'backend']);

const calls = () =>
  Array.from({ length: CALLS }, (_, at) =>
    callLine('code_interpreter', { code: `print(${at})` }, at % 10 === 3 ? 'else' : String(at)),
  ).join('\n');

describe(`recorded calls behind a queue${noRedis}`, () => {
  it.skipIf(!hasRedis)('come to what one process comes to, and are each in the journal once', async () => {
    const { folder, url, journal, run } = workplace(`${calls()}\n`);
    const alone = await run([
      'replay',
      'rollout_data',
      '--sandbox',
      sandbox.url,
      '--yes',
      ...journal('alone'),
      '--json',
    ]);
    expect(alone.code).toBe(1);
    for (let count = 0; count < 2; count++) startWorker(url, '--sandbox', sandbox.url);
    const queued = await run(['replay', 'rollout_data', '--queue', url, ...journal('queued'), '--json']);
    expect([queued.code, jsonLines(queued.stdout).length]).toEqual([1, CALLS]);
    const verdicts = (text: string) =>
      jsonLines(text).map(({ locator, status, verdict }) => [locator, status, verdict]);
    expect(verdicts(queued.stdout)).toEqual(verdicts(alone.stdout));
    expect(entries(join(folder, 'queued'))).toEqual(entries(join(folder, 'alone')));
    expect(entries(join(folder, 'queued'))).toHaveLength(CALLS);
  });

  it.skipIf(!hasRedis)('are each run and kept once, though workers and the run itself are killed', async () => {
    const { folder, url, journal, run } = workplace(`${calls()}\n`);
    const first = startWorker(url, '--sandbox', sandbox.url);
    const args = ['replay', 'rollout_data', '--queue', url, ...journal('queued')];
    const producer = start(args, { cwd: folder });
    const kept = () => entriesIn(join(folder, 'queued'));
    await until(() => kept() > 5);
    await kill(first);
    startWorker(url, '--sandbox', sandbox.url);
    const before = kept();
    await until(() => kept() > before);
    await kill(producer);
    const { code } = await run(args);
    expect(code).toBe(1);
    const all = entries(join(folder, 'queued')).map((text) => JSON.parse(text) as { locator: string });
    expect(new Set(all.map(({ locator }) => locator)).size).toBe(CALLS);
    expect(all).toHaveLength(CALLS);
  });

  it.skipIf(!hasRedis)('have no more programs in flight than --concurrency says, whoever runs them', async () => {
    const { url, journal, run } = workplace(`${calls()}\n`);
    for (let count = 0; count < 2; count++) startWorker(url, '--sandbox', sandbox.url);
    busiest.sandbox = 0;
    await run(['replay', 'rollout_data', '--queue', url, '--concurrency', '3', ...journal('queued')]);
    expect(busiest.sandbox).toBe(3);
  });

  it.skipIf(!hasRedis)('fill all places of a limit by one worker, and the next ones wait at the queue', async () => {
    const { folder, url, journal, run } = workplace(`${calls()}\n`);
    let open = () => {};
    const held = await slowSandbox(
      { ...busiest },
      0,
      new Promise((resolve) => {
        open = resolve;
      }),
    );
    startWorker(url, '--sandbox', held.url);
    const ended = run(['replay', 'rollout_data', '--queue', url, '--concurrency', '9', ...journal('queued')]);
    const waiting = async () => {
      const { runs } = JSON.parse((await run(['queue', url, '--json'])).stdout);
      return runs.map((one: { active: number; waiting: number }) => [one.active, one.waiting]);
    };
    await until(async () => held.inFlight() === 9 && (await waiting())[0]?.[1] === CALLS - 9);
    expect(await waiting()).toEqual([[9, CALLS - 9]]);
    open();
    await ended;
    held.close();
    expect(entries(join(folder, 'queued'))).toHaveLength(CALLS);
  });
});

const entriesIn = (folder: string): number => {
  try {
    return entries(folder).length;
  } catch {
    return 0;
  }
};

const REWARD = 'export const compute_score = ({ solution_str }) => (solution_str.includes("#### 4") ? 1 : 0);\n';

describe(`scores behind a queue${noRedis}`, () => {
  const lines = () =>
    Array.from({ length: CALLS }, (_, at) =>
      verlLine({
        output: `#### ${at % 8}`,
        gts: '4',
        score: at % 8 === 4 ? 1 : 0,
        data_source: 'gsm8k',
        uid: `u${at}`,
      }),
    ).join('');

  it.skipIf(!hasRedis)('are those of one process', async () => {
    const { folder, url, journal, run } = workplace(lines());
    const alone = await run(['rescore', 'rollout_data', '--reward', 'gsm8k', ...journal('alone'), '--json']);
    for (let count = 0; count < 2; count++) startWorker(url);
    const args = ['rescore', 'rollout_data', '--reward', 'gsm8k', '--queue', url, ...journal('queued'), '--json'];
    const queued = await run(args);
    const shown = (text: string) => jsonLines(text).map(({ seconds: _, ...one }) => one);
    expect([queued.code, shown(queued.stdout)]).toEqual([alone.code, shown(alone.stdout)]);
    expect(shown(queued.stdout)).toHaveLength(CALLS);
    expect(entries(join(folder, 'queued'))).toEqual(entries(join(folder, 'alone')));
  });

  it.skipIf(!hasRedis)('are each in the journal once, though the run is killed and started again', async () => {
    const { folder, url, journal, run } = workplace(lines());
    writeFileSync(
      join(folder, 'slow.mjs'),
      `export const compute_score = async () => { await new Promise((resolve) => setTimeout(resolve, 50)); return 1; };\n`,
    );
    startWorker(url, '--allow-tools', folder);
    const args = ['rescore', 'rollout_data', '--reward', 'slow.mjs', '--queue', url, ...journal('queued')];
    const first = start(args, { cwd: folder });
    await until(() => entriesIn(join(folder, 'queued')) > 5);
    await kill(first);
    const { stdout } = await run([...args, '--json']);
    expect(jsonLines(stdout)).toHaveLength(CALLS);
    const all = entries(join(folder, 'queued')).map((text) => JSON.parse(text) as { locator: string; score: number });
    expect(all.map(({ score }) => score)).toEqual(Array(CALLS).fill(1));
    expect(new Set(all.map(({ locator }) => locator)).size).toBe(CALLS);
  });

  it.skipIf(!hasRedis)('by a file of your own are given only where the same file is allowed', async () => {
    const { folder, url, journal, run } = workplace(lines());
    writeFileSync(join(folder, 'mine.mjs'), REWARD);
    const refused = startWorker(url, '--allow-tools', directoryWith({ 'mine.mjs': '// another\n' }));
    const alone = await run(['rescore', 'rollout_data', '--reward', 'mine.mjs', ...journal('alone'), '--json']);
    const args = ['rescore', 'rollout_data', '--reward', 'mine.mjs', '--queue', url, ...journal('queued'), '--json'];
    const running = run(args);
    await until(() => /mine\.mjs: its sha256 is/.test(refused.said()));
    startWorker(url, '--allow-tools', directoryWith({ 'mine.mjs': REWARD }));
    const queued = await running;
    const shown = (text: string) => jsonLines(text).map(({ seconds: _, ...one }) => one);
    expect(shown(queued.stdout)).toEqual(shown(alone.stdout));
    expect(shown(queued.stdout)).toHaveLength(CALLS);
  });
});
