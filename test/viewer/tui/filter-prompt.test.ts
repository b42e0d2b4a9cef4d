import { expect, test } from 'vitest';
import { filterPrompt } from '../../../src/viewer/tui/update/filter-prompt.ts';
import { smallRun } from '../../support/dump.ts';
import { TestScreen } from '../../support/screen.ts';

const firstChoice = async (files: Parameters<typeof TestScreen.open>[0], place: [number, number]): Promise<string> => {
  const screen = await TestScreen.open(files, 120, 30);
  try {
    screen.do({ type: 'go', place: screen.place(...place), turn: null });
    const { state, data } = screen;
    const [first = ''] = filterPrompt.complete?.('', state, data) ?? [];
    expect(filterPrompt.hint('', state, data)).toContain(first);
    expect(filterPrompt.check?.(first, state, data)).toBeNull();
    return first;
  } finally {
    screen.close();
  }
};

test('an empty filter offers the failures of the step under the cursor first', async () => {
  expect(await firstChoice(smallRun(2, 4), [1, 0])).toBe('step == 2 && score < 0.5');
});

test('the lower half of the scores of that step, and its stream where there are several', async () => {
  const line = (score: number) => ({ input: 'user\nq\nassistant\n', output: 'a', score, step: 3 });
  const files = { 'train/3.jsonl': [line(-1), line(3)], 'val/3.jsonl': [line(7), line(7)] };
  expect(await firstChoice(files, [0, 1])).toBe('stream == "train" && step == 3 && score < 1');
  expect(await firstChoice(files, [1, 1])).toBe('stream == "val" && step == 3 && score < 0.5');
});
