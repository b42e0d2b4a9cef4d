import { afterEach, describe, expect, test } from 'vitest';
import type { Piece } from '../../../src/viewer/present/line.ts';
import { MONO } from '../../../src/viewer/present/theme.ts';
import type { Action } from '../../../src/viewer/tui/state/action.ts';
import { footOf } from '../../../src/viewer/tui/views/footer.ts';
import { foundText, listHead } from '../../../src/viewer/tui/views/list-head.ts';
import { promptInfo } from '../../../src/viewer/tui/views/prompt-info.ts';
import { transcriptView } from '../../../src/viewer/tui/views/transcript.ts';
import { smallRun } from '../../support/dump.ts';
import { TestScreen } from '../../support/screen.ts';

let screen: TestScreen;
afterEach(() => screen?.close());

const text = (pieces: readonly Piece[]): string => pieces.map(([, piece]) => piece).join('');
const scene = (typed = ''): never =>
  ({ state: { ...screen.state, keys: { ...screen.state.keys, typed } }, data: screen.data, name: 'dump' }) as never;

describe('below a prompt', () => {
  const open = async (value: string): Promise<void> => {
    screen = await TestScreen.open(smallRun(1, 2));
    screen.do({ type: 'prompt-open', prompt: 'command' }, { type: 'prompt-change', value });
  };

  test('is a mistake under its character, its words before it if there is no room behind', async () => {
    await open('step 99');
    screen.do({ type: 'prompt-submit' });
    expect(text(promptInfo(scene(), 80))).toBe('      ^ no step 99 here; there are 1');
    await open(`step ${'9'.repeat(2)}`);
    screen.do({ type: 'prompt-submit' });
    const { prompt } = screen.state;
    screen.state = { ...screen.state, prompt: { ...prompt!, value: 'x'.repeat(60), error: { message: 'no', at: 40 } } };
    expect(text(promptInfo(scene(), 45))).toBe(`${' '.repeat(37)}no  ^`);
    expect(text(promptInfo(scene(), 30))).toBe('no');
  });

  test('are the completions that Tab goes through, else what may be typed', async () => {
    await open('fo');
    expect(text(promptInfo(scene(), 80))).toMatch(/^ fo/);
    screen.do({ type: 'prompt-complete', by: 1 });
    const pieces = promptInfo(scene(), 80);
    expect(pieces.filter(([style]) => style === 'accent').map(([, piece]) => piece.trim())).toEqual([
      screen.state.prompt!.value.trim(),
    ]);
  });
});

describe('the head of the list', () => {
  test('says what is filtered, and how many are left', async () => {
    screen = await TestScreen.open(smallRun(2, 8));
    expect(listHead(screen.state, screen.data, MONO, 40)).toBeNull();
    await screen.do({ type: 'filter', text: 'step == 1' }).settled();
    expect(foundText(screen.state, screen.data)).toBe('8 of 16');
    expect(listHead(screen.state, screen.data, MONO, 40)?.replace(/\x1b\[[\d;]*m/g, '')).toBe(
      ' & step == 1                    8 of 16 ',
    );
  });
});

describe('the foot', () => {
  test('shows what is pressed before a message, an alarm before a message, and the place where there is room', async () => {
    screen = await TestScreen.open(smallRun(2, 8));
    const left = (width: number, pending = '') => text(footOf(scene(pending), width)[0]!.left);
    const right = (width: number) => text(footOf(scene(), width)[0]!.right);
    expect(left(160)).toContain('quit');
    expect(left(60)).toContain('help');
    expect(left(60)).not.toContain('quit');
    screen.do({ type: 'say', text: 'a message', kind: 'info' });
    expect(left(160)).toBe(' a message');
    expect(right(160)).toContain('t2/t4');
    expect(right(30)).not.toContain('t2/t4');
    screen.do({ type: 'alarm', text: 'one' }, { type: 'alarm', text: 'two' });
    expect(left(160)).toBe(' two  and 1 before it');
    expect(left(160, 'g')).toBe(' g');
  });

  test('asks the question there is, with a message below it in the place of its keys', async () => {
    screen = await TestScreen.open(smallRun(1, 2));
    screen.do({ type: 'replay-ask', all: false });
    expect(text(footOf(scene(), 100)[0]!.left)).toContain('! code_interpreter t2');
    expect(text(footOf(scene(), 100)[1]!.left)).toContain('Esc close');
    screen.do({ type: 'say', text: 'said', kind: 'info' });
    expect(text(footOf(scene(), 100)[1]!.left)).toBe(' said');
  });

  test('tells rows that are here from files that are not', async () => {
    const away = '{"rollout_viewer_pending": "not here yet: 10 MB at s3://b"}';
    screen = await TestScreen.open({ ...smallRun(2, 8), '9.jsonl': [away], '10.jsonl': [away] });
    screen.state = { ...screen.state, focus: 'list' };
    expect(text(footOf(scene(), 160)[0]!.right)).toMatch(/^18\/18, 2 away /);
    await screen.do({ type: 'filter', text: 'step == 1' }).settled();
    expect(text(footOf(scene(), 160)[0]!.right)).toMatch(/^8\/8 {3}/);
  });
});

test('Esc ends what is looked for before anything else', async () => {
  screen = await TestScreen.open(smallRun(2, 8));
  const progress = { what: 'x', done: 1, total: 9 };
  screen.do({ type: 'find-progress', progress } as Action);
  expect(text(footOf(scene(), 160)[0]!.left)).toContain('looking for x … 1 of 9 rollouts');
  screen.do({ type: 'back' });
  expect([screen.state.find, screen.state.focus]).toEqual([null, 'transcript']);
  expect(screen.effects).toEqual([{ type: 'find', job: null }]);
});

test('two streams with files of one name have other titles, and each can be typed after `:`', async () => {
  const rows = Object.values(smallRun(1, 2))[0] ?? [];
  screen = await TestScreen.open({ 'train/3.jsonl': rows, 'val/3.jsonl': rows, 'val/4.jsonl': rows });
  const titles = screen.dump.files.map((file) => {
    screen.do({ type: 'go', place: { file, record: 1 }, turn: null });
    return title();
  });
  expect(titles).toEqual(['train/3.jsonl:2', 'val/3.jsonl:2', '4.jsonl:2']);
  for (const typed of titles) {
    screen.do({ type: 'prompt-open', prompt: 'command' }, { type: 'prompt-change', value: typed });
    screen.do({ type: 'prompt-submit' });
    expect(title()).toBe(typed);
  }
  const streams = screen.list.slice(1).map((line) => /[a-z]/.exec(line)?.[0] ?? '');
  expect([...new Set(streams)].sort()).toEqual(['t', 'v']);
});

/** The name of the rollout above the transcript. */
function title(): string {
  const scene = { state: screen.state, data: screen.data, theme: MONO, name: '' };
  const [head = ''] = transcriptView(scene, 100, 20);
  return /\S+:\d+/.exec(head.replace(/\x1b\[[\d;]*m/g, ''))?.[0] ?? '';
}
