import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isJson, jsonLines } from '../../../src/viewer/present/transcript/json-text.ts';

test('a long result is laid out, short parts on one line, numbers as they were written', () => {
  const text = `{"hits":[{"id":12345678901234567890,"title":"a, {b}: \\"c\\""},{"id":1.0,"title":"${'x'.repeat(70)}"}],"none":[],"total":2}`;
  expect(jsonLines(text)).toBe(`{
  "hits": [
    {"id": 12345678901234567890, "title": "a, {b}: \\"c\\""},
    {
      "id": 1.0,
      "title": "${'x'.repeat(70)}"
    }
  ],
  "none": [],
  "total": 2
}`);
});

test('short, broken, hand-written and deeply nested texts stay as they are', () => {
  const long = `"${'x'.repeat(90)}"`;
  for (const text of [
    '{"a":1}',
    `{"a":${long}`,
    `{'a': ${long}}`,
    `{"a":\n${long}}`,
    long,
    `${'['.repeat(99)}${']'.repeat(99)}`,
  ])
    expect(jsonLines(text)).toBeNull();
  expect([isJson('{"a":1}'), isJson(' [1] '), isJson('12'), isJson("{'a': 1}")]).toEqual([true, true, false, false]);
});

test('any value means the same afterwards', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const lines = jsonLines(text);
      if (lines !== null) expect(JSON.stringify(JSON.parse(lines))).toBe(JSON.stringify(JSON.parse(text)));
    }),
  );
});
