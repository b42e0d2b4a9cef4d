import { Box } from 'ink';
import { render } from 'ink-testing-library';
import { useState } from 'react';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { COLOURS, MONO } from '../../../src/viewer/present/theme.ts';
import { App } from '../../../src/viewer/tui/views/App.tsx';
import type { Chrome } from '../../../src/viewer/tui/views/chrome.ts';
import { columnLines } from '../../../src/viewer/tui/views/column-lines.ts';
import { inkKit } from '../../../src/viewer/tui/views/ink-kit.tsx';
import { drawLines, LINE_KIT } from '../../../src/viewer/tui/views/line-kit.ts';

let shown: ReturnType<typeof render> | null = null;
afterEach(() => {
  shown?.unmount();
  shown = null;
});

const lines = (): string[] => (shown!.lastFrame() ?? '').replace(/\x1b\[[0-9;]*m/g, '').split('\n');
const plain = (line: string): string => line.replace(/\x1b\[[0-9;]*m/g, '').trimEnd();
const nothing = (): void => {};
const KIT = inkKit(MONO, nothing);

const showsFirst = (line: string): Promise<void> =>
  vi.waitFor(() => expect(lines()[0]!.trimEnd()).toBe(line), { timeout: 120_000 });

/** Ink listens to keys from its first effect on; a key before that is lost. */
const press = async (key: string, becomes: string): Promise<void> => {
  // React renders and runs its effects in a turn of the event loop each, or some more where it is slow.
  for (let turn = 0; turn < 40; turn++) await new Promise((resolve) => setImmediate(resolve));
  shown!.stdin.write(key);
  await showsFirst(becomes);
};

const chrome: Chrome = {
  columns: 40,
  tooSmall: null,
  top: { left: [['heading', ' rollout_data']], right: [['quiet', 'indexing ']] },
  editor: null,
  foot: [{ left: [['accent', ' q quit']], right: [['quiet', 't3 · 4/7 ']] }],
  prompt: null,
};

describe('a line', () => {
  test('has something at each edge; the left gives way to the right, with a blank between them', () => {
    const left = [['plain', 'a line that says much more than there is room for']] as const;
    shown = render(<App chrome={{ ...chrome, top: { left, right: [['quiet', 'right']] } }} kit={KIT} />);
    expect(lines()[0]).toMatch(/^a line that says much more than.*… right$/);
    expect(lines()[0]).toHaveLength(40);
    expect(lines()[1]).toBe(' q quit                        t3 · 4/7 ');
  });

  test('takes no colour without colours, and wide letters count twice', () => {
    const { EdgeLine } = inkKit(COLOURS, nothing);
    shown = render(<EdgeLine left={[['error', '日本語']]} right={[]} />);
    expect(lines()[0]).toBe('日本語');
  });
});

describe('the chrome', () => {
  test('is the first line and the foot, which the painter parts at the body', () => {
    shown = render(<App chrome={chrome} kit={KIT} />);
    expect(lines().map((line) => line.trim().split(/ {2,}/))).toEqual([
      ['rollout_data', 'indexing'],
      ['q quit', 't3 · 4/7'],
    ]);
  });

  test('a question has a second line, and the editor one above its text', () => {
    const below = { left: [['accent', ' Enter']] as const, right: [] };
    const editor = { left: [['heading', ' turn t2']] as const, right: [['quiet', 'line 1 of 3 ']] as const };
    shown = render(<App chrome={{ ...chrome, foot: [...chrome.foot, below], editor }} kit={KIT} />);
    expect(lines().map((line) => line.trim().split(' ')[0])).toEqual(['rollout_data', 'turn', 'q', 'Enter']);
  });

  test('a window that is too small has one sentence', () => {
    shown = render(<App chrome={{ ...chrome, tooSmall: 'too small' }} kit={KIT} />);
    expect(lines()).toEqual(['too small']);
  });
});

test('columns side by side have one width, and go on at the top of the next', () => {
  const entries = Array.from({ length: 7 }, (_, i) => [['plain', `entry ${i}`]] as const);
  const shownLines = columnLines(entries, 2, 4, MONO, 101);
  expect(shownLines.map((line) => line.split(/ {2,}/).filter(Boolean))).toEqual([
    ['entry 0', 'entry 4'],
    ['entry 1', 'entry 5'],
    ['entry 2', 'entry 6'],
    ['entry 3'],
  ]);
  expect(shownLines[0]!.indexOf('entry 4')).toBe(50);
});

function Typed({ first, cursor, onType }: { first: string; cursor: number; onType(value: string): void }) {
  const [value, setValue] = useState(first);
  const [{ Field }] = useState(() =>
    inkKit(MONO, (next) => {
      onType(next);
      setValue(next);
    }),
  );
  return <Field id="search" sign="/" value={value} seed={0} cursor={cursor} />;
}

describe('a prompt', () => {
  test('shows its sign and what is typed, and reports each change', async () => {
    const onType = vi.fn();
    shown = render(<Typed first="" cursor={0} onType={onType} />);
    expect(lines().map((line) => line.trimEnd())).toEqual(['/']);
    await press('apples', '/apples');
    await press('\x7f', '/apple');
    expect(onType.mock.calls).toEqual([['apples'], ['apple']]);
  });

  test('starts with its cursor at the given place', async () => {
    shown = render(<Typed first="apple" cursor={1} onType={nothing} />);
    await showsFirst('/apple');
    await press('X', '/aXpple');
    await press('\x1b[C', '/aXpple');
    await press('Y', '/aXpYple');
  });

  test('of a value that is too long the end is shown, on one line', () => {
    shown = render(<Typed first={`${'a long value '.repeat(20)}the end`} cursor={0} onType={nothing} />);
    expect(lines()[0]).toMatch(/^\/….*the end$/);
    expect(lines()).toHaveLength(1);
  });
});

test('the plain lines before Ink is loaded are those that Ink draws', () => {
  const edges = (left: string, right: string) => ({ left: [['plain', left]], right: [['quiet', right]] }) as const;
  const field = { id: 'command', sign: ':', value: 'step 12', seed: 1, cursor: 7 };
  const screens: readonly Chrome[] = [
    chrome,
    { ...chrome, tooSmall: 'rollout-viewer needs 40×10; this window has 30×8.' },
    { ...chrome, top: edges('a name that is longer than the whole line is wide', 'indexing 50 %') },
    { ...chrome, top: edges('left', '') },
    { ...chrome, editor: edges('turn t2', 'line 1 of 3 '), foot: [edges('! python', ''), edges('Enter run', '')] },
    { ...chrome, foot: [], prompt: { field, info: [['quiet', ' a number']] } },
  ];
  for (const width of [40, 41, 79, 100])
    for (const one of screens) {
      const shape = { ...one, columns: width };
      const ink = render(
        <Box width={width}>
          <App chrome={shape} kit={KIT} />
        </Box>,
      );
      // The field's cursor is the one thing that Ink alone draws, which is a blank here.
      const drawn = (ink.lastFrame() ?? '').split('\n').map(plain);
      ink.unmount();
      expect(drawLines(<App chrome={shape} kit={LINE_KIT} />, width, MONO).map(plain)).toEqual(drawn);
    }
});
