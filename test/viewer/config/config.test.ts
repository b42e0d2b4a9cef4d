import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chosenPreset, loadConfig } from '../../../src/viewer/config/config-file.ts';
import { keyName, sequenceOf } from '../../../src/viewer/config/key-names.ts';
import { parseConfig } from '../../../src/viewer/config/parse-config.ts';
import { decodeKeys } from '../../../src/viewer/tui/screen/keys.ts';
import { directoryWith } from '../../program.ts';

const read = (text: string) => parseConfig(text, '/home/me/config.yaml');

test('what others read of the settings comes with its lines', () => {
  const config = read('chat_templates:\n  mine:\n    user: "U: "\nerrors:\n  - pattern: x\n    tool: search\n');
  expect(config.problems).toEqual([]);
  expect(config.chatTemplates!.map(({ name, value, lineOf }) => [name, value, lineOf('user')])).toEqual([
    ['mine', { user: 'U: ' }, '/home/me/config.yaml:3'],
  ]);
  expect(config.errors!.map(({ lineOf }) => lineOf('tool'))).toEqual(['/home/me/config.yaml:6']);
  expect(read('errors: no\n').problems).toEqual([
    '/home/me/config.yaml:1: errors holds descriptions; the README shows one',
  ]);
});

describe('a key as people write it', () => {
  test.each([
    ['x', 'x'],
    ['X', 'X'],
    ['^d', 'ctrl+d'],
    ['C-d', 'ctrl+d'],
    ['Ctrl+D', 'ctrl+d'],
    ['M-x', 'alt+x'],
    ['alt+X', 'alt+X'],
    ['shift+x', 'X'],
    ['⇧Tab', 'shift+tab'],
    ['PgDn', 'pagedown'],
    ['Return', 'enter'],
    ['→', 'right'],
    ['F5', 'f5'],
    ['ctrl+Right', 'ctrl+right'],
    ['-', '-'],
    ['+', '+'],
    ['计', '计'],
    // One byte on every terminal.
    ['ctrl+i', 'tab'],
    ['^m', 'enter'],
    ['^h', 'backspace'],
  ])('%s is %s', (written, name) => expect(keyName(written)).toBe(name));

  test.each(['', 'ctrl+', 'hyper+x', 'f13', 'nokey', 'ctrl+1', 'xy', '\x1b'])('%j is no key', (written) =>
    expect(keyName(written)).toBeNull(),
  );

  test('two in a row', () => {
    expect(sequenceOf('g r')).toEqual({ sequence: 'g r' });
    expect(sequenceOf('C-x C-c')).toEqual({ sequence: 'ctrl+x ctrl+c' });
    expect(sequenceOf(' ')).toEqual({ sequence: 'space' });
    expect(sequenceOf('g nokey')).toEqual({ unknown: 'nokey' });
  });

  test('whatever the keyboard sends for one character has the name that the settings give it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 0x7f }), (code) => {
        const [key] = decodeKeys(String.fromCharCode(code), true).keys;
        expect(keyName(key!.name)).toBe(key!.name);
      }),
    );
  });
});

