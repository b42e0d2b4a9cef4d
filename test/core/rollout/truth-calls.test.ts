import { expect, test } from 'vitest';
import { parseLine } from '../../../src/core/dump/parse-line.ts';
import { truthCalls } from '../../../src/core/rollout/truth-calls.ts';

const call = (name: string, given: object, result = 'done') =>
  `<tool_call>\n${JSON.stringify({ name, arguments: given })}\n</tool_call>\nuser\n<tool_response>\n${result}\n</tool_response>\nassistant\n`;

function compared(gts: unknown, ...calls: string[]) {
  const line = { input: 'user\nbook it\nassistant\n', output: `${calls.join('')}ok`, gts, score: 0 };
  const { rollout } = parseLine(JSON.stringify(line), { validation: false });
  if (rollout === null) throw new Error('no rollout');
  return truthCalls(rollout)?.map(({ name, how, failed, differs }) => [
    name,
    how,
    failed,
    differs.map(({ key }) => key),
  ]);
}

const truth = (...calls: [name: string, given: object][]) => calls.map(([name, kwargs]) => ({ name, kwargs }));

test('calls of the ground truth are made, made with other arguments or missing; others of its tools are extra', () => {
  const gts = truth(
    ['book', { to: 'SEA', bags: 3 }],
    ['pay', { card: 'a', sum: [5, { x: 1, y: 2 }] }],
    ['cancel', { id: 1 }],
  );
  const made = [
    call('look', { user: 'mia' }),
    call('book', { to: 'SEA', bags: 2 }, 'Error: no seats'),
    call('pay', { sum: [5, { y: 2, x: 1 }], card: 'a' }),
    call('pay', { card: 'b' }),
  ];
  const expected = [
    ['book', 'other', true, ['bags']],
    ['pay', 'made', false, []],
    ['cancel', 'missing', false, []],
    ['pay', 'extra', false, []],
  ];
  expect(compared(gts, ...made)).toEqual(expected);
  expect(compared(JSON.stringify(gts), ...made)).toEqual(expected);
});

test('the same arguments are matched first, so that a wrong call takes no place of a right one', () => {
  const gts = truth(['pay', { sum: 1 }], ['pay', { sum: 2 }]);
  expect(compared(gts, call('pay', { sum: 3 }), call('pay', { sum: 1 }))).toEqual([
    ['pay', 'made', false, []],
    ['pay', 'other', false, ['sum']],
  ]);
});

test('a call that failed is what was meant only if no other is', () => {
  const gts = truth(['book', { bags: 0 }]);
  const failed = call('book', { bags: 0 }, 'Error: no seats');
  expect(compared(gts, failed, call('book', { bags: 0 }))).toEqual([
    ['book', 'made', false, []],
    ['book', 'extra', true, []],
  ]);
  expect(
    compared(gts, call('book', { bags: 1 }, 'Error: no seats'), call('book', { bags: 1, to: 'SEA' }))?.[0],
  ).toEqual(['book', 'other', false, ['bags', 'to']]);
});

test.each([
  ['42'],
  [[]],
  ['[1, 2'],
  [[{ name: 'f' }]],
  [{ name: 'f', kwargs: {} }],
  [[1]],
  [['a', { name: 'f', kwargs: {} }]],
])('a ground truth that is no list of calls is not compared: %j', (gts) => {
  expect(compared(gts, call('f', {}))).toBeUndefined();
});
