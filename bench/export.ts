import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportRollouts } from '../src/viewer/commands/export-run.ts';
import { selectRows } from '../src/viewer/commands/select-rows.ts';
import { figure, interleaved, madeDump } from './support/measure.ts';

const FORMATS = ['trl', 'verl', 'openai', 'messages', 'trl-dpo', 'prompts'];

/** Exports of 100,000 rollouts, against reading them; processor time, so that other programs do not count. `--files=N`: N times 2,000. */
export async function run(): Promise<void> {
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

async function processorTime(work: () => Promise<void>): Promise<number> {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}
