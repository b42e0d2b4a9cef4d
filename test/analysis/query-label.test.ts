import { expect, test } from 'vitest';
import type { LabelWord } from '../../src/analysis/query/label.ts';
import { compileQuery } from '../../src/analysis/query/query.ts';
import type { Subject } from '../../src/analysis/query/subject.ts';

const said = (
  rater: string,
  label: string | null,
  note: string | null = null,
  turn: number | null = null,
): LabelWord => ({
  rater,
  label,
  note,
  turn,
});
const holds = (text: string, labels: LabelWord[]) => compileQuery(text).accepts({ labels } as unknown as Subject);

const two = [said('anna', 'b', 'guesses the answer', 4), said('ben', 'a')];

test.each([
  ['label == "b"', true],
  ['label == b', true],
  ['label == c', false],
  ['label != b', true],
  ['label ~ /^[ab]$/', true],
  ['label !~ /b/', false],
  ['label == null', false],
  ['label != null', true],
  ['label.anna == b', true],
  ['label.ben == b', false],
  ['label.carl == null', true],
  ['label.rater == "ben"', true],
  ['label.note ~ /guess/', true],
  ['label.turn > 3', true],
  ['label.turn > 4', false],
])('%s is asked of what each rater says', (text, expected) => {
  expect(holds(text, two)).toBe(expected);
});

test('a rollout that nobody labelled is found by null alone; a note is no label', () => {
  expect(holds('label == null', [])).toBe(true);
  expect(holds('label != b', [])).toBe(false);
  expect(holds('label == null', [said('anna', null, 'look here')])).toBe(true);
  expect(holds('label.note != null', [said('anna', null, 'look here')])).toBe(true);
});

test('no dump holds labels, so a filter says that it asks for them; rows are not sorted by them', () => {
  expect(compileQuery('!(score < 1 || label == b)').asksKept).toBe(true);
  expect(compileQuery('score < 1').asksKept).toBe(false);
});
