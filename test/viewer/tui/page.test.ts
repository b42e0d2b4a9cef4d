// A page takes the place of list and transcript: rows with a cursor, what Enter opens, and the way back.
import { afterEach, describe, expect, test } from 'vitest';
import { MONO } from '../../../src/viewer/present/theme.ts';
import { pageView } from '../../../src/viewer/tui/views/panes.ts';
import { smallRun, toolRollout } from '../../support/dump.ts';
import { TestScreen } from '../../support/screen.ts';

let screen: TestScreen;
afterEach(() => screen.close());

const opened = async (columns = 100, rows = 20): Promise<TestScreen> => {
  screen = await TestScreen.open(smallRun(2, 8), columns, rows);
  await screen.grouped();
  screen.data.changed();
  return screen.do({ type: 'page-group' });
};

const lines = (width = 100, height = 18): string[] =>
  pageView({ state: screen.state, data: screen.data, theme: MONO, name: '' }, width, height).map((line) =>
    line.replace(/\x1b\[[\d;]*m/g, ''),
  );

/** The titles of the columns, and the rows. */
const table = (): string[] => {
  const shown = lines();
  return shown.slice(shown.findIndex((line) => /sample\s+score/.test(line)));
};

describe('the group of a rollout', () => {
  test('lists its members with their advantage by each estimator, and says which cannot be had', async () => {
    await opened();
    const shown = lines();
    expect(shown[0]).toContain('the group of 2:1');
    expect(shown[1]).toContain('4 rollouts · mean 0.25 · spread 0.50 · one outlier carries all of it');
    expect(shown.slice(2, 4).join('')).toMatch(/the trained tokens were not recorded: opo.*reinforce_plus_plus gamma/);
    expect(table()[0]).toMatch(/sample\s+score\s+grpo\s+grpo_vectorized\s+dr_grpo\s+grpo_passk/);
    // One of four is right: verl gives 1.499997 and -0.499999.
    expect(table()[2]).toMatch(/2\s+1\.00\s+\+1\.50\s+\+1\.50\s+\+0\.75\s+\+2\.00/);
    expect(table()[1]).toMatch(/^› +1\s+0\.00\s+-0\.50\s+-0\.50\s+-0\.25\s+\+0\.00/);
    expect(table()).toHaveLength(5);
  });

  test('is computed again without a member that is switched off, and with it once it is back', async () => {
    await opened();
    screen.do({ type: 'scroll', by: 1, unit: 'line' }, { type: 'page-switch' });
    expect(lines()[1]).toContain('3 rollouts of 4 · mean 0.00 · spread 0.00 · no signal');
    expect(table()[2]).toMatch(/^› +off 2\s+1\.00\s+–/);
    expect(table()[1]).toMatch(/1\s+0\.00\s+\+0\.00/);
    expect(screen.do({ type: 'page-switch' }).state.page?.subject).toMatchObject({ left: [] });
  });

  test('opens a member, and Esc comes back to the same row; once more ends it', async () => {
    await opened();
    screen.do({ type: 'bottom', line: null }, { type: 'open' });
    expect(screen.selected).toBe('2.jsonl:4');
    expect(screen.state.page?.isAside).toBe(true);
    screen.do({ type: 'back' });
    expect(screen.state.page).toMatchObject({ isAside: false, row: 3 });
    expect(screen.do({ type: 'back' }).state.page).toBeNull();
  });

  test('is sorted by the column of the cursor, the largest first, then the other way', async () => {
    await opened();
    screen.do({ type: 'page-column', by: 1 }, { type: 'page-sort' });
    expect(table()[1]).toMatch(/^› +2 /);
    screen.do({ type: 'page-sort' });
    expect(lines().at(-1)).toMatch(/^ +2 /);
  });

  test('shows the column of the cursor where not all have room', async () => {
    await opened(48, 12);
    screen.do({ type: 'page-column', by: 4 });
    const head = lines(48, 10).find((line) => line.includes('sample'))!;
    expect(head).toContain('dr_grpo');
    expect(head).not.toContain('score');
  });

  test('makes way for a rollout opened by its number', async () => {
    await opened();
    screen.do({ type: 'go', place: screen.place(0, 2), turn: null });
    expect(screen.state.page?.isAside).toBe(true);
    expect(screen.selected).toBe('1.jsonl:3');
  });
});

describe('pages of all rollouts', () => {
  test('groups: a row a group, and Enter opens it', async () => {
    screen = await TestScreen.open(smallRun(2, 8), 100, 20);
    await screen.dump.start();
    screen.do({ type: 'page-open', subject: { kind: 'groups', k: 2 } });
    await screen.grouped();
    screen.data.facts.of(screen.state);
    while (screen.data.facts.isBusy) await new Promise((resolve) => setTimeout(resolve, 2));
    const shown = lines();
    expect(shown[0]).toContain('groups of 16 rollouts');
    expect(shown[3]).toMatch(/step\s+prompt\s+n\s+mean\s+spread\s+pass@2\s+signal/);
    expect(shown).toHaveLength(8);
    screen.do({ type: 'open' });
    expect(screen.state.page?.subject.kind).toBe('group');
    expect(screen.do({ type: 'back' }).state.page?.subject.kind).toBe('groups');
  });

  test('compare: a rollout beside one of its group that scored otherwise, by turn; the tree of the group', async () => {
    await opened();
    screen.do({ type: 'back' }, { type: 'page-compare', place: null });
    expect(screen.state.page?.subject).toMatchObject({ kind: 'compare', a: { record: 0 }, b: { record: 1 } });
    expect(lines().join('\n')).toContain('the same');
    screen.do({ type: 'back' }, { type: 'page-tree' });
    expect(lines()[2]).toMatch(/^› +4\s+0\.25/);
    // Calls read as in the transcript.
    expect(lines().join('\n')).toContain('rint(left) 99');
    expect(lines().join('\n')).not.toContain('tool_call');
  });

  test("compare: all lines of a call's code are indented alike", async () => {
    screen = await TestScreen.open({ '1.jsonl': [toolRollout(1, 1, 1), toolRollout(1, 2, 0)] }, 100, 30);
    screen.do({ type: 'page-compare', place: screen.place(0, 1) });
    const [first, second] = ['left = 100', 'print(left)'].map((code) =>
      lines(100, 28)
        .find((line) => line.includes(code))
        ?.indexOf(code),
    );
    expect([first, second]).toEqual([4, 4]);
  });

  test('compare: the files in which the two differ come last', async () => {
    const record = (text: string) => ({
      messages: [
        { role: 'user', content: 'Go.' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              id: 'a',
              type: 'function',
              function: { name: 'Write', arguments: JSON.stringify({ file_path: '/w/f', content: text }) },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'a', content: 'File created successfully at: /w/f' },
      ],
    });
    screen = await TestScreen.open({ '1.jsonl': [record('one\n'), record('two\n')] }, 100, 30);
    screen.do({ type: 'page-compare', place: screen.place(0, 1) });
    expect(
      lines(100, 28)
        .slice(-3)
        .map((line) => line.trim().split(/\s+/)),
    ).toEqual([['files'], ['/w/f', 'differs'], ['-one', '+two']]);
  });
});
