import { describe, expect, test } from 'vitest';
import { parseCondition } from '../../src/analysis/condition.ts';
import { QueryError } from '../../src/analysis/query/query-error.ts';
import type { StepStats } from '../../src/analysis/step-stats.ts';

const step = (mean: number | null, toolErrors = 0, truncated = 0, looked = 100): StepStats => ({
  step: 12,
  rollouts: 100,
  mean,
  notFinite: 0,
  unscored: 0,
  looked,
  observed: looked,
  toolErrors,
  truncated,
});

describe('what --notify reports of a step', () => {
  test.each([
    ['score<0.1', step(0.03), 'score 0.03 < 0.1'],
    ['score<0.1', step(0.1), null],
    // A report must be true: 0.10 is not below 0.1.
    ['score<0.1', step(0.0996), 'score 0.0996 < 0.1'],
    ['score < 0.1', step(0.09999999), 'score 0.09999999 < 0.1'],
    ['score >= 0.5', step(0.5), 'score 0.50 >= 0.5'],
    ['tool_error_rate > 0.2', step(1, 25), 'tool_error_rate 0.25 > 0.2'],
    ['truncation_rate>0.2', step(1, 0, 20), null],
    [
      'score < 0.1 || tool_error_rate > 0.2',
      step(0.5, 30),
      'score 0.50, tool_error_rate 0.30: score < 0.1 || tool_error_rate > 0.2',
    ],
    ['!(score > 0.1)', step(0.05), 'score 0.05: !(score > 0.1)'],
    // Where nothing is known of what it asks for, it cannot hold.
    ['score != 1', step(null), null],
    ['!(tool_error_rate < 0.5)', step(1, 0, 0, 0), null],
  ])('%s', (text, stats, expected) => {
    expect(parseCondition(text).judge(stats)).toBe(expected);
  });

  test.each([
    ['scroe<0.1', 0, /score, tool_error_rate, truncation_rate/],
    ['score<0.1 && turns>3', 13, /score, tool_error_rate, truncation_rate/],
    ['score<', 6, /a value/],
    ['score', 5, /< <= == != >= or >|expected/],
    ['score < "low"', 8, /compared with a number/],
    ['finding:tool_error', 0, /of a step are known/],
    ['', 0, /condition is missing/],
  ])('%s is refused at the character that is wrong', (text, at, message) => {
    let thrown: unknown;
    try {
      parseCondition(text);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(QueryError);
    expect((thrown as QueryError).message).toMatch(message);
    expect((thrown as QueryError).at).toBe(at);
  });
});
