// The keywords of the Python module are the flags of the program: `npx vitest run test/viewer/commands/python-flags.test.ts -u` writes them.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pythonFlags } from '../../../scripts/python-flags.mjs';
import { commandTree } from '../../../src/viewer/commands/command-tree.ts';
import { VERBS } from '../../../src/viewer/commands/commands.ts';
import { root } from '../../program.ts';

test('each reading flag of a command is a keyword of its function', async () => {
  const tree = await commandTree(Object.values(VERBS));
  await expect(pythonFlags(tree)).toMatchFileSnapshot(join(root, 'wheel/rollout_viewer/_flags.py'));
});

test.each([
  ['ls("x", fliter="a")', "ls() has no keyword 'fliter'; did you mean 'filter'?"],
  ['show("x:1", json=True)', "show() has no keyword 'json'"],
  ['frame("x", histogram=True)', "frame() has no keyword 'histogram'"],
  ['report("stats", "x", sort="score")', "report('stats') has no keyword 'sort'"],
  ['report("statz", "x")', "no report 'statz'; did you mean 'stats'?"],
])('%s is refused by its name, before anything is read', (call, problem) => {
  const code = `import rollout_viewer as rv\ntry: rv.${call}\nexcept TypeError as error: print(error)`;
  const said = execFileSync('python3', ['-c', code], { env: { ...process.env, PYTHONPATH: join(root, 'wheel') } });
  expect(String(said).trim()).toContain(problem);
});
