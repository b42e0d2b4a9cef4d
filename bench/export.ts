import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportRollouts } from '../src/viewer/commands/export-run.ts';
import { selectRows } from '../src/viewer/commands/select-rows.ts';
import { figure, interleaved, madeDump } from './support/measure.ts';

/** An export of 100,000 rollouts, against reading them. */
export async function run(): Promise<void> {
  const dump = madeDump('100k', 50, 2000, 2);
  const folder = mkdtempSync(join(tmpdir(), 'rollout-viewer-bench-'));
  process.env.XDG_STATE_HOME = folder;
  const flags = { to: 'trl', out: join(folder, 'a.jsonl'), force: true, drop: true, inferred: true };
  const rest = { pairs: 'best', copies: true, seed: '0', json: true } as const;
  const write = process.stdout.write;
  const exported = (): Promise<number> =>
    timed(async () => {
      process.stdout.write = () => true;
      try {
        await exportRollouts([dump], { ...flags, ...rest });
      } finally {
        process.stdout.write = write;
      }
    });
  const read = (): Promise<number> =>
    timed(async () => {
      for await (const { row } of selectRows([dump], {})) void row.rollout;
    });
  const [out, baseline] = await interleaved(3, exported, read);
  rmSync(folder, { recursive: true });
  figure(
    'export 100,000 rollouts',
    `${out.toFixed(0)} ms`,
    `reading them: ${baseline.toFixed(0)} ms`,
    out / baseline,
    '≤ 2 ×',
  );
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
