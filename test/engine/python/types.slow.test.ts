// The types of the wheel's module, as mypy sees them.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { directoryWith, execute, root } from '../../program.ts';
import { lacksPackages, trainersPython } from '../../support/python.ts';

const PROGRAM = `import rollout_viewer
import rollout_viewer.ray

rows = [row["score"] for row in rollout_viewer.ls("x", filter="score < 1", limit=3, chat_template="Qwen2.5")]
table = rollout_viewer.report("stats", "x", by="tool")
verdicts = rollout_viewer.ray.replay("x", worker={"sandbox": "bubblewrap"}, repeat=3)
rollout_viewer.ls("x", fliter="score < 1")
rollout_viewer.report("statz", "x")
rollout_viewer.ray.rescore("x", worker={"sandbx": "bubblewrap"})
`;

const missing = lacksPackages('mypy');
describe.skipIf(missing !== '')(`mypy${missing}`, () => {
  const mypy = (...args: string[]) =>
    execute(trainersPython, ['-m', 'mypy', '--strict', '--cache-dir', directoryWith({}), ...args], {
      env: { MYPYPATH: join(root, 'wheel') },
    });

  test('finds no mistake in the module', async () => {
    expect((await mypy(join(root, 'wheel/rollout_viewer'))).stdout).toContain('Success: no issues found');
  });

  test('names a wrong keyword, report or flag of a program that uses it, and nothing else', async () => {
    const { stdout } = await mypy(join(directoryWith({ 'program.py': PROGRAM }), 'program.py'));
    const lines = [...stdout.matchAll(/program\.py:(\d+): error/g)].map(([, line]) => Number(line));
    expect(lines, stdout).toEqual([7, 8, 9]);
  });
});
