// A key typed slowly does what it does typed fast: the beginning of a sequence waits, and shows what may follow.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { PRESET_NAMES } from '../../../src/viewer/config/preset-names.ts';
import { MONO } from '../../../src/viewer/present/theme.ts';
import { COMMANDS } from '../../../src/viewer/tui/keys/commands.ts';
import { Keymap, panesOf } from '../../../src/viewer/tui/keys/keymap.ts';
import { PRESETS } from '../../../src/viewer/tui/keys/presets.ts';
import { unstyled } from '../../../src/viewer/tui/screen/fitted.ts';
import { Input } from '../../../src/viewer/tui/shell/input.ts';
import type { Action } from '../../../src/viewer/tui/state/action.ts';
import { type KeyPane, paneOf } from '../../../src/viewer/tui/state/panes.ts';
import type { State } from '../../../src/viewer/tui/state/state.ts';
import { helpView } from '../../../src/viewer/tui/views/help.ts';
import { bodyPanes } from '../../../src/viewer/tui/views/panes.ts';
import { smallRun } from '../../support/dump.ts';
import { TestScreen } from '../../support/screen.ts';

/** ms between two keys of somebody who looks at the README, or sits behind a slow line. */
const PAUSE = 2000;

let screen: TestScreen;
let inPane: Record<KeyPane, State>;
beforeAll(async () => {
  screen = await TestScreen.open(smallRun(2, 8), 80, 24);
  const transcript = screen.state;
  const list = screen.do({ type: 'focus-next' }).state;
  const page = screen.do({ type: 'page-open', subject: { kind: 'under-way' } }).state;
  inPane = { transcript, list, page };
});
afterAll(() => screen.close());
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** The keyboard in front of a screen that stays as it is: the actions that keys lead to. */
function keyboard(keymap: Keymap, state: State): { press(name: string): void; acted: Action[] } {
  screen.state = state;
  const acted: Action[] = [];
  const input = new Input({
    data: screen.data,
    keymap,
    state: () => screen.state,
    isShown: () => true,
    dispatch: (action) => {
      if (action.type === 'keys-pending' || action.type === 'keys-waited' || action.type === 'help-behind')
        screen.do(action);
      else acted.push(action);
    },
    type: async () => {},
  });
  return { press: (name) => input.press([{ name, text: '', raw: '' }]), acted };
}

describe.each(PRESET_NAMES)('with the preset %s', (name) => {
  test('each sequence of each pane does its one thing, however slowly it is typed', () => {
    const keymap = new Keymap(PRESETS[name]);
    for (const pane of ['list', 'transcript', 'page'] as const)
      for (const command of COMMANDS.filter((one) => panesOf(one).includes(pane)))
        for (const sequence of keymap.keysOf(command.id, pane)) {
          const { press, acted } = keyboard(keymap, inPane[pane]);
          expect(paneOf(screen.state)).toBe(pane);
          const keys = sequence.split(' ');
          for (const [i, key] of keys.entries()) {
            expect(acted, `${sequence} in the ${pane}`).toEqual([]);
            press(key);
            vi.advanceTimersByTime(PAUSE);
            expect(screen.state.keys.isMenuOpen).toBe(i < keys.length - 1);
          }
          expect(acted, `${sequence} in the ${pane}`).toHaveLength(1);
          const reason = command.disabled?.(screen.state, screen.data) ?? null;
          expect(acted[0]?.type).toBe(reason === null ? command.action(null).type : 'say');
        }
  });

  test('Esc leaves each beginning of a sequence, and nothing has acted', () => {
    const keymap = new Keymap(PRESETS[name]);
    for (const pane of ['list', 'transcript', 'page'] as const) {
      const sequences = COMMANDS.flatMap(({ id }) => keymap.keysOf(id, pane)).map((sequence) => sequence.split(' '));
      const begun = new Set(sequences.flatMap((keys) => keys.slice(1).map((_, i) => keys.slice(0, i + 1).join(' '))));
      expect(begun.size).toBeGreaterThan(1);
      for (const beginning of begun) {
        const { press, acted } = keyboard(keymap, inPane[pane]);
        for (const key of [...beginning.split(' '), 'esc']) {
          press(key);
          vi.advanceTimersByTime(PAUSE);
        }
        expect(acted, `${beginning} Esc in the ${pane}`).toEqual([]);
        expect(screen.state.keys, `${beginning} Esc in the ${pane}`).toEqual(inPane[pane].keys);
      }
    }
  });

  test('no key is a command and the beginning of another one', () => {
    const keymap = new Keymap(PRESETS[name]);
    for (const pane of ['list', 'transcript', 'page'] as const) {
      const keys = COMMANDS.flatMap(({ id }) => keymap.keysOf(id, pane));
      expect(keys.filter((key) => keymap.isPrefix(key, pane))).toEqual([]);
    }
  });
});

