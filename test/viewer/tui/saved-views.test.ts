import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { loadViews, type SavedView, saveView } from '../../../src/viewer/config/saved-views.ts';

const folder = mkdtempSync(join(tmpdir(), 'views-'));
afterAll(() => rmSync(folder, { recursive: true }));

const view: SavedView = {
  filter: { text: 'score < 0.5', isInverted: false },
  sort: { key: 'chars', descending: true },
  columns: ['score', 'acc'],
  place: { locator: 'run/3.jsonl:7', turn: 2 },
  marks: { a: { locator: 'run/1.jsonl:1', turn: null } },
};

test('views are had again by name, and one does not take the place of another', () => {
  const path = join(folder, 'new', 'dump.json');
  expect(saveView(path, 'worst', view)).toBeNull();
  expect(saveView(path, 'all', { ...view, filter: null })).toBeNull();
  expect([...loadViews(path)]).toEqual([
    ['worst', view],
    ['all', { ...view, filter: null }],
  ]);
});

test('anything but a list of views is ignored', () => {
  const path = join(folder, 'broken.json');
  for (const text of ['', '[]', '{"a": 1}', '{"a": {"filter": {"text": 1}}}', '{"a"']) {
    writeFileSync(path, text);
    expect([...loadViews(path)]).toEqual([]);
  }
  // A file is where the folder would have to be made.
  expect(saveView(join(path, 'none', 'x.json'), 'a', view)).not.toBeNull();
});
