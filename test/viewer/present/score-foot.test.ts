import { expect, test } from 'vitest';
import { parseLine } from '../../../src/core/dump/parse-line.ts';
import { numberText } from '../../../src/core/text/quantities.ts';
import { alignedNumbers } from '../../../src/viewer/present/numbers.ts';
import { transcriptSections } from '../../../src/viewer/present/transcript/blocks.ts';
import { ALL_OPEN } from '../../../src/viewer/present/transcript/turn-blocks.ts';
import { blocksOf } from '../../support/blocks-of.ts';

const foot = (extras: object): string[] => {
  const record = { input: 'user\nGo.\nassistant\n', output: 'done.', gts: '1', score: 0.75, step: 1, ...extras };
  const { rollout } = parseLine(JSON.stringify(record), { validation: false });
  const blocks = [...blocksOf(transcriptSections(rollout!, ALL_OPEN))];
  return blocks.slice(blocks.findIndex(({ id }) => id === 'score')).map(({ text }) => text);
};

test('beside the score are the numbers that may explain it: the largest first, points below each other, then yes and no', () => {
  expect(
    foot({ acc: true, format: 0.123456789, length_penalty: -12.5, tests: { passed: 3 }, uid: 'x', epoch: 7 }),
  ).toEqual([
    'score 0.75',
    'length_penalty  -12.50',
    'tests.passed      3.00',
    'format            0.1235',
    'acc             true',
    'ground truth 1',
    expect.stringMatching(/^loss mask/),
  ]);
});

test('what a grader says is there, bounded and without signs for the terminal', () => {
  const [, said] = foot({ judge_feedback: `no \u001b[31mproof${' x'.repeat(5000)}` });
  expect(said).toMatch(/^judge_feedback: no ␛\[31mproof x x/);
  expect(said).toMatch(/ … the details have all of it$/);
  expect(said!.length).toBeLessThan(1300);
});

test('many parts are given by their number', () => {
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`part${i}`, i]));
  expect(foot(many).slice(12, 14)).toEqual(['part8    8.00', 'and 8 more in the details']);
});

test('numbers are rounded to their room, and never cut', () => {
  expect([5, 4, 3].map((width) => numberText(1234.567, width))).toEqual(['1235', '1235', '1e3']);
  expect(numberText(0.123456, 6)).toBe('0.1235');
  expect(numberText(0.123456, 4)).toBe('0.12');
  expect(numberText(0.0001234, 4)).toBe('1e-4');
  expect(numberText(12, 5)).toBe('12');
  expect(alignedNumbers(['1.00', '-12.5', '3', 'NaN'])).toEqual(['  1.00', '-12.5 ', '  3   ', 'NaN   ']);
});
