// Times as writers recorded them: the kinds and the blank are the wall time, and that is the records' own.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { Dump } from '../../src/dump/dump.ts';
import type { Rollout } from '../../src/rollout/rollout.ts';
import { timeByKind } from '../../src/rollout/times.ts';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const home = join(process.env.RV_SHARED ?? join(root, '../shared'), 'data/formats');

// biome-ignore lint/suspicious/noExplicitAny: recorded data, looked into freely.
type Raw = any;

async function rolloutsOf(file: string): Promise<Rollout[]> {
  const dump = Dump.open([join(home, file)]);
  try {
    const found: Rollout[] = [];
    for (const one of dump.files) {
      await one.buildIndex(() => true);
      for (let record = 0; record < one.count; record++) {
        const { rollout } = one.read(record);
        if (rollout !== null) found.push(rollout);
      }
    }
    return found;
  } finally {
    dump.close();
  }
}

const WITH_TIMES = [
  'prime-rl/run-chunked/monitors/file/traces',
  'prime-rl/run-steps/rollouts/step_12',
  'prime-rl/run-steps/rollouts/step_1',
  'verifiers-v1',
  'verifiers/svbench_2026-05.jsonl',
  'inspect/log_formats.eval',
  'harbor',
  'claude-code/representative_messages.jsonl',
  'codex',
];

// A clone alone has no samples of other writers.
describe.skipIf(!existsSync(home))('times of samples (skipped without ../shared/data)', () => {
  test.each(WITH_TIMES)('%s: the kinds and what nothing explains are the wall time', async (file) => {
    const timed = (await rolloutsOf(file)).flatMap(({ times }) => times ?? []);
    expect(timed.length).toBeGreaterThan(0);
    for (const times of timed) {
      const sum = Object.values(timeByKind(times)).reduce((all, seconds) => all + seconds, 0);
      expect(Math.abs(sum - times.wall)).toBeLessThanOrEqual(0.01 * times.wall + 1e-6);
    }
  });

  test('of a trace: from its dispatch, else its start, to the last end that was recorded', async () => {
    const file = 'prime-rl/run-steps/rollouts/step_12/train/all/traces.jsonl';
    const traces: Raw[] = readFileSync(join(home, file), 'utf8')
      .split('\n')
      .flatMap((line) => (line === '' ? [] : (JSON.parse(line).traces ?? [])));
    const walls = traces.map(({ timing, calls, info }) => {
      const ends = [
        timing.boot,
        timing.setup,
        timing.finalize,
        timing.scoring,
        ...(calls ?? []).map((one: Raw) => one.time),
      ];
      const last = ends.reduce((most, one) => Math.max(most, one?.end ?? 0), 0);
      return last - Math.min(timing.start, info?.dispatch?.time ?? timing.start);
    });
    const told = (await rolloutsOf(file)).map(({ times }) => times!.wall);
    expect(told.length).toBe(walls.length);
    for (const [i, wall] of walls.entries()) expect(told[i]).toBeCloseTo(wall, 5);
  });
});