/** What the commands of the open help do. */
const helpTitles = (): string[] =>
  helpView({ state: screen.state, data: screen.data, theme: MONO, name: '' }, 120, 1000)
    .map((line) =>
      unstyled(line)
        .slice(21)
        .replace(/ {2}\(.*|\s+$/g, ''),
    )
    .filter((title) => title !== '');

describe('the menu of a sequence', () => {
  const lines = (): string[] => {
    const scene = { state: screen.state, data: screen.data, theme: MONO, name: 'dump' };
    const panes = bodyPanes(scene);
    const menu = panes.find(({ id }) => id === 'menu');
    const top = menu?.rect.y ?? screen.state.rows - 1;
    for (const { id, rect } of panes)
      expect(rect.y + rect.height, id).toBe(id === 'menu' ? screen.state.rows - 1 : top);
    return (menu?.lines() ?? []).map((line) => unstyled(line).trimEnd());
  };

  test('comes after a moment, names the groups of what may follow, and goes with the next key', () => {
    const { press } = keyboard(new Keymap(), inPane.list);
    press('g');
    vi.advanceTimersByTime(299);
    expect(lines()).toEqual([]);
    vi.advanceTimersByTime(1);
    const shown = lines();
    expect(shown[0]).toBe(' g …  ? searches, Esc leaves');
    for (const group of ['Runs', 'Groups', 'Time', 'Signal']) expect(`${shown.join(' ')} `).toContain(` ${group} `);
    expect(shown.join('\n')).toMatch(/ g +go to top/);
    press('esc');
    expect(lines()).toEqual([]);
  });

  test('is searched with the key of the help', () => {
    const { press } = keyboard(new Keymap(), inPane.list);
    press('y');
    vi.advanceTimersByTime(PAUSE);
    press('?');
    expect(screen.state.help).toEqual({ cursor: 0, begun: 'y' });
    const titles = helpTitles();
    expect(titles.length).toBeGreaterThan(2);
    for (const title of titles) expect(title).toMatch(/^(?:copy|copies|write) /);
    const others = COMMANDS.filter(({ keys }) => keys.every((key) => !key.startsWith('y ')));
    for (const { title } of others) expect(titles).not.toContain(title);
  });

  test('fits 40 columns and 10 rows', () => {
    const { press } = keyboard(new Keymap(), { ...inPane.transcript, columns: 40, rows: 10 });
    press('g');
    vi.advanceTimersByTime(PAUSE);
    expect(lines().length).toBeLessThan(10);
  });
});

test('the help begins with the questions that people come with, and finds synonyms', () => {
  screen.state = inPane.list;
  screen.do({ type: 'prompt-open', prompt: 'help' });
  expect(
    helpTitles()
      .slice(0, 5)
      .every((title) => title.endsWith('?')),
  ).toBe(true);
  for (const word of ['hack', 'export', 'share', 'html', 'colour', 'theme', 'chart', 'alarm']) {
    screen.do({ type: 'prompt-change', value: word });
    expect([word, helpTitles().length > 0]).toEqual([word, true]);
  }
});

test('what is typed before a question can be read answers nothing, and leaves it', () => {
  screen.state = inPane.transcript;
  const asked = screen.press('!').state;
  expect(asked.replay.question).not.toBeNull();
  const acted: Action[] = [];
  let isShown = false;
  const input = new Input({
    data: screen.data,
    keymap: new Keymap(),
    state: () => asked,
    isShown: (question) => isShown && question === asked.replay.question,
    dispatch: (action) => acted.push(action),
    type: async () => {},
  });
  const press = (name: string) => input.press([{ name, text: name, raw: name }]);
  for (const name of ['enter', 'a', 'f', 'y']) press(name);
  expect(acted).toEqual([]);
  press('esc');
  isShown = true;
  press('enter');
  expect(acted).toEqual(['esc', 'enter'].map((key) => ({ type: 'replay-key', key })));
  input.stop();
});
