import fc from 'fast-check';
import { expect, test } from 'vitest';
import { brailleChart, labelledChart } from '../../../src/viewer/present/braille.ts';

const line = (...ys: number[]) => ys.map((y, x) => ({ x, y }));
/** Dots as a picture: a line a row of dots. */
function picture(lines: string[]): string[] {
  const bit = [
    [0, 3],
    [1, 4],
    [2, 5],
    [6, 7],
  ];
  return lines.flatMap((cells) =>
    bit.map((pair) =>
      [...cells]
        .map((cell) =>
          pair.map((at) => (cell !== ' ' && ((cell.codePointAt(0)! - 0x2800) >> at) & 1 ? '#' : '.')).join(''),
        )
        .join(''),
    ),
  );
}

test('a line rises from the lower left to the upper right', () => {
  expect(picture(brailleChart(line(0, 1, 2, 3), 2, 1))).toEqual(['...#', '..#.', '.#..', '#...']);
});

test('one value lies in the middle; no points draw nothing', () => {
  expect(picture(brailleChart(line(5, 5), 1, 1))).toEqual(['..', '..', '##', '..']);
  expect(brailleChart([], 3, 2)).toEqual(['   ', '   ']);
});

test('steps that are missing leave a gap', () => {
  const points = [0, 1, 2, 3, 12, 13, 14, 15].map((x) => ({ x, y: 0 }));
  expect(picture(brailleChart(points, 8, 1))[2]).toBe('####........####');
});

const labelled = (at: number | null): string[] =>
  labelledChart(
    [1, 2, 3].map((x) => ({ x, y: x / 10 })),
    20,
    3,
    (value) => value.toFixed(2),
    at,
  ).map((pieces) => pieces.map(([, text]) => text).join(''));

test('the range is at the left, the first and the last step are below', () => {
  const lines = labelled(null);
  expect(lines).toHaveLength(4);
  expect(lines[0]).toMatch(/^0\.30 ┐/);
  expect(lines[2]).toMatch(/^0\.10 ┘/);
  expect(lines[3]).toMatch(/^ {6}1 +3$/);
});

test('the point of the cursor is marked, with its value below it', () => {
  expect(labelled(1)[2]).toMatch(/^0\.10 ┘●/);
  expect(labelled(1)[3]).toMatch(/^ {6}▲ 1: 0\.10 +3$/);
  expect(labelled(2)[1]).toMatch(/^ {5}│ {0,7}[⠀-⣿]*●/);
  expect(labelled(3)[0]).toMatch(/●$/);
  expect(labelled(3)[3]).toMatch(/^ {6}1 +▲ 3: 0\.30$/);
  expect(new Set(labelled(2).map((line) => line.length))).toEqual(new Set([20]));
  expect(labelled(5)).toEqual(labelled(null));
});

test('every line has its width, whatever the points', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: -1e300, max: 1e300, noNaN: true }), { maxLength: 50 }),
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 6 }),
      (ys, width, height) => {
        const lines = brailleChart(line(...ys), width, height);
        expect(lines.map(({ length }) => length)).toEqual(Array(height).fill(width));
      },
    ),
  );
});
