import { expect, test } from 'vitest';
import { changesOf, fingerprintOf, hashOf } from '../../../src/core/json/fingerprint.ts';

test('parts are kept in words, long ones as a hash, and what is undefined is left out', () => {
  const long = 'x'.repeat(81);
  expect(fingerprintOf({ b: { n: 1 }, a: 'python 3.11', c: undefined, d: long })).toEqual({
    a: 'python 3.11',
    b: '{"n":1}',
    d: hashOf(long),
  });
  expect(fingerprintOf({ d: 'x'.repeat(80) }).d).toHaveLength(80);
  expect(Object.keys(fingerprintOf({ b: '1', a: '2' }))).toEqual(['a', 'b']);
});

test('changes are listed part by part, including parts that came and went', () => {
  expect(changesOf({ python: '3.8', gone: '1' }, { python: '3.11', rules: 'all' })).toEqual([
    'python 3.11, was 3.8',
    'gone nothing, was 1',
    'rules all, was nothing',
  ]);
  expect(changesOf({ python: '3.8' }, { python: '3.8' })).toEqual([]);
});
