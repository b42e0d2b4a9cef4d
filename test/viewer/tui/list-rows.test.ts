// The list after keys, filters and sorts, without a terminal; list.test.ts has what only a terminal shows.
import { afterEach, describe, expect, test } from 'vitest';
import { smallRun, toolRollout } from '../../support/dump.ts';
import { TestScreen } from '../../support/screen.ts';

let screen: TestScreen;
afterEach(() => screen.close());

/** Scores are (sample - 1 + step) mod 3 = 0; groups of four. The cursor is on the first sample of the last step. */
const open = async (files: Parameters<typeof TestScreen.open>[0] = smallRun(3, 8), columns = 120): Promise<void> => {
  screen = await TestScreen.open(files, columns);
};
const rowWithCursor = (): string | undefined =>
  screen.list
    .find((line) => line.startsWith('›'))
    ?.replace(/ +/g, ' ')
    .split(' ')
    .slice(1, 3)
    .join(' ');

describe('the filter', () => {
  test('continues at the row chosen while it was in force', async () => {
    await open();
    await screen.filter('score == 0');
    expect(screen.selected).toBe('3.jsonl:2');
    screen.press('J');
    expect(screen.selected).toBe('3.jsonl:3');
    await screen.filter('');
    expect([screen.selected, screen.message]).toEqual(['3.jsonl:3', 'all 24 again']);
  });

  test('! before it inverts all of it, ! alone what is in force', async () => {
    await open();
    await screen.filter('!score == 1 && step == 1');
    expect(screen.list[0]).toMatch(/!\(score == 1 && step == 1\).*22 of 24/);
    await screen.filter('!');
    expect(screen.list[0]).toContain('2 of 24');
  });

  test('J and K, H and L, and counts go through what it shows', async () => {
    await open();
    await screen.filter('score == 1 && step != 2');
    expect(screen.list[0]).toContain('5 of 24');
    screen.press('H');
    expect(screen.selected).toMatch(/^1\.jsonl/);
    screen.press('tab', 'G');
    expect(screen.selected).toBe('3.jsonl:7');
    screen.press('J');
    expect(screen.message).toBe('the last sample of the list');
    screen.press('3', 'K');
    expect(screen.selected).toBe('1.jsonl:6');
  });
});

describe('the sort', () => {
  test('by best and worst, by a column, reversed; its sign is in the title', async () => {
    await open();
    await screen.press('s', 'b').settled();
    expect(screen.list[0]).toContain('score▼');
    screen.press('tab', 'g', 'g');
    expect(screen.selected).toBe('1.jsonl:3');
    expect(screen.listed.slice(0, 10).join()).toBe('1 3,1 6,2 2,2 5,2 8,3 1,3 4,3 7,1 1,1 2');
    await screen.press('S').settled();
    expect(screen.list[0]).toContain('score▲');
    expect(screen.press('g', 'g').selected).toBe('1.jsonl:1');
    await screen.press('s', 'a').settled();
    expect(screen.list[0]).toContain('sample▲');
    expect(screen.listed.slice(0, 4).join()).toBe('1 1,2 1,3 1,1 2');
    await screen.press('s', 'd').settled();
    expect(screen.message).toContain('in the order of the dump');
    expect(screen.listed.slice(0, 3).join()).toBe('1 1,1 2,1 3');
  });

  test('by a value of the extras, which is then a column; numbers as numbers, what is missing last', async () => {
    const values = [10, 9, undefined, 'NaN', 100];
    const lines = values.map((odd, i) => JSON.stringify({ ...toolRollout(1, i + 1, 1), odd }).replace('"NaN"', 'NaN'));
    await open({ '1.jsonl': lines }, 160);
    screen.do({ type: 'prompt-open', prompt: 'command' }, { type: 'prompt-change', value: 'sort odd:desc' });
    await screen.do({ type: 'prompt-submit' }).settled();
    expect(screen.list[0]).toContain('odd▼');
    expect(screen.listed.join()).toBe('1 5,1 1,1 2,1 4,1 3');
    await screen.press('S').settled();
    expect(screen.listed.join()).toBe('1 2,1 1,1 5,1 4,1 3');
  });
});

