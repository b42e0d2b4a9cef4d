import { appendFileSync, existsSync, mkdirSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from '../test/support/driver/app.ts';
import { bin, cpuSeconds, figure, median, residentMegabytes, root } from './support/measure.ts';

const SECONDS = 15;
const APPENDS = 10;

/** The cost of a directory of 10,000 steps beside one of 100, polled once a second and by events. */
export async function run(): Promise<void> {
  for (const how of [['--poll', '1'], []]) {
    const many = await watch(10_000, how);
    const few = await watch(100, how);
    const name = how.length > 0 ? 'polling every second' : 'events';
    figure(
      `10,000 files, ${name}: processor while nothing comes`,
      `${many.idle.toFixed(0)} ms/s`,
      `100 files: ${few.idle.toFixed(0)} ms/s`,
      null,
      '≤ 100 ms/s',
    );
    figure(
      `10,000 files, ${name}: append to frame`,
      `${many.append.toFixed(0)} ms`,
      `100 files: ${few.append.toFixed(0)} ms, memory ${few.memory.toFixed(0)} and ${many.memory.toFixed(0)} MB`,
      null,
      how.length > 0 ? 'the second and no more' : '≤ 150 ms',
    );
  }
}

async function watch(files: number, how: readonly string[]): Promise<{ idle: number; append: number; memory: number }> {
  const directory = madeSteps(files);
  const last = join(directory, `${files}.jsonl`);
  const size = statSync(last).size;
  const app = App.start([directory, ...how], { columns: 200, rows: 50, command: [process.execPath, bin] });
  try {
    await app.sees(`${files.toLocaleString('en-US')} steps`);
    await app.until(() => !/indexing|checking/.test(app.screen()), 'the end of reading');
    await pause(8000);
    const before = cpuSeconds(app.pid);
    await pause(SECONDS * 1000);
    const idle = ((cpuSeconds(app.pid) - before) * 1000) / SECONDS;
    const times: number[] = [];
    for (let i = 1; i <= APPENDS; i++) {
      const start = performance.now();
      appendFileSync(last, line(files, i));
      await app.sees(`${(files + i).toLocaleString('en-US')} rollouts`);
      times.push(performance.now() - start);
      await pause(700);
    }
    return { idle, append: median(times), memory: residentMegabytes(app.pid) };
  } finally {
    await app.stop();
    truncateSync(last, size);
  }
}

const line = (step: number, n: number): string =>
  `${JSON.stringify({ input: 'user\nHow many apples?\nassistant\n', output: `#### ${n}`, score: n / 10, step })}\n`;

/** Steps of one line each that ended long ago, made once. */
function madeSteps(files: number): string {
  const directory = join(root, '.bench', `steps-${files}`);
  if (existsSync(join(directory, `${files}.jsonl`))) return directory;
  mkdirSync(directory, { recursive: true });
  for (let step = 1; step <= files; step++) {
    const path = join(directory, `${step}.jsonl`);
    writeFileSync(path, line(step, 0));
    utimesSync(path, step, step);
  }
  return directory;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
