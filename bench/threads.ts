import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { bin, figure, madeDump, median } from './support/measure.ts';

const ROUNDS = 3;
const LOOK_MS = 20;
/** It has no literal part that could be sifted for. */
const PATTERN = '[0-9]{9}x[0-9]';
const ASKED = {
  facts: ['stats', '--no-cache', '--json'],
  search: ['grep', '--no-cache', '--json'],
};

/** One thread against two, by turns, and what the main thread does alone: the part that more processors cannot share. */
export async function run(): Promise<void> {
  const dump = madeDump('threads', 40, 512, 4);
  for (const [name, words] of Object.entries(ASKED)) {
    const all: Record<string, Spent[]> = { 1: [], 2: [] };
    for (let round = 0; round < ROUNDS; round++)
      for (const threads of ['1', '2'])
        all[threads]?.push(
          await spent([...words, '--threads', threads, ...(name === 'search' ? [PATTERN] : []), dump]),
        );
    const of = (threads: string, which: keyof Spent): number => median((all[threads] ?? []).map((one) => one[which]));
    figure(
      `${name}: 2 threads ÷ 1`,
      `${of('2', 'wall').toFixed(2)} s`,
      `${of('1', 'wall').toFixed(2)} s`,
      of('2', 'wall') / of('1', 'wall'),
      '≤ 0.65 ×',
    );
    figure(
      `${name}: processor, 2 ÷ 1`,
      `${of('2', 'all').toFixed(2)} s`,
      `${of('1', 'all').toFixed(2)} s`,
      of('2', 'all') / of('1', 'all'),
      '≤ 1.1 ×',
    );
    figure(
      `${name}: the main thread's share at 1`,
      `${of('1', 'main').toFixed(2)} s`,
      'of the processor time',
      of('1', 'main') / of('1', 'all'),
      '',
    );
  }
}

interface Spent {
  wall: number;
  all: number;
  main: number;
}

/** Seconds of a run: on the clock, on processors, and those of the main thread. */
async function spent(args: readonly string[]): Promise<Spent> {
  const start = performance.now();
  const child = spawn(process.execPath, [bin, ...args], { stdio: 'ignore' });
  const { pid = 0 } = child;
  // A thread that has ended is remembered.
  const threads = new Map<string, number>();
  const timer = setInterval(() => {
    for (const [thread, seconds] of threadsOf(pid)) threads.set(thread, seconds);
  }, LOOK_MS);
  await once(child, 'close');
  clearInterval(timer);
  const all = [...threads.values()].reduce((sum, seconds) => sum + seconds, 0);
  return { wall: (performance.now() - start) / 1000, all, main: threads.get(String(pid)) ?? 0 };
}

function threadsOf(pid: number): Map<string, number> {
  try {
    return new Map(
      readdirSync(`/proc/${pid}/task`).map((thread) => {
        const fields = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
        return [thread, (Number(fields[11]) + Number(fields[12])) / 100];
      }),
    );
  } catch {
    return new Map();
  }
}
