// TRL itself: a tiny GRPO run on the processor, recorded by the installed wheel.
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { kill, start, until } from '../../cluster/processes.ts';
import { directoryWith, execute, jsonLines, rolloutViewer, root } from '../../program.ts';
import { lacksPackages, trainersPython } from '../../support/python.ts';

const missing = lacksPackages('trl');

interface Used {
  mode: string;
  step: number;
  prompt: number[];
  ids: number[];
  mask: number[];
  advantage: number;
}

describe(`TRL${missing}`, () => {
  test.skipIf(missing !== '').each(['plain', 'masked', 'twice'])(
    'ids and masks are those of the losses, token by token: %s',
    async (kind) => {
      const place = directoryWith({});
      const made = await execute(process.execPath, [join(root, 'scripts/wheel.mjs'), place]);
      const site = join(place, 'site');
      mkdirSync(site);
      await execute('python3', ['-m', 'zipfile', '-e', join(place, made.stdout.trim().split('/').at(-1)!), site]);
      const ran = await execute(trainersPython, [join(root, 'test/engine/python/trl_run.py'), place, '4', kind], {
        env: { PYTHONPATH: site, OMP_NUM_THREADS: '1' },
      });
      expect([ran.code, ran.code === 0 ? '' : ran.stderr]).toEqual([0, '']);
      const { used, errors } = JSON.parse(readFileSync(join(place, 'used.json'), 'utf8')) as {
        used: Used[];
        errors: [number, string][];
      };
      expect(errors.map(([count]) => count)).toEqual([0, 0]);
      const rows = ['train', 'val'].flatMap((mode) => {
        const folder = join(place, 'rollout_data', mode);
        return readdirSync(folder).flatMap((name) =>
          jsonLines(readFileSync(join(folder, name), 'utf8')).map((line) => ({ mode, line })),
        );
      });
      const keyOf = (mode: string, prompt: unknown, ids: unknown, mask: unknown) =>
        JSON.stringify([mode, prompt, ids, mask]);
      const recorded = rows.map(({ mode, line }) =>
        keyOf(mode, line.prompt_ids, line.response_ids, line.response_mask),
      );
      // A masked completion is cut where its record ends: padding follows, and the mask holds no ones.
      const lengths = new Set(rows.map(({ line }) => (line.response_ids as number[]).length));
      const keysOf = ({ mode, prompt, ids, mask }: Used) =>
        [...lengths].map((length) => keyOf(mode, prompt, ids.slice(0, length), mask.slice(0, length)));
      const left = [...recorded];
      for (const one of used) {
        const at = left.findIndex((key) => keysOf(one).includes(key));
        if (at >= 0) left.splice(at, 1);
        // A rollout that is trained on twice is one rollout.
        else expect(kind === 'twice' && keysOf(one).some((key) => recorded.includes(key))).toBe(true);
      }
      expect(left).toEqual([]);
      for (const { line } of rows) {
        expect(line.output).not.toBe('');
        expect((line.reward_scores as Record<string, unknown>).length).toEqual(expect.any(Number));
      }
      if (kind === 'masked') expect(used.some(({ mask }) => mask.every((bit) => bit === 0))).toBe(true);
      const { stdout, code } = await rolloutViewer(['ls', join(place, 'rollout_data'), '--json']);
      expect([code, jsonLines(stdout).length]).toEqual([0, rows.length]);
    },
  );

  test.skipIf(missing !== '')('a run that is killed leaves whole lines of the steps that it had written', async () => {
    const place = directoryWith({});
    const run = start([join(root, 'test/engine/python/trl_run.py'), place, '1000', 'plain'], {
      program: [trainersPython],
      env: { PYTHONPATH: join(root, 'wheel'), OMP_NUM_THREADS: '1' },
    });
    const folder = join(place, 'rollout_data/train');
    const text = () =>
      existsSync(folder)
        ? readdirSync(folder)
            .map((name) => readFileSync(join(folder, name), 'utf8'))
            .join('')
        : '';
    await until(() => text().split('\n').length > 40 || run.child.exitCode !== null);
    await kill(run);
    const whole = text().split('\n').slice(0, -1);
    expect(whole.length).toBeGreaterThanOrEqual(40);
    for (const line of whole) expect(JSON.parse(line).response_ids.length).toBe(JSON.parse(line).response_mask.length);
    const { code, stdout } = await rolloutViewer(['ls', folder, '--json']);
    expect([code, jsonLines(stdout).filter(({ error }) => error === undefined).length]).toEqual([0, whole.length]);
  });
});
