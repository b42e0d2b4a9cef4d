import { existsSync, mkdirSync, mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ensureFolder } from '../../../src/core/files/ensure-folder.ts';

const outcome = (make: () => unknown): boolean => {
  try {
    make();
    return true;
  } catch {
    return false;
  }
};

test('folders are made as Node makes them, where Node makes any', () => {
  const part = fc.constantFrom('a', 'b', '.', 'file', '');
  fc.assert(
    fc.property(fc.array(fc.array(part, { maxLength: 4 }), { minLength: 1, maxLength: 4 }), (paths) => {
      const [ours, nodes] = ['ours', 'nodes'].map((name) => {
        const root = mkdtempSync(join(tmpdir(), `${name}-`));
        mkdirSync(join(root, 'x/y'), { recursive: true });
        writeFileSync(join(root, 'x/y/file'), '');
        return join(root, 'x/y');
      }) as [string, string];
      for (const path of paths) {
        const made = outcome(() => ensureFolder(`${ours}/${path.join('/')}`));
        expect(made).toBe(outcome(() => mkdirSync(`${nodes}/${path.join('/')}`, { recursive: true })));
        expect(existsSync(join(ours, ...path))).toBe(existsSync(join(nodes, ...path)));
      }
    }),
    { numRuns: 100 },
  );
});

test('a folder for this user alone', () => {
  const root = mkdtempSync(join(tmpdir(), 'private-'));
  ensureFolder(join(root, 'a/b'), 0o700);
  expect(['a', 'a/b'].map((name) => statSync(join(root, name)).mode & 0o777)).toEqual([0o700, 0o700]);
});

// Node's own call never returns here.
test.skipIf(!existsSync('/proc/self'))(
  'where the system will have no folder, that is an error (skipped without /proc)',
  () => {
    for (const path of ['/proc/rollout-viewer', '/proc/rollout-viewer/a/b', '/proc/self/x/y'])
      expect(() => ensureFolder(path)).toThrow(/ENOENT|EACCES|EPERM/);
  },
);
