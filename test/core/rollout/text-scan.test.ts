import { expect, test } from 'vitest';
import { areNear, scanTexts } from '../../../src/core/rollout/text-scan.ts';

/** Words that do not repeat; another seed gives others. */
const words = (count: number, seed = 0): string => Array.from({ length: count }, (_, i) => `w${seed}-${i}`).join(' ');

/** The share of runs of eight words that were there before, as plainly as it can be said. */
function repeatedRuns(text: string): number {
  const list = text.split(/\s+/).filter((word) => word !== '');
  const seen = new Set<string>();
  let repeated = 0;
  for (let i = 8; i <= list.length; i++) {
    const run = list.slice(i - 8, i).join(' ');
    if (seen.has(run)) repeated++;
    seen.add(run);
  }
  return list.length < 8 ? 0 : repeated / (list.length - 7);
}

test.each([
  ['nothing twice', words(300)],
  ['all twice', `${words(100)} ${words(100)}`],
  ['a phrase in a circle', `${words(50)} ${'let me try that again and see what comes. '.repeat(30)}`],
  ['a word without end', 'no '.repeat(200)],
  ['few words', 'a b c'],
  ['none', ''],
])('%s: the share of repeated runs is the plain one', (_, text) => {
  expect(scanTexts([text]).repetition).toBeCloseTo(repeatedRuns(text), 10);
});

test('a long text is judged by a part of its runs', () => {
  const half = words(60_000);
  const scan = scanTexts([half, half]);
  expect(scan.words).toBe(120_000);
  expect(scan.repetition).toBeGreaterThan(0.4);
});

test('the opening is that of the first eight words, in one turn or two', () => {
  const [a, b] = [
    scanTexts(['one two three four five six seven eight nine']),
    scanTexts(['one two three four five', 'six seven\neight ten']),
  ];
  expect(a.opening).toBe(b.opening);
  expect(scanTexts(['one two three four five six seven ate']).opening).not.toBe(a.opening);
});

test('copies have one gist, near copies almost, other texts another', () => {
  const text = words(400);
  const near = text.replace(/^\S+/, 'changed');
  expect(scanTexts([text]).gist).toBe(scanTexts([text]).gist);
  expect(areNear(scanTexts([text]).gist, scanTexts([near]).gist)).toBe(true);
  const others = Array.from({ length: 200 }, (_, i) => scanTexts([words(400, i + 1)]).gist);
  const close = others.filter((gist) => areNear(gist, scanTexts([text]).gist));
  expect(close).toEqual([]);
});

test('letters are counted by script; a script without blanks has a word a letter', () => {
  const scan = scanTexts(['abc 你好吗 привет']);
  expect([scan.letters[0], scan.letters[1], scan.letters[4]]).toEqual([3, 3, 6]);
  expect(scan.words).toBe(5);
});
