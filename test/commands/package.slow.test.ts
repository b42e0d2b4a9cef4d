import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { execute, root } from '../program.ts';

/** A copy of what git tracks or would track, without anything installed or built. */
async function freshCopy(): Promise<string> {
  const { stdout } = await execute('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z']);
  const copy = mkdtempSync(join(tmpdir(), 'rollout-viewer-clone-'));
  for (const name of stdout.split('\0'))
    if (name !== '' && existsSync(join(root, name))) cpSync(join(root, name), join(copy, name));
  return copy;
}

test('from a fresh clone npm start sets itself up, prints the list of the fixtures without a terminal, and says the rest on stderr', async () => {
  const copy = await freshCopy();
  const { stdout, code, stderr } = await execute('npm', ['start'], {
    cwd: copy,
    env: { NODE_ENV: 'production', npm_config_omit: 'dev' },
  });
  expect(stderr).toContain('installing packages');
  expect(stdout.split('\n').filter((line) => line !== '' && !line.startsWith('>')).length).toBe(35);
  expect(code).toBe(0);

  // A path of the user's is meant from where he stands, and nothing is installed a second time.
  const again = await execute('npm', ['start', '--silent', '--prefix', copy, '--', './val'], {
    cwd: join(root, 'fixtures/rollout_data'),
  });
  expect(again.stderr).not.toContain('installing');
  expect(again.stdout).toContain('./val/0.jsonl:1');
}, 240_000);

test('the packed package runs from a global install into an empty prefix', async () => {
  const place = mkdtempSync(join(tmpdir(), 'rollout-viewer-pack-'));
  const packed = await execute('npm', ['pack', '--ignore-scripts', '--pack-destination', place]);
  expect(packed.code).toBe(0);
  const [tarball] = readdirSync(place);
  const installed = await execute('npm', [
    'install',
    '--global',
    '--prefix',
    join(place, 'prefix'),
    '--no-audit',
    '--no-fund',
    join(place, tarball!),
  ]);
  expect(installed.stderr).not.toMatch(/ERR/);
  const { stdout, code } = await execute(
    join(place, 'prefix/bin/rollout-viewer'),
    ['ls', join(root, 'fixtures/rollout_data')],
    { cwd: place },
  );
  expect(stdout.trimEnd().split('\n').length).toBe(35);
  expect(code).toBe(0);
  const version = await execute(join(place, 'prefix/bin/rollout-viewer'), ['--version'], { cwd: place });
  expect(version.stdout.trim()).toBe(
    (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version,
  );
}, 240_000);
