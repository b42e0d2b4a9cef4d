import { cpSync, existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { execute, root } from '../../program.ts';

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

  // A user's path is relative to the current directory, and nothing is installed a second time.
  const again = await execute('npm', ['start', '--silent', '--prefix', copy, '--', './val'], {
    cwd: join(root, 'fixtures/rollout_data'),
  });
  expect(again.stderr).not.toContain('installing');
  expect(again.stdout).toContain('./val/0.jsonl:1');
});

interface Packed {
  filename: string;
  size: number;
  files: { path: string }[];
}

/** The package as it would be published, in a separate folder. */
async function pack(): Promise<{ place: string; tarball: string; packed: Packed }> {
  const place = mkdtempSync(join(tmpdir(), 'rollout-viewer-pack-'));
  const { stdout, code } = await execute('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', place]);
  expect(code).toBe(0);
  const [packed] = JSON.parse(stdout) as [Packed];
  return { place, tarball: join(place, packed.filename), packed };
}

test('the package is small, brings the notices of what it bundles, and every file that its README links to', async () => {
  const { packed } = await pack();
  expect(packed.size).toBeLessThanOrEqual(3_000_000);
  const paths = packed.files.map(({ path }) => path);
  expect(paths).toContain('dist/THIRD-PARTY-NOTICES.txt');
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const links = [...readme.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map((match) => match[1]!);
  expect(links.length).toBeGreaterThan(5);
  // A person who changes the program, or looks at its pictures, does so in the repository.
  const isOfRepository = (link: string) => link.endsWith('.svg') || /^(ARCHITECTURE|CONTRIBUTING)\.md$/.test(link);
  expect(links.filter((link) => !paths.includes(link) && !isOfRepository(link))).toEqual([]);
});

test('the packed package runs by npx and from a global install into an empty prefix', async () => {
  const { place, tarball } = await pack();
  const prefix = join(place, 'prefix');
  const flags = ['--global', '--prefix', prefix, '--no-audit', '--no-fund'];
  expect((await execute('npm', ['install', ...flags, tarball])).stderr).not.toMatch(/ERR/);
  const bin = join(prefix, 'bin/rollout-viewer');
  const { stdout, code } = await execute(bin, ['ls', join(root, 'fixtures/rollout_data')], { cwd: place });
  expect(stdout.trimEnd().split('\n').length).toBe(35);
  expect(code).toBe(0);
  const version = await execute(bin, ['--version'], { cwd: place });
  expect(version.stdout.trim()).toBe(
    (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version,
  );
  const once = await execute(
    'npx',
    ['--yes', `./${basename(tarball)}`, 'ls', '--limit', '1', join(root, 'fixtures/rollout_data')],
    {
      cwd: place,
      env: { npm_config_cache: join(place, 'cache') },
    },
  );
  expect(once.stdout.trimEnd().split('\n').length).toBe(2);
});

test('without its optional parts everything else works, and the printed command installs them', async () => {
  const { place, tarball } = await pack();
  // npm leaves them out of a local install only.
  await execute('npm', ['install', '--prefix', place, '--omit=optional', '--no-audit', '--no-fund', tarball]);
  expect(existsSync(join(place, 'node_modules/pyodide'))).toBe(false);
  const bin = join(place, 'node_modules/.bin/rollout-viewer');
  const list = await execute(bin, ['ls', join(root, 'fixtures/rollout_data')], { cwd: place });
  expect(list.stdout.trimEnd().split('\n').length).toBe(35);

  const call = ['replay', join(root, 'fixtures/rollout_data/train/3.jsonl:4'), '--sandbox', 'pyodide', '--yes'];
  const { stderr, stdout } = await execute(bin, call, { cwd: place });
  const [command] = /npm install --no-save .*?'pyodide@[^']*'/.exec(stderr + stdout) ?? [];
  expect(command).toBeDefined();
  expect((await execute('sh', ['-c', command!], { cwd: place })).code).toBe(0);
  const after = await execute(bin, call, { cwd: place });
  expect(after.stderr + after.stdout).not.toContain('is not installed');
  expect(after.stdout).toContain('Pyodide');
});