describe('config.yaml', () => {
  test('a preset and added keys', () => {
    const config = read('preset: less\nkeys:\n  turn.next: [l, right]\n  fold: F5\n  turn.first: 0\n  zoom: []\n');
    expect(config.problems).toEqual([]);
    expect(config.preset).toBe('less');
    expect(config.keys.map(({ id, keys }) => [id, keys.map(({ sequence }) => sequence)])).toEqual([
      ['turn.next', ['l', 'right']],
      ['fold', ['f5']],
      ['turn.first', ['0']],
      ['zoom', []],
    ]);
  });

  test('JSON is read as well; empty is nothing', () => {
    expect(read('{"preset": "emacs", "keys": {"fold": "^d"}}')).toMatchObject({ preset: 'emacs', problems: [] });
    expect(read('')).toEqual({ preset: null, keys: [], journal: null, problems: [] });
    expect(read('# nothing yet\n').problems).toEqual([]);
  });

  test('a mistake is reported with its line, and costs no more than that line', () => {
    const { preset, keys, problems } = read(
      'preset: nano\nkey: {}\nkeys:\n  turn.next: [l, lefft]\n  fold: {a: 1}\n  zoom: 5\n  wrap: z\n',
    );
    expect(preset).toBeNull();
    expect(problems).toEqual([
      '/home/me/config.yaml:2: no setting is called key; there are preset, keys, journal, formats, chat_templates, errors',
      '/home/me/config.yaml:1: nano is not a preset: vim, less, emacs, verl',
      '/home/me/config.yaml:4: no key is called "lefft"; write x, ctrl+x, f5, space, up, or y x for two in a row',
      '/home/me/config.yaml:5: fold needs a key, or a list of keys; quote what YAML reads as something else',
      '/home/me/config.yaml:6: 5 cannot start a command: digits before it are its count',
    ]);
    expect(keys.map(({ id, keys }) => [id, keys.map(({ sequence }) => sequence)])).toEqual([
      ['turn.next', ['l']],
      ['zoom', []],
      ['wrap', ['z']],
    ]);
  });

  test('what is no YAML is reported with its line', () => {
    expect(read('preset: less\nkeys: [\n').problems[0]).toMatch(/^\/home\/me\/config\.yaml:\d: .*it is not read$/);
    expect(read('preset: less\npreset: vim\n').problems[0]).toMatch(/config\.yaml:2: Map keys must be unique/);
    expect(read('just words').problems).toEqual([
      '/home/me/config.yaml: settings are a mapping, such as `preset: less`',
    ]);
  });

  test('no text whatever is an exception', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(Array.isArray(read(text).problems)).toBe(true);
      }),
    );
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefgh'
      .split('')
      .map((name, i) => {
        const before = 'abcdefgh'[i];
        return `${name}: &${name} [${Array(9).fill(`*${before}`).join(',')}]`;
      })
      .join('\n')}`;
    expect(read(bomb).problems[0]).toContain('it is not read');
  });

  test('the first file that is there counts; a directory in its place is reported', async () => {
    const directory = directoryWith({ 'config.json': '{"preset": "verl"}', 'config.yaml/file': '' });
    expect((await loadConfig([`${directory}/none.yaml`, `${directory}/config.json`])).preset).toBe('verl');
    expect((await loadConfig([`${directory}/config.yaml`])).problems[0]).toContain('cannot be read');
    expect(await loadConfig([`${directory}/none.yaml`])).toEqual({
      preset: null,
      keys: [],
      journal: null,
      problems: [],
    });
  });

  test('a flag comes before the environment, and that before the file', () => {
    const config = read('preset: less');
    expect(chosenPreset('emacs', { ROLLOUT_VIEWER_KEYS: 'verl' }, config).preset).toBe('emacs');
    expect(chosenPreset(undefined, { ROLLOUT_VIEWER_KEYS: 'verl' }, config).preset).toBe('verl');
    expect(chosenPreset(undefined, {}, config).preset).toBe('less');
    expect(chosenPreset(undefined, {}, read('')).preset).toBe('vim');
    const { preset, problem } = chosenPreset(undefined, { ROLLOUT_VIEWER_KEYS: 'nano' }, config);
    expect(preset).toBe('less');
    expect(problem).toContain('ROLLOUT_VIEWER_KEYS=nano');
  });
});

test('a key that begins with a digit from 1 belongs to the count, 0 does not', () => {
  const { keys, problems } = read('keys:\n  turn.next: ["1 x", "9", "0", "x 1"]\n');
  expect(keys[0]?.keys.map(({ sequence }) => sequence)).toEqual(['0', 'x 1']);
  expect(problems).toEqual([
    '/home/me/config.yaml:2: 1 x cannot start a command: digits before it are its count',
    '/home/me/config.yaml:2: 9 cannot start a command: digits before it are its count',
  ]);
});
