// docs/notebook.ipynb, run by Jupyter's own client.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { directoryWith, execute, root } from '../../program.ts';
import { lacksPackages, trainersPython } from '../../support/python.ts';

const RUN = `import nbformat, sys
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], 4)
nbformat.validate(notebook)
NotebookClient(notebook, timeout=100, resources={"metadata": {"path": sys.argv[2]}}).execute()
nbformat.write(notebook, sys.argv[3])
`;

const missing = lacksPackages('nbclient', 'ipykernel', 'pandas');
test.skipIf(missing !== '')(`the notebook of the docs runs, and shows a rollout as its page${missing}`, async () => {
  const place = directoryWith({});
  const made = await execute(process.execPath, [join(root, 'scripts/wheel.mjs'), place]);
  const site = join(place, 'site');
  await execute('python3', ['-m', 'zipfile', '-e', join(place, made.stdout.trim().split('/').at(-1)!), site]);
  const out = join(place, 'out.ipynb');
  const ran = await execute(trainersPython, ['-c', RUN, join(root, 'docs/notebook.ipynb'), root, out], {
    env: { PYTHONPATH: site },
  });
  expect([ran.code, ran.code === 0 ? '' : ran.stderr]).toEqual([0, '']);
  const { cells } = JSON.parse(readFileSync(out, 'utf8'));
  const htmlOf = (id: string): string =>
    cells.find((cell: { id: string }) => cell.id === id).outputs[0].data['text/html'].join('');
  expect(htmlOf('frame')).toContain('1.jsonl:1');
  expect(htmlOf('show')).toMatch(/^<iframe sandbox/);
});
