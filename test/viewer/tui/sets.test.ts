// Sets on the screen: how a rollout gets into one, and what their pages say.
import { afterEach, expect, test } from 'vitest';
import type { SetEntry } from '../../../src/replay/sets/curated-set.ts';
import type { SetMember } from '../../../src/viewer/tui/state/sets.ts';
import { smallRun } from '../../support/dump.ts';
import { TestScreen } from '../../support/screen.ts';

let screen: TestScreen;
afterEach(() => screen.close());

const entry = (locator: string, reason: string | null): SetEntry => ({
  action: 'add',
  locator,
  source: 's',
  reason,
  filter: 'score == 0',
  by: 'anna',
  at: '2026-01-02T03:04:05Z',
  version: '1',
});

const ask = (value: string): void => {
  screen.do({ type: 'list-menu', menu: 'label' }, { type: 'menu-key', key: '+' });
  expect(screen.state.prompt?.id).toBe('set');
  screen.do({ type: 'prompt-change', value }, { type: 'prompt-submit' });
};

test('i + asks for a set, with the reason behind its name; the next time the name is there', async () => {
  screen = await TestScreen.open(smallRun(2, 4));
  ask('hard the tool failed');
  const job = { kind: 'set-add', name: 'hard', reason: 'the tool failed', filter: null };
  expect(screen.effects).toContainEqual(expect.objectContaining({ job: expect.objectContaining(job) }));
  screen.do({ type: 'list-menu', menu: 'label' }, { type: 'menu-key', key: '+' });
  expect(screen.state.prompt?.value).toBe('hard');
});

test('a name that is no file name is refused in the prompt', async () => {
  screen = await TestScreen.open(smallRun(2, 4));
  ask('../etc why');
  expect(screen.state.prompt?.error?.message).toContain('name of a set');
});

test('the pages list sets, their rollouts, the reasons, and what changed', async () => {
  screen = await TestScreen.open(smallRun(2, 4));
  screen.do({ type: 'sets-open' });
  expect(screen.effects).toMatchObject([{ type: 'run', job: { kind: 'sets' } }]);
  const place = screen.state.list.cursor;
  const members: SetMember[] = [
    { entry: entry('/d/1.jsonl:1', 'the tool\u001b[31m failed'), place, now: 'same' },
    { entry: entry('/d/1.jsonl:9', null), place: null, now: 'gone' },
    { entry: entry('/e/1.jsonl:1', null), place: null, now: 'elsewhere' },
  ];
  screen.do({ type: 'sets-known', sets: new Map([['hard', members]]) });
  expect(screen.data.page(screen.state)?.row(0).cells.slice(0, 4)).toEqual(['hard', '3', '1', '1']);
  screen.do({ type: 'page-open', subject: { kind: 'set', name: 'hard' } });
  const page = screen.data.page(screen.state);
  expect([0, 1, 2].map((row) => page?.row(row).cells[1])).toEqual(['same', 'gone', 'elsewhere']);
  expect(page?.row(0).cells[3]).not.toContain('\u001b');
  expect(page?.row(1).cells[3]).toBe('score == 0');
  screen.do({ type: 'page-switch' });
  expect(screen.effects).toMatchObject([{ job: { kind: 'set-drop', name: 'hard', locator: '/d/1.jsonl:1' } }]);
});
