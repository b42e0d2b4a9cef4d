import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const home = new URL('../', import.meta.url);

test('the package depends at run time only on what the bundle does not hold', () => {
  const manifest = JSON.parse(readFileSync(new URL('package.json', home), 'utf8'));
  expect(Object.keys(manifest.dependencies)).toEqual(['node-sqlite3-wasm']);
  expect(Object.keys(manifest.optionalDependencies)).toEqual(['bullmq', 'ioredis', 'pyodide']);
});

test('each path that the guides to the code name is there', () => {
  for (const guide of ['ARCHITECTURE.md', 'CONTRIBUTING.md']) {
    const named = readFileSync(new URL(guide, home), 'utf8').matchAll(/`([a-z]+\/[\w./-]*)[^`]*`/g);
    const lost = [...named]
      .map(([, path]) => path!)
      .filter((path) => !/[A-Z]{3}/.test(path))
      .filter(
        (path) => !['', 'src/'].some((root) => ['', '.ts'].some((end) => existsSync(new URL(root + path + end, home)))),
      );
    expect(lost, guide).toEqual([]);
  }
});
