import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { DirectoryWatch } from '../../../src/core/dump/directory-watch.ts';
import { directoryWith } from '../../program.ts';

let watching: DirectoryWatch;
afterEach(() => watching.close());

/** The entries below a folder that were reported as changed. */
function watched(...paths: string[]): { seen: Set<string>; sees: (path: string) => Promise<void> } {
  const seen = new Set<string>();
  watching = new DirectoryWatch(paths, {
    changed: (path) => seen.add(path),
    failed: (reason) => {
      throw new Error(reason);
    },
  });
  return {
    seen,
    sees: async (path) => {
      await vi.waitFor(() => expect(seen).toContain(path), { timeout: 120_000 });
      seen.clear();
    },
  };
}

test('a write to a file comes from the watch of its directory: one watch a directory, none a file', async () => {
  const directory = directoryWith({ 'train/1.jsonl': 'a\n', 'train/2.jsonl': 'b\n', 'val/0.jsonl': 'c\n' });
  const { sees } = watched(directory);
  expect(watching.count).toBe(3);
  appendFileSync(join(directory, 'train/2.jsonl'), 'more\n');
  await sees(join(directory, 'train/2.jsonl'));
  writeFileSync(join(directory, 'val/1.jsonl'), 'new\n');
  await sees(join(directory, 'val/1.jsonl'));
});

test('a directory that is made later is watched, with what lies below it', async () => {
  const directory = directoryWith({ '1.jsonl': 'a\n' });
  const { sees } = watched(directory);
  mkdirSync(join(directory, 'new/deep'), { recursive: true });
  await sees(join(directory, 'new'));
  await vi.waitFor(() => expect(watching.count).toBe(3), { timeout: 120_000 });
  writeFileSync(join(directory, 'new/deep/2.jsonl'), 'b\n');
  await sees(join(directory, 'new/deep/2.jsonl'));
});

test('a path that does not exist yet is watched once it does', async () => {
  const directory = directoryWith({});
  const run = join(directory, 'a/run');
  const { sees } = watched(run);
  mkdirSync(run, { recursive: true });
  await sees(join(directory, 'a'));
  writeFileSync(join(run, '1.jsonl'), 'a\n');
  await sees(join(run, '1.jsonl'));
});

test('a directory that was replaced is watched again by the next check', async () => {
  const directory = directoryWith({ 'run/1.jsonl': 'a\n' });
  const run = join(directory, 'run');
  const { sees } = watched(run);
  renameSync(run, join(directory, 'old'));
  mkdirSync(run);
  watching.check();
  writeFileSync(join(run, '2.jsonl'), 'b\n');
  await sees(join(run, '2.jsonl'));
});

test('links that lead in circles and dot directories are not followed', () => {
  const directory = directoryWith({ 'train/1.jsonl': 'a\n', '.git/1.jsonl': 'b\n' });
  symlinkSync('..', join(directory, 'train/up'));
  watched(directory);
  expect(watching.count).toBeLessThanOrEqual(4);
  expect(watching.count).toBeGreaterThanOrEqual(2);
});

test('a file by its name, and a pattern, are watched by their directory', async () => {
  const directory = directoryWith({ 'x/1.jsonl': 'a\n', 'y/1.jsonl': 'a\n' });
  const { sees } = watched(join(directory, 'x/1.jsonl'));
  appendFileSync(join(directory, 'x/1.jsonl'), 'b\n');
  await sees(join(directory, 'x/1.jsonl'));
  watching.close();
  const pattern = watched(`${directory}/*/1.jsonl`);
  appendFileSync(join(directory, 'y/1.jsonl'), 'b\n');
  await pattern.sees(join(directory, 'y/1.jsonl'));
  rmSync(join(directory, 'y'), { recursive: true });
});
