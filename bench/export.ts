import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportRollouts } from '../src/viewer/commands/export-run.ts';
import { selectRows } from '../src/viewer/commands/select-rows.ts';
import { bin, cpuSeconds, figure, interleaved, madeDump } from './support/measure.ts';

const FORMATS = ['trl', 'verl', 'openai', 'messages', 'trl-dpo', 'prompts'];

/**
 * Exports of 100,000 rollouts, against reading them; processor time, so that other programs do not count. `--files=N`: N times 2,000.
 * `--million`: the program's memory at 100,000 and at 1,000,000 instead.
 */
export async function run(): Promise<void> {
  if (process.argv.includes('--million')) return growth();
  const files = Number(process.argv.find((arg) => arg.startsWith('--files='))?.slice('--files='.length) ?? 50);
  const dump = madeDump(files === 50 ? '100k' : `${files}x2000`, files, 2000, 2);
  const folder = mkdtempSync(join(tmpdir(), 'rollout-viewer-bench-'));
  process.env.XDG_STATE_HOME = folder;
  const write = process.stdout.write;
  const exported = (to: string) => (): Promise<number> =>
    processorTime(async () => {
      process.stdout.write = () => true;
      try {
        const flags = { to, out: join(folder, to), force: true, drop: true, inferred: true, pairs: 'best' } as const;
        await exportRollouts([dump], { ...flags, copies: true, seed: '0', json: true });
      } finally {
        process.stdout.write = write;
      }
    });
  const read = (): Promise<number> =>
    processorTime(async () => {
      for await (const { row } of selectRows([dump], {})) void row.rollout;
    });
  for (const to of FORMATS) {
    const [out, baseline] = await interleaved(2, exported(to), read);
    const what = `export ${files * 2000} rollouts to ${to}`;
    figure(what, `${out.toFixed(0)} ms`, `reading them: ${baseline.toFixed(0)} ms`, out / baseline, '≤ 2 ×');
  }
  console.log(`largest resident set: ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MB`);
  rmSync(folder, { recursive: true });
}

/** Formats that write as they read. */
const STREAMED = ['trl', 'verl'];

async function growth(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'rollout-viewer-bench-'));
  const small = madeDump('100k', 50, 2000, 2);
  const large = madeDump('1m', 500, 2000, 2);
  const reading = await processorTime(async () => {
    for await (const { row } of selectRows([large], {})) void row.rollout;
  });
  for (const to of STREAMED) {
    const few = await program(small, to, folder);
    const many = await program(large, to, folder);
    const read = `reading them: ${(reading / 1000).toFixed(0)} s`;
    const ratio = (1000 * many.seconds) / reading;
    figure(`export 1,000,000 rollouts to ${to}`, `${many.seconds.toFixed(0)} s`, read, ratio, '≤ 2 ×');
    const before = `of 100,000: ${few.megabytes.toFixed(0)} MB`;
    const times = many.megabytes / few.megabytes;
    figure('  its largest resident set', `${many.megabytes.toFixed(0)} MB`, before, times, 'about 1 ×');
  }
  rmSync(folder, { recursive: true });
}

/** The program itself, looked at while it runs. */
async function program(dump: string, to: string, folder: string): Promise<{ seconds: number; megabytes: number }> {
  const args = [bin, 'export', dump, '--to', to, '--out', join(folder, to), '--force', '--drop', '--inferred'];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, XDG_STATE_HOME: folder, XDG_CACHE_HOME: join(folder, 'cache') },
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`cannot start ${bin}`);
  const used = { seconds: 0, megabytes: 0 };
  const looking = setInterval(() => {
    try {
      used.seconds = cpuSeconds(pid);
      used.megabytes = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1000;
    } catch {
      // It has ended.
    }
  }, 100);
  await once(child, 'close');
  clearInterval(looking);
  if (child.exitCode !== 0) throw new Error(`export --to ${to} exited with ${child.exitCode}`);
  return used;
}

async function processorTime(work: () => Promise<void>): Promise<number> {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}
