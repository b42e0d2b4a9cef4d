import fc from 'fast-check';
import { expect, test } from 'vitest';
import { printJson } from '../../../src/core/json/print.ts';
import { addExtraNames } from '../../../src/core/rollout/extra-names.ts';
import { groupKeyOf, groupKeysLike, mayHaveGroupKeys } from '../../../src/core/rollout/group-key.ts';
import type { Rollout } from '../../../src/core/rollout/rollout.ts';

const rollout = (more: object = {}): Rollout =>
  ({
    turns: [
      { role: 'user', text: 'Why?' },
      { role: 'assistant', text: 'So.' },
    ],
    responseTurn: 1,
    groundTruth: '4',
    ...more,
  }) as unknown as Rollout;

test('the group is what the record calls it, else the prompt part of its uid, else prompt and ground truth', () => {
  expect(groupKeyOf(rollout({ group: 'g', uid: 'p_0_0' }))).toMatchObject({ from: 'uid', key: 'g' });
  expect(groupKeyOf(rollout({ uid: 'a_b_1_0' }))).toMatchObject({ from: 'uid', key: 'a_b' });
  expect(groupKeyOf(rollout({ uid: 'a_b' })).from).toBe('prompt');
  expect(groupKeyOf(rollout()).key).toBe(groupKeyOf(rollout({ turns: [{ role: 'user', text: 'Why?' }] })).key);
  expect(groupKeyOf(rollout()).key).not.toBe(groupKeyOf(rollout({ groundTruth: '5' })).key);
  expect(groupKeyOf(rollout()).prompt).toBe(groupKeyOf(rollout({ groundTruth: '5' })).prompt);
});

test('the header that waits for an empty response is no part of the prompt', () => {
  const waits = rollout({
    turns: [
      { role: 'user', text: 'Why?' },
      { role: 'assistant', text: '' },
    ],
    responseTurn: 2,
  });
  expect(groupKeyOf(waits).key).toBe(groupKeyOf(rollout()).key);
});

test('extras have names one level deep; lists and odd keys have none', () => {
  const names = new Set<string>();
  addExtraNames(
    { acc: 1, reward: { extra: 2, deep: { deeper: 3 } }, list: [1], 'a b': 1, '1st': 1, größe: null },
    names,
  );
  expect([...names]).toEqual(['acc', 'reward.extra', 'größe']);
  const many = new Set<string>();
  addExtraNames(Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`k${i}`, i])), many);
  expect(many.size).toBe(200);
});

test('no object has a key like that of a group unless its JSON may', () => {
  const key = fc
    .tuple(
      fc.constantFrom('', 'my_', 'A_', 'é_'),
      fc.constantFrom(
        'task',
        'Prompt',
        'problem',
        'question',
        'query',
        'GROUP',
        'example',
        'instance',
        'item',
        'index',
        'idx',
      ),
      fc.constantFrom('', '_id', 'Idx', '_key', 's'),
    )
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.dictionary(fc.oneof(key, fc.string()), fc.oneof(fc.string(), fc.integer())), (extras) => {
      if (groupKeysLike({ extras }).length > 0) expect(mayHaveGroupKeys(printJson(extras))).toBe(true);
    }),
  );
  expect(mayHaveGroupKeys('{"acc":false,"num_turns":8}')).toBe(false);
});
