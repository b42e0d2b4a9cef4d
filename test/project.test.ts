import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('the package depends at run time only on what the bundle does not hold', () => {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  expect(Object.keys(manifest.dependencies)).toEqual(['node-sqlite3-wasm']);
  expect(Object.keys(manifest.optionalDependencies)).toEqual(['bullmq', 'ioredis', 'pyodide']);
});
