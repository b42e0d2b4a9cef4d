import { describe, expect, it } from 'vitest';
import { formatOf } from '../../../src/core/formats/registry.ts';
import type { JsonObject } from '../../../src/core/json/value.ts';

const OUTPUT =
  'I look.\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>\nuser\n<tool_response>\n4\n</tool_response>\nassistant\n#### 4';
const INPUT = 'user\n2+2?\nassistant\n';
const spans = (texts: [string, number, 'text' | 'marker', boolean][], field: string) => {
  let at = 0;
  return texts.map(([text, turn, kind, trained]) => {
    const start = at;
    at += text.length;
    return { field, start, end: at, turn, kind, trained };
  });
};
const record = (more: JsonObject = {}): JsonObject => ({
  input: INPUT,
  output: OUTPUT,
  gts: '4',
  messages: [
    { role: 'user', content: '2+2?' },
    { role: 'assistant', content: 'I look.', tool_calls: [] },
    { role: 'tool', content: '4' },
    { role: 'assistant', content: '#### 4' },
  ],
  tools: [{ type: 'function' }],
  tool_calls: [{ index: 0, turn: 1, id: 'c', name: 'f', arguments: {}, raw: '', error: null, result_turn: 2 }],
  spans: [
    ...spans(
      [
        ['user\n', 0, 'marker', false],
        ['2+2?', 0, 'text', false],
        ['\nassistant\n', 1, 'marker', false],
      ],
      'input',
    ),
    ...spans(
      [
        [OUTPUT.slice(0, OUTPUT.indexOf('\nuser')), 1, 'text', true],
        ['\nuser\n<tool_response>\n', 2, 'marker', false],
        ['4', 2, 'text', false],
        ['\n</tool_response>\nassistant\n', 3, 'marker', false],
        ['#### 4', 3, 'text', true],
      ],
      'output',
    ),
  ] as unknown as JsonObject[],
  turn_rewards: [null, -0.05, null, 1],
  returns: [null, 0.95, null, 1],
  finish_reason: 'stop',
  writer: 'rollout-viewer/1',
  status: 'SUCCEEDED',
  score: 1,
  step: 3,
  uid: 'k_0_0',
  ...more,
});
const read = (given: JsonObject, validation = false) => formatOf(given)!.read(given, { validation });

describe('a dump of the engine', () => {
  it('has the mask, the rewards and the pairs that were recorded', () => {
    const rollout = read(record());
    expect(rollout).toMatchObject({
      format: 'rollout-viewer',
      step: 3,
      score: 1,
      uid: 'k_0_0',
      status: 'SUCCEEDED',
      responseTurn: 1,
    });
    expect(rollout.turns.map(({ role, trained, reward }) => [role, trained, reward])).toEqual([
      ['user', false, null],
      ['assistant', true, -0.05],
      ['tool', false, null],
      ['assistant', true, 1],
    ]);
    expect(rollout.turns[1]!.toolCalls).toMatchObject([{ id: 'c', name: 'f', resultTurn: 2, error: null }]);
    expect(rollout.turns[1]!.parts.map(({ kind }) => kind)).toEqual(['text', 'call']);
    expect(rollout.rewards).toMatchObject({
      total: 1,
      perTurn: [null, -0.05, null, 1],
      returns: [null, 0.95, null, 1],
    });
    expect(rollout.lossMask).toMatchObject({ source: 'recorded', trainedTokens: null });
    expect(rollout.extras).toEqual({ finish_reason: 'stop' });
    expect(rollout.findings).toEqual([]);
  });

  it('counts tokens where ids and mask fit together, and else does not', () => {
    const tokens = {
      prompt_ids: [1],
      response_ids: [2, 3, 4],
      response_mask: [1, 0, 1],
      rollout_log_probs: [-1, 0, -2],
    };
    expect(read(record(tokens))).toMatchObject({
      tokens: { promptIds: [1], responseIds: [2, 3, 4], mask: [1, 0, 1], logprobs: [-1, 0, -2] },
      lossMask: { trainedTokens: 2, totalTokens: 3 },
    });
    for (const broken of [{ response_mask: [1] }, { response_ids: 'x' }, { response_mask: null }]) {
      const rollout = read(record({ ...tokens, ...broken }));
      expect(rollout.tokens).toBeUndefined();
      expect(rollout.lossMask).toMatchObject({ trainedTokens: null });
    }
  });

  it.each([
    ['no spans', { spans: null }],
    ['spans with a hole', { spans: (record().spans as JsonObject[]).slice(1) }],
    ['spans of another text', { output: `${OUTPUT}!` }],
    ['spans of turns that are not there', { messages: [] }],
    [
      'spans of a field that is not there',
      { spans: (record().spans as JsonObject[]).map((span) => ({ ...span, field: 'x' })) },
    ],
    ['invalid spans', { spans: [{ field: 'input' }] }],
  ])('with %s is read as the verl line that it also is', (_, broken) => {
    const rollout = read(record(broken as JsonObject));
    expect(rollout.turns.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(rollout.lossMask).toMatchObject({ source: 'inferred' });
  });

  it('in a validation stream nothing is trained', () => {
    const rollout = read(record(), true);
    expect(rollout.lossMask).toBeNull();
    expect(rollout.spans.some(({ trained }) => trained)).toBe(false);
    expect(rollout.turns.some(({ trained }) => trained)).toBe(false);
  });

  it('keeps calls that the text does not show in hermes form', () => {
    const rollout = read(
      record({
        tool_calls: [
          { turn: 1, id: 'a', name: 'f', arguments: { x: 1 }, raw: 'r', error: null, result_turn: 2 },
          { turn: 1, id: 'b', name: 'g', arguments: null, raw: 's', error: 'no JSON', result_turn: 99 },
        ],
      }),
    );
    expect(rollout.turns[1]!.toolCalls).toEqual([
      { index: 0, id: 'a', name: 'f', arguments: { x: 1 }, raw: 'r', error: null, resultTurn: 2 },
      { index: 1, id: 'b', name: 'g', arguments: null, raw: 's', error: 'no JSON', resultTurn: null },
    ]);
  });
});