describe('groups', () => {
  test('p shows the rollouts of the prompt together with their scores, and goes back', async () => {
    await open();
    await screen.grouped();
    await screen.press('p').settled();
    expect(screen.list[0]).toContain('group of 4: mean 0.50 min 0.00 max 1.00');
    expect(screen.listed.join()).toBe('3 1,3 2,3 3,3 4');
    await screen.press('H').settled();
    expect(screen.list[0]).toContain('group of 4: mean 0.25');
    expect(screen.listed.join()).toBe('2 1,2 2,2 3,2 4');
    await screen.press('J', 'p').settled();
    expect(screen.list.join()).not.toContain('group of 4:');
    expect(rowWithCursor()).toBe('2 2');
  });

  test('a group without a difference says that it teaches nothing; Esc leaves it', async () => {
    await open({ '1.jsonl': Array.from({ length: 4 }, (_, i) => toolRollout(1, 1 + Math.floor(i / 2), 0)) });
    await screen.grouped();
    await screen.press('p').settled();
    expect(screen.list[0]).toContain('group of 2, no signal: all 0.00');
    await screen.press('esc', 'esc').settled();
    expect(screen.list.join()).not.toContain('no signal:');
  });

  test('{ and } go through the group, also where the filter hides it', async () => {
    await open();
    await screen.grouped();
    screen.press('}');
    expect([screen.selected, screen.message]).toEqual(['3.jsonl:2', '2 of 4 of its group']);
    screen.press('{', '{');
    expect(screen.message).toBe('1 of 4 of its group: the first');
    await screen.filter('score == 1');
    screen.press('}');
    expect([screen.selected, screen.message]).toEqual([
      '3.jsonl:2',
      '2 of 4 of its group; the filter leaves it out of the list',
    ]);
    expect(screen.press('J').selected).toMatch(/^3\.jsonl:[14]$/);
  });
});

test.each([80, 100, 120, 200])(
  'at %i columns step, sample, score and the finding keep their place beside a transcript, with two streams',
  async (columns) => {
    const broken = { ...toolRollout(1, 1, 0.125), output: '<tool_call>\n{"name": "f", "argum' };
    const files = { 'train/1000.jsonl': [broken, toolRollout(1000, 1, 1)], 'val/1000.jsonl': [broken] };
    await open(files, columns);
    await screen.dump.lookAtAll();
    expect(screen.list.join('\n')).toMatch(/ t(?:rain)? +1 +1 0\.125.* un/);
    expect(screen.list.join('\n')).toMatch(/ v(?:al)? +1 +1 0\.125/);
    expect(screen.data.geometry(screen.state).transcriptWidth).toBeGreaterThan(0);
  },
);

describe('marks', () => {
  const signs = (): string[] =>
    screen.list.flatMap((line) => {
      const [, sign, step, sample] = /^[› ]([a-z•]) +(\d+) +(\d+) /.exec(line) ?? [];
      return sign === undefined ? [] : [`${sign} ${step} ${sample}`];
    });

  test("m and a letter, ' and it back, ]m and [m between them; a sign is in the list", async () => {
    await open();
    screen.press('m', 'a');
    expect(screen.message).toBe("mark a; 'a comes back here");
    expect(signs()).toEqual(['a 3 1']);
    screen.press('5', 'K', 'm', 'b');
    expect(signs()).toEqual(['b 2 4', 'a 3 1']);
    screen.press("'", 'a');
    expect(screen.selected).toBe('3.jsonl:1');
    screen.press('[', 'm');
    expect(screen.selected).toBe('2.jsonl:4');
    screen.press(']', 'm', ']', 'm');
    expect(screen.message).toBe('no mark below');
    screen.press('u', 'u');
    expect([screen.message, signs()]).toEqual([expect.stringContaining('undone: mark'), []]);
    screen.press('U');
    expect(signs()).toEqual(['a 3 1']);
  });

  test('space marks rows of the list going down, and pages in the transcript', async () => {
    await open();
    screen.press('space');
    expect(signs()).toEqual([]);
    screen.press('tab', 'space', 'space');
    expect([signs(), screen.selected]).toEqual([['• 3 1', '• 3 2'], '3.jsonl:3']);
    screen.press('[', 'm', 'space');
    expect(signs()).toEqual(['• 3 1']);
  });
});

test('u takes back filter and sort one after the other, U does them again', async () => {
  await open();
  await screen.filter('score == 1');
  await screen.press('s', 'w').settled();
  expect(screen.list.join('\n')).toContain('score▲');
  await screen.press('u').settled();
  expect(screen.list.join('\n')).not.toContain('score▲');
  await screen.press('u').settled();
  expect(screen.listed).toHaveLength(24);
  await screen.press('U', 'U').settled();
  expect(screen.list.slice(0, 2).join('\n')).toMatch(/8 of 24[\s\S]*score▲/);
  expect(screen.press('U').message).toBe('nothing to do again');
});
