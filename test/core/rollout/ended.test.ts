import { describe, expect, test } from 'vitest';
import { unclosedCall } from '../../../src/core/rollout/call-error.ts';
import { completeRollout } from '../../../src/core/rollout/complete.ts';
import { endedByReason } from '../../../src/core/rollout/ended.ts';
import { endedByText } from '../../../src/core/rollout/ended-by-text.ts';
import type { Turn } from '../../../src/core/rollout/rollout.ts';

describe('a recorded reason', () => {
  test.each([
    ['length', 'length'],
    ['MAX_TOKENS', 'length'],
    ['FinishReason.MAX_TOKENS', 'length'],
    ['max turns reached', 'length'],
    ['end-turn', 'stop'],
    ['tool_calls', 'stop'],
    ['content filter', 'aborted'],
    ['time_out', 'aborted'],
    ['env_timeout', 'aborted'],
    ['sunny', undefined],
  ])('%s: %s', (reason, how) => {
    expect(endedByReason('finish_reason', reason)?.how).toBe(how);
  });

  test('is the evidence, with the key that holds it', () => {
    expect(endedByReason('status', ' done ')).toEqual({ how: 'stop', evidence: 'status done' });
  });
});

test('a finish reason comes before a status, and either before the look of the text', () => {
  const ended = (more: object) =>
    completeRollout({
      turns: [],
      spans: [],
      texts: {},
      responseTurn: 0,
      extras: {},
      toolSchemas: [],
      rewards: {},
      score: null,
      status: null,
      lossMask: null,
      validation: false,
      ...more,
    } as never).ended;
  expect(ended({ extras: { finish_reason: 'length' }, status: 'completed' }).how).toBe('length');
  expect(ended({ extras: { finish_reason: 'sunny', stop_reason: 'end_turn' } })).toEqual({
    how: 'stop',
    evidence: 'stop_reason end_turn',
  });
  expect(ended({ status: 'timeout' }).how).toBe('aborted');
  // A writer that says that nothing was cut knows better than the look of the text.
  const cut = {
    turns: [{ role: 'assistant', text: 'So the answer to the question is the', toolCalls: [], parts: [] }],
  };
  expect(ended({ ...cut, extras: { is_completed: true, is_truncated: false } }).how).toBe('stop');
  expect(ended({ ...cut, extras: { is_truncated: false } }).how).toBe('mid_word');
  expect(ended({ ...cut, extras: { is_completed: true, is_truncated: true } }).how).toBe('length');
  expect(ended({}).evidence).toBe('the response is empty');
});

describe('without one, the text', () => {
  const turn = (text: string, more: Partial<Turn> = {}): Turn =>
    ({ role: 'assistant', text, toolCalls: [], parts: [], ...more }) as unknown as Turn;
  const thought = (text: string): Turn =>
    turn(text, { parts: [{ kind: 'think', start: 0, end: text.length, open: true }] });
  const unclosed = turn('<tool_call>', { toolCalls: [{ error: unclosedCall('</tool_call>') }] as never });
  const prose = 'Therefore the number of apples that John has left after he went to mark';

  test.each<[string, Turn[], string | null, string]>([
    ['nothing at all', [], null, 'unknown'],
    ['blanks alone', [turn(' \n')], null, 'unknown'],
    ['a result at its end', [turn('a'), turn('4', { role: 'tool' })], null, 'unknown'],
    ['a call without its end', [unclosed], null, 'mid_json'],
    ['a call without its end, and an end token', [unclosed], '<|im_end|>', 'mid_json'],
    ['an end token', [turn(prose)], '<|im_end|>', 'stop'],
    ['reasoning without its end', [thought('<think>\nwell.')], null, 'unclosed_think'],
    ['reasoning without its end that gives the answer', [thought('<think>\nso \\boxed{4}.')], null, 'unknown'],
    ['prose that breaks off', [turn(prose)], null, 'mid_word'],
    ['prose that breaks off behind a comma', [turn(`${prose},`)], null, 'mid_word'],
    ['prose with its point', [turn(`${prose}.`)], null, 'unknown'],
    ['prose with a blank at its end', [turn(`${prose} `)], null, 'unknown'],
    ['a line that is too short to be prose', [turn(`${prose}.\nand so`)], null, 'unknown'],
    ['a short line that ends in a word that leads on', [turn('The reason is that the')], null, 'mid_word'],
    ['a short line that ends in a possessive', [turn('So we put it beside our')], null, 'mid_word'],
    ['a short line that ends in a preposition may be whole', [turn('She is one we all look up to')], null, 'unknown'],
    ['a short line that ends in any other word', [turn('The reason is that he')], null, 'unknown'],
    ['a line of code that breaks off', [turn('So:\n```python\ndef f(x):\n    return')], null, 'mid_word'],
    ['a line of code with an open bracket', [turn('So:\n```python\nprint("a)", x')], null, 'mid_word'],
    ['a line of code that ends in a minus', [turn('So:\n```python\ny = x -')], null, 'mid_word'],
    ['a bracket in a comment or a text', [turn("So:\n```python\nprint('(')  # f(x")], null, 'unknown'],
    ['a row of a table that breaks off', [turn('| a | b |\n|---|---|\n| 12 | 5')], null, 'mid_word'],
    ['a table with its end', [turn('| a | b |\n|---|---|\n| 12 | 5 |')], null, 'unknown'],
    ['code without its last fence, which a stop word may be', [turn('So:\n```python\nprint(1)')], null, 'unknown'],
    ['code with its fences', [turn('```python\nprint(1)\n```')], null, 'unknown'],
    ['a formula that breaks off', [turn('We get \\[ \\frac{1}{2} + 1')], null, 'mid_word'],
    ['an argument of LaTeX that breaks off', [turn('So $x = \\frac{1}{')], null, 'mid_word'],
    ['an argument of LaTeX that ends', [turn('So \\boxed{4}')], null, 'unknown'],
    ['a set in braces', [turn('It holds {1, 2')], null, 'unknown'],
    ['a formula with its end', [turn('We get \\[ 1 \\]')], null, 'unknown'],
  ])('%s', (_, response, endToken, how) => {
    expect(endedByText(response, endToken).how).toBe(how);
  });

  test('shows its last word', () => {
    expect(endedByText([turn(prose)]).evidence).toBe('the text ends in "…he went to mark"');
  });
});
