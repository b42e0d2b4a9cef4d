import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CHECKS, type Check } from '../src/core/rollout/checks.ts';

const DATA = fileURLToPath(new URL('../../shared/data', import.meta.url));
const PROGRAM = fileURLToPath(new URL('../dist/rollout-viewer.js', import.meta.url));
/** Files of real runs, none that was written for a test. */
const REAL = ['real', 'tau-bench', 'tau-airline-verl', 'verl-gsm8k', 'swe-agent', 'mini-swe-agent', 'inspect_ai'];
const FOLDERS = process.env.RV_FILES?.split(':') ?? REAL.map((name) => join(DATA, name));
const SHOW = process.env.RV_SHOW;

/** npm run bench findings: how often each finding is made in files of real runs; RV_SHOW=NAME lists the rollouts. */
export async function run(): Promise<void> {
  const found = new Map<Check, Set<string>>(CHECKS.map((check) => [check, new Set()]));
  let rollouts = 0;
  for (const path of FOLDERS.filter(existsSync).flatMap(filesBelow)) {
    const ls = spawnSync(process.execPath, [PROGRAM, 'ls', path, '--json'], {
      encoding: 'utf8',
      maxBuffer: 1 << 29,
    });
    for (const line of ls.stdout.split('\n').filter((text) => text !== '')) {
      const row = JSON.parse(line) as { locator?: string; findings?: { check: Check; message: string }[] };
      if (row.findings === undefined || row.locator === undefined) continue;
      rollouts++;
      for (const { check, message } of row.findings) {
        found.get(check)?.add(row.locator);
        if (check === SHOW) console.log(`${row.locator}: ${message}`);
      }
    }
  }
  if (rollouts === 0) {
    console.log(`skipped: no files in ${FOLDERS.join(', ')}`);
    return;
  }
  console.log(`${rollouts} rollouts; finding, rollouts that have it`);
  for (const [check, rows] of [...found].sort(([, a], [, b]) => b.size - a.size))
    console.log(`${check.padEnd(20)} ${rows.size}`);
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return filesBelow(path);
    return /\.(?:jsonl?|traj|eval|gz|csv|db|parquet)$/.test(name) && name !== 'truth.jsonl' ? [path] : [];
  });
}
