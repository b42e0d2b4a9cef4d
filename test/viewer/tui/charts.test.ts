// Charts on the screen: the list of numbers, a number by step, its values; Enter leads to the rollouts.
import { afterEach, expect, test } from 'vitest';
import { themeFor } from '../../../src/viewer/present/theme.ts';
import { pageView } from '../../../src/viewer/tui/views/panes.ts';
import { toolRollout } from '../../support/dump.ts';
import { TestScreen } from '../../support/screen.ts';

let screen: TestScreen;
afterEach(() => screen.close());

const scored = (step: number, sample: number, score: number | null, more = {}) => ({
  ...toolRollout(step, sample, 1),
  score,
  ...more,
});

/** Steps 1, 2, 3 and 7; of step 2 one score is not known. */
async function open(columns = 100) {
  screen = await TestScreen.open(
    {
      '1.jsonl': [scored(1, 1, 0, { acc: 0.5 }), scored(1, 2, 0.2)],
      '2.jsonl': [scored(2, 1, null), scored(2, 2, 0.4)],
      '3.jsonl': [scored(3, 1, 0.6), scored(3, 2, 0.8)],
      '7.jsonl': [scored(7, 1, 1), scored(7, 2, 1)],
    },
    columns,
  );
  await screen.dump.start();
  return screen;
}

async function lines(): Promise<string[]> {
  const draw = () =>
    pageView(
      { state: screen.state, data: screen.data, theme: themeFor({ NO_COLOR: '1' }), name: '' },
      screen.state.columns,
      24,
    ).map((line) => line.replace(/\x1b\[[\d;]*m/g, '').trimEnd());
  draw();
  const { facts, workedOut } = screen.data;
  while (facts.isBusy || workedOut.isBusy) {
    await new Promise((resolve) => setTimeout(resolve, 2));
    draw();
  }
  return draw();
}

test(':charts lists every number with its first, last, least and most mean and a curve', async () => {
  await open();
  screen.do({ type: 'page-open', subject: { kind: 'charts' } });
  const shown = await lines();
  expect(shown[0]).toContain('numbers of 8 rollouts by step');
  expect(shown.find((line) => /^.? *score\b/.test(line))).toMatch(/score +7 +0\.10 +▁▃▆█ +1 +0\.10 +1/);
  expect(shown.find((line) => /acc/.test(line))).toMatch(/acc +1 +0\.50 +0\.50/);
});

test('Enter draws the number, and on a step lists its rollouts', async () => {
  await open();
  screen.do({ type: 'page-open', subject: { kind: 'chart', name: 'score' } });
  const shown = await lines();
  expect(shown.join('\n')).toMatch(/ 1 ┐/);
  expect(shown.join('\n')).toMatch(/0\.10 ┘●[⠀-⣿]/);
  expect(shown.find((line) => /^.? +\S* +2 +1 +0\.40/.test(line))).toMatch(/0\.40 +0 +0\.40 +0\.40 +0\.40 +1$/);
  expect(shown.join('\n')).toMatch(/▲ 1: 0\.10 +7/);
  screen.do({ type: 'scroll', by: 1, unit: 'line' });
  expect((await lines()).join('\n')).toMatch(/1 +▲ 2: 0\.40 +7/);
  screen.do({ type: 'open' });
  expect(screen.state.page).toBeNull();
  expect(screen.state.list.choice.filter?.text).toBe('step == 2');
  await screen.settled();
  expect(screen.data.rows(screen.state)).toHaveLength(2);
});

test('a bar lists its rollouts beside the filter in force; unknown values have a bar', async () => {
  await open();
  screen.do({ type: 'filter', text: 'step < 7' });
  await screen.settled();
  screen.do({ type: 'page-open', subject: { kind: 'histogram', name: 'score' } });
  const shown = await lines();
  expect(shown.find((line) => / – +– /.test(line))).toMatch(/– +– +1 +17 %/);
  const last = shown.filter((line) => /█/.test(line)).length;
  screen.do({ type: 'bottom', line: null }, { type: 'open' });
  expect(last).toBe(6);
  expect(screen.state.list.choice.filter?.text).toBe('(step < 7) && (!(score >= 0 && score <= 0.8))');
  await screen.settled();
  expect(screen.data.rows(screen.state)).toHaveLength(1);
  screen.do({ type: 'undo' });
  expect(screen.state.list.choice.filter?.text).toBe('step < 7');
});

test('a number that nobody has says so', async () => {
  await open();
  for (const kind of ['chart', 'histogram'] as const) {
    screen.do({ type: 'page-open', subject: { kind, name: 'nothing' } });
    expect((await lines()).join('\n')).toContain('no rollout has a number nothing');
  }
});
