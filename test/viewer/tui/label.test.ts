// Labels on the screen: what a key asks for, and what the list, the head and the transcript then say.
import { afterEach, describe, expect, test } from 'vitest';
import type { Label } from '../../../src/replay/journal/labels.ts';
import { themeFor } from '../../../src/viewer/present/theme.ts';
import { initialLabels } from '../../../src/viewer/tui/state/labels.ts';
import { listView } from '../../../src/viewer/tui/views/list.ts';
import { transcriptView } from '../../../src/viewer/tui/views/transcript.ts';
import { smallRun } from '../../support/dump.ts';
import { TestScreen } from '../../support/screen.ts';

let screen: TestScreen;
afterEach(() => screen.close());

const open = async () => {
  screen = await TestScreen.open(smallRun(2, 4));
  screen.state = { ...screen.state, labels: initialLabels('anna') };
  return screen;
};
const said = (label: string | null, more: Partial<Label> = {}): Label => ({
  rater: 'anna',
  label,
  note: null,
  turn: null,
  quote: null,
  rubric: null,
  at: '',
  ...more,
});
const press = (...keys: string[]) => {
  screen.do({ type: 'list-menu', menu: 'label' });
  for (const key of keys) screen.do({ type: 'menu-key', key });
  return screen;
};
const known = (label: Label[]) => {
  const { cursor } = screen.state.list;
  screen.do({ type: 'labels-known', labels: new Map([[cursor!.file.locator(cursor!.record), label]]) });
};

describe('one key opens the menu', () => {
  test('a letter labels the turn that is read, and the rollout from the list', async () => {
    await open();
    press('b');
    expect(screen.effects).toMatchObject([
      { type: 'run', job: { kind: 'label', rater: 'anna', change: { label: 'b', turn: 2 } } },
    ]);
    expect(screen.message).toBe('anna: b');
    expect(screen.state.list.menu).toBeNull();
    screen.do({ type: 'focus-next' });
    expect(press('q').effects).toMatchObject([{ job: { change: { label: 'q', turn: null } } }]);
  });

  test('- takes it back, Esc leaves, another key says what a label is', async () => {
    await open();
    expect(press('-').effects).toMatchObject([{ job: { change: { label: null, note: null } } }]);
    expect(press('esc').effects).toEqual([]);
    expect(press('/').message).toContain('a label is a letter');
  });

  test('Enter asks for a word, with those that were given so far', async () => {
    await open();
    known([said('hack')]);
    press('enter');
    expect(screen.state.prompt?.id).toBe('label');
    screen.do({ type: 'prompt-change', value: 'h' }, { type: 'prompt-complete', by: 1 });
    expect(screen.state.prompt?.value).toBe('hack');
    screen.do({ type: 'prompt-submit' });
    expect(screen.effects).toContainEqual(
      expect.objectContaining({ job: expect.objectContaining({ change: { label: 'hack', turn: 2 } }) }),
    );
    press('enter');
    screen.do({ type: 'prompt-change', value: ' ' }, { type: 'prompt-submit' });
    expect(screen.state.prompt?.error?.message).toBe('a label is a word');
  });

  test('space asks for a note and begins with the one that there is; an empty one takes it away', async () => {
    await open();
    known([said('hack', { note: 'look' })]);
    press('space');
    expect(screen.state.prompt).toMatchObject({ id: 'note', value: 'look' });
    screen.do({ type: 'prompt-change', value: '' }, { type: 'prompt-submit' });
    expect(screen.effects).toMatchObject([{ job: { change: { note: null } } }]);
  });

  test('what shall follow a label follows it', async () => {
    await open();
    const { selected } = screen;
    screen.do({ type: 'list-menu', menu: 'label', after: { type: 'sample', by: 1 } }, { type: 'menu-key', key: 'a' });
    expect(screen.effects).toMatchObject([{ job: { change: { label: 'a' } } }]);
    expect(screen.selected).not.toBe(selected);
  });
});

describe('labels of people stay', () => {
  const plain = themeFor({ NO_COLOR: '1' });
  const scene = () => ({ state: screen.state, data: screen.data, theme: plain, name: 'x' });
  const text = (lines: readonly string[]) => lines.join('\n').replace(/\x1b\[[\d;]*m/g, '');

  test('in a column of the list, in the head and at the foot of the transcript', async () => {
    await open();
    expect(text(listView(scene(), 60, 20))).not.toContain('label');
    known([said('hack', { note: 'the \x1b answer' }), said('fine', { rater: 'ben', turn: 3 })]);
    expect(text(listView(scene(), 60, 20))).toMatch(/hack 1,…/);
    screen.do({ type: 'bottom', line: null });
    const shown = text(transcriptView(scene(), 100, 30));
    expect(shown.split('\n')[0]).toContain('label hack 1, fine 1');
    expect(shown).toContain('label anna: hack: the ␛ answer');
    expect(shown).toContain('label ben: fine (turn 3)');
    known([]);
    expect(text(transcriptView(scene(), 100, 30))).not.toContain('label');
  });
});
