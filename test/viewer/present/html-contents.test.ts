import { expect, test } from 'vitest';
import { pageEnd } from '../../../src/viewer/present/html/page.ts';

test.each([
  [
    ['/runs/x/train/3.jsonl:1', '/runs/x/train/3.jsonl:2'],
    ['3.jsonl:1', '3.jsonl:2'],
  ],
  [
    ['x/train/3.jsonl:1', 'x/val/3.jsonl:1'],
    ['train/3.jsonl:1', 'val/3.jsonl:1'],
  ],
  [
    ['/a.jsonl:1', 'b.jsonl:1'],
    ['/a.jsonl:1', 'b.jsonl:1'],
  ],
  [
    ['a.jsonl:1', 'a.jsonl:1.2'],
    ['a.jsonl:1', 'a.jsonl:1.2'],
  ],
])('the contents leave out the folder that all share: %j', (names, shown) => {
  const page = pageEnd(
    [],
    names.map((name, i) => ({ id: `r${i}`, name, cells: [] })),
  );
  expect([...page.matchAll(/<a href="#r\d">([^<]*)<\/a>/g)].map(([, text]) => text)).toEqual(shown);
});
