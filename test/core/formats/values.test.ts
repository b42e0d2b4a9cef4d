import { describe, expect, test } from 'vitest';
import { csvRows } from '../../../src/core/dump/containers/csv.ts';
import { recordedSpans } from '../../../src/core/formats/engine-dump.ts';
import { parsePythonLiteral } from '../../../src/core/formats/python-literal.ts';
import { formatOf, wrapList } from '../../../src/core/formats/registry.ts';
import { idOf, numberOf } from '../../../src/core/formats/values.ts';
import { layRewards } from '../../../src/core/formats/verl.ts';

test('a number is a number or the text of one', () => {
  expect(
    [1, 2n, '0.5', ' 7 ', 'nan', '-inf', 'INF', '', ' ', 'x', true, null, undefined].map((value) =>
      numberOf(value as never),
    ),
  ).toEqual([
    1,
    2,
    0.5,
    7,
    Number.NaN,
    Number.NEGATIVE_INFINITY,
    Number.POSITIVE_INFINITY,
    null,
    null,
    null,
    null,
    null,
    null,
  ]);
  expect([idOf('a'), idOf(5), idOf(2n ** 60n), idOf(true), idOf(null)]).toEqual([
    'a',
    '5',
    '1152921504606846976',
    null,
    null,
  ]);
});

describe('a value as Python writes it', () => {
  test.each<[string, unknown]>([
    ["{'role': 'system', 'content': \"it's\"}", { role: 'system', content: "it's" }],
    ['(1, 2)', [1, 2]],
    ['(1,)', [1]],
    ['[]', []],
    ['{1: None, True: False}', { 1: null, true: false }],
    ['-inf', Number.NEGATIVE_INFINITY],
    ['1e-3', 0.001],
    ['9007199254740993', 9007199254740993n],
    ['Status.DONE', 'Status.DONE'],
    ["'a\\n\\x41\\u00e9\\'\\d'", "a\nAé'\\d"],
    ["'open", undefined],
    ['1 2', undefined],
    ['{1, 2}', undefined],
    ['', undefined],
  ])('%s', (text, value) => {
    const read = parsePythonLiteral(text);
    expect(typeof read === 'object' && read !== null && !Array.isArray(read) ? { ...read } : read).toEqual(value);
  });
});

describe('rows of a CSV', () => {
  test.each<[string, string[][]]>([
    [
      'a,b\n1,2\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    ['\ufeffa\r\nb\rc', [['a'], ['b'], ['c']]],
    ['"a,1\n""x""",b', [['a,1\n"x"', 'b']]],
    ['"a"tail,b', [['atail', 'b']]],
    [
      'a,\n\n,',
      [
        ['a', ''],
        ['', ''],
      ],
    ],
    ['"open,\nto the end', [['open,\nto the end']]],
  ])('%j', (text, rows) => {
    expect([...csvRows(text)]).toEqual(rows);
  });
});

describe('flat lists of rewards', () => {
  const rollout = () => {
    const turn = (index: number, role: string, toolCalls: object[] = []) => ({
      index,
      role,
      text: 'x',
      reward: null,
      toolCalls,
    });
    return {
      turns: [
        turn(0, 'user'),
        turn(1, 'assistant', [{ resultTurn: 2 }, { resultTurn: null }]),
        turn(2, 'tool'),
        turn(3, 'user'),
        turn(4, 'assistant'),
      ],
      responseTurn: 1,
      score: 1,
    } as never;
  };

  test('lie on the results and the user turns of the response where there are as many', () => {
    expect(layRewards({ tool_rewards: [0.5], turn_scores: ['0.25'] }, rollout())).toMatchObject({
      total: 1,
      perTurn: [null, null, 0.5, 0.25, null],
      unaligned: [],
    });
    expect(layRewards({ tool_rewards: [null] }, rollout()).perTurn).toBeNull();
  });

  test('are kept whole where they do not fit, or hold what is no number', () => {
    const read = layRewards({ tool_rewards: [0.5, 1], turn_scores: [{}] }, rollout());
    expect(read.unaligned).toEqual([
      { field: 'tool_rewards', values: [0.5, 1] },
      { field: 'turn_scores', values: [{}] },
    ]);
    expect(read.perTurn).toBeNull();
    expect(layRewards({ tool_rewards: [] }, rollout()).unaligned).toEqual([]);
  });
});

describe('recorded spans', () => {
  const span = (start: number, end: number, more = {}) => ({
    field: 'output',
    start,
    end,
    turn: 1,
    kind: 'text',
    trained: true,
    ...more,
  });

  test('are taken where they cover the text end to end; a marker is never trained, a turn that never came is the last', () => {
    expect(recordedSpans([span(0, 2), span(2, 3, { kind: 'marker', turn: 2 })], { output: 'abc' }, 2)).toEqual([
      span(0, 2),
      span(2, 3, { kind: 'marker', trained: false }),
    ]);
  });

  test.each<[string, object[]]>([
    ['a gap', [span(0, 1), span(2, 3)]],
    ['text behind them', [span(0, 2)]],
    ['one on another', [span(0, 2), span(1, 3)]],
    ['an empty one', [span(0, 0), span(0, 3)]],
    ['another field', [span(0, 3, { field: 'none' })]],
    ['a turn that is not', [span(0, 3, { turn: 3 })]],
    ['another kind', [span(0, 3, { kind: 'other' })]],
    ['no mask', [span(0, 3, { trained: 1 })]],
  ])('with %s are ignored', (_, spans) => {
    expect(recordedSpans(spans as never, { output: 'abc' }, 2)).toBeNull();
  });
});

test('a list of messages is one record; a list of anything else is not', () => {
  const messages = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
  ];
  expect(wrapList(messages)).toEqual({ messages });
  expect([wrapList([1]), wrapList([]), wrapList([messages[0]!, 5])]).toEqual([null, null, null]);
  expect(formatOf({ input: 'a', output: 'b' })?.name).toBe('verl');
  expect(formatOf({ input: 'a' })).toBeUndefined();
  expect(formatOf({ input: 'a' }, { format: 'verl' })?.name).toBe('verl');
});
