import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TailKeys } from '../../../src/core/dump/tail-keys.ts';
import { numberOf } from '../../../src/core/formats/values.ts';
import { parseJson } from '../../../src/core/json/parse.ts';
import type { JsonObject, JsonValue } from '../../../src/core/json/value.ts';

const tail = new TailKeys(['score', 'step']);
const read = (line: string) => {
  const bytes = Buffer.from(line);
  tail.read(bytes, 0, bytes.length);
  return [...tail.values];
};

/** The number by a full parse, or null. */
const truth = (line: string): (number | null)[] => {
  const record = parseJson(line) as JsonObject;
  return ['score', 'step'].map((key) => (Object.hasOwn(record, key) ? numberOf(record[key] as JsonValue) : null));
};

const key = fc.oneof(
  fc.constantFrom('score', 'step', 'input', 'gts', 'sco\\u0072e', 'a"b', 'x\\'),
  fc.string({ maxLength: 6 }),
);
const value = fc.oneof(
  fc.constantFrom(
    '1',
    '0.5',
    '-6.58',
    'NaN',
    'Infinity',
    '-Infinity',
    'null',
    'true',
    '"0.25"',
    '"x"',
    '12345678901234567890',
    '{"score": 9}',
    '[{"step": 7}]',
    '"\\\\"',
    '"\\""',
  ),
  fc.json(),
);
const line = fc
  .array(fc.tuple(key, value), { maxLength: 8 })
  .map(
    (pairs) =>
      `{${pairs.map(([name, text]) => `${name === 'sco\\u0072e' ? `"${name}"` : JSON.stringify(name)}: ${text}`).join(', ')}}`,
  );

test('the tail never gives another value than a full parse, and knows when it is not sure', () => {
  fc.assert(
    fc.property(line, (text) => {
      const expected = truth(text);
      for (const [i, found] of read(text).entries()) if (found !== undefined) expect(found).toBe(expected[i]);
    }),
    { numRuns: 3000 },
  );
});

test('the tail of a line as trainers write it is enough', () => {
  const output = 'She said "score": 5, "step": 9}'.repeat(1000);
  expect(read(JSON.stringify({ input: '', output, gts: '1', score: -6.58, step: 120, acc: true, pred: '7' }))).toEqual([
    -6.58, 120,
  ]);
  expect(read('{"input": "", "output": "", "score": NaN, "step": 3}\r')).toEqual([Number.NaN, 3]);
  expect(read('{"score": 1, "score": 2, "step": 3}')).toEqual([2, 3]);
  expect(read('{"input": "a"}')).toEqual([null, null]);
  expect(read(JSON.stringify({ score: 1, step: 2, feedback: 'x'.repeat(9000) }))).toEqual([undefined, undefined]);
  expect(read('{"score": 1, "step"')).toEqual([undefined, undefined]);
});
