// The contents of a release, built from the last commit, and installed as its recipe says.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { directoryWith, execute, root } from '../program.ts';

let place = '';
const release = (...args: string[]) => execute(process.execPath, [join(root, 'scripts/release.mjs'), ...args]);

beforeAll(async () => {
  place = join(directoryWith({}), 'release');
  expect(
    await release('--dry', '--out', place, '--url', 'https://example.org/v9/', '--maintainer', 'octocat'),
  ).toMatchObject({ code: 0 });
});

test('its checksums hold, and recipe and formula name the package with its checksum', async () => {
  const checked = await execute('sha256sum', ['-c', 'SHA256SUMS'], { cwd: place });
  expect([checked.code, checked.stdout.trim().split('\n').length]).toEqual([0, 5]);
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const sum = (await execute('sha256sum', [join(place, `rollout-viewer-${version}.tgz`)])).stdout.slice(0, 64);
  const { source, package: named, extra } = parse(readFileSync(join(place, 'recipe.yaml'), 'utf8'));
  expect(named).toEqual({ name: 'rollout-viewer', version });
  expect(extra).toEqual({ 'recipe-maintainers': ['octocat'] });
  expect(source).toEqual({ url: `https://example.org/v9/rollout-viewer-${version}.tgz`, sha256: sum });
  const formula = readFileSync(join(place, 'rollout-viewer.rb'), 'utf8');
  expect(formula).toContain(`  url "${source.url}"\n  sha256 "${sum}"\n`);
});

test('the script of the recipe installs a program that runs', async () => {
  const { build, source } = parse(readFileSync(join(place, 'recipe.yaml'), 'utf8'));
  const prefix = directoryWith({});
  await execute('tar', ['xzf', join(place, source.url.split('/').at(-1))], { cwd: prefix });
  const installed = await execute('bash', ['-euc', build.script.join('\n')], {
    cwd: join(prefix, 'package'),
    env: { PREFIX: prefix },
  });
  expect([installed.code, installed.code === 0 ? '' : installed.stderr]).toEqual([0, '']);
  const list = await execute(join(prefix, 'bin/rollout-viewer'), ['ls', join(root, 'fixtures/rollout_data')]);
  expect(list.stdout.trimEnd().split('\n')).toHaveLength(35);
});

test('a tag that is not there builds nothing', async () => {
  const { code, stderr, stdout } = await release('v0.0.0-none');
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain('not a valid object name: refs/tags/v0.0.0-none');
});
