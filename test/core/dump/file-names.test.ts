import { basename } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { distinctFolders } from '../../../src/core/dump/file-names.ts';

test('files of one name are distinguished by as few folders as possible', () => {
  const paths = ['run/train/3.jsonl', 'run/val/3.jsonl', 'run/val/4.jsonl', '3.jsonl'];
  expect([...distinctFolders(paths)].map(([path, folders]) => [path, folders])).toEqual([
    ['run/train/3.jsonl', 'train/'],
    ['run/val/3.jsonl', 'val/'],
    ['run/val/4.jsonl', ''],
    ['3.jsonl', ''],
  ]);
  expect(distinctFolders(['/a/x/1.jsonl', '/b/x/1.jsonl']).get('/b/x/1.jsonl')).toBe('b/x/');
  expect(distinctFolders(['/1.jsonl', '/x/1.jsonl']).get('/x/1.jsonl')).toBe('x/');
});

test('no two files have one name, and each name ends its path', () => {
  const folder = fc.constantFrom('a', 'b', 'train', '');
  const path = fc.tuple(fc.array(folder, { maxLength: 4 }), fc.constantFrom('1.jsonl', '2.jsonl'));
  fc.assert(
    fc.property(fc.uniqueArray(path, { selector: ([folders, name]) => [...folders, name].join('/') }), (drawn) => {
      const paths = drawn.map(([folders, name]) => [...folders, name].join('/'));
      const folders = distinctFolders(paths);
      const names = paths.map((path) => folders.get(path) + basename(path));
      expect(new Set(names).size).toBe(paths.length);
      for (const [i, path] of paths.entries()) expect(path.endsWith(names[i] ?? '?')).toBe(true);
    }),
  );
});
