import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { sequenceOf } from '../../../src/viewer/config/key-names.ts';
import { parseConfig } from '../../../src/viewer/config/parse-config.ts';
import { isPreset, PRESET_NAMES } from '../../../src/viewer/config/preset-names.ts';
import { COMMANDS, commandOf } from '../../../src/viewer/tui/keys/commands.ts';
import { keyTable } from '../../../src/viewer/tui/keys/key-table.ts';
import { Keymap, keyLabel, panesOf } from '../../../src/viewer/tui/keys/keymap.ts';
import { ownKeys } from '../../../src/viewer/tui/keys/own-keys.ts';
import { PRESETS } from '../../../src/viewer/tui/keys/presets.ts';

/**
 * Keys that something between the keyboard and the program may keep, or that are slow: the prefixes of tmux and screen, flow
 * control, what desktop terminals use themselves, and Esc, which must wait whether it begins an arrow key (alt is Esc before a key).
 */
const isHostile = (key: string): boolean =>
  ['ctrl+b', 'ctrl+a', 'ctrl+s', 'ctrl+q', 'ctrl+space', 'esc', 'f1', 'f10', 'f11'].includes(key) ||
  key.startsWith('alt+');

describe.each(PRESET_NAMES)('the preset %s', (name) => {
  const keymap = new Keymap(PRESETS[name]);

  test('names commands and keys that there are', () => {
    for (const [id, keys] of Object.entries<readonly string[]>(PRESETS[name])) {
      expect(commandOf(id)?.id, id).toBe(id);
      for (const key of keys) expect(sequenceOf(key), key).toEqual({ sequence: key });
    }
  });

  test('has a key for every command, in each pane where it means something', () => {
    const without = COMMANDS.flatMap((command) =>
      panesOf(command)
        .filter((pane) => keymap.keysOf(command.id, pane).length === 0)
        .map((pane) => `${command.id} in the ${pane}`),
    );
    expect(without).toEqual([]);
  });

  test('gives no key to two commands of one pane', () => {
    for (const pane of ['list', 'transcript', 'page', undefined] as const) {
      const taken = COMMANDS.filter(({ when }) => when === pane).flatMap(({ id }) => PRESETS[name][id] ?? []);
      expect(taken.filter((key, i) => taken.indexOf(key) !== i)).toEqual([]);
    }
  });

  test('leaves nothing to keys alone that a terminal may keep, or that need Esc to be quick', () => {
    const lost = COMMANDS.flatMap((command) =>
      panesOf(command)
        .filter((pane) => keymap.keysOf(command.id, pane).every((key) => key.split(' ').some(isHostile)))
        .map((pane) => `${command.id} in the ${pane}`),
    );
    expect(lost).toEqual([]);
  });

  test('begins no sequence with a digit, which would be a count', () => {
    for (const keys of Object.values<readonly string[]>(PRESETS[name]))
      for (const key of keys) expect(key).not.toMatch(/^[1-9]/);
  });
});

describe('commands', () => {
  test('have distinct names, and titles that fit the help of 80 columns', () => {
    expect(new Set(COMMANDS.map(({ id }) => id)).size).toBe(COMMANDS.length);
    for (const { id, title } of COMMANDS) expect([id, title.length <= 56]).toEqual([id, true]);
  });
});

describe("the user's own keys", () => {
  const own = (text: string) => ownKeys('vim', parseConfig(text, 'config.yaml'));

  test('come instead of those of the preset, and are taken from other commands', () => {
    const { keys, problems } = own('keys: {turn.next: [x, "ctrl+right"]}');
    expect(problems).toEqual([]);
    const keymap = new Keymap(keys);
    for (const pane of ['list', 'transcript'] as const) {
      expect(keymap.command('x', pane)?.id).toBe('turn.next');
      expect(keymap.command('l', pane)).toBeUndefined();
    }
    expect(keymap.keysOf('fold')).toEqual([]);
    expect(keymap.label('fold')).toBe(':fold');
  });

  test('of a command for both panes are taken from those of one; those of one leave it the other', () => {
    const both = new Keymap(own('keys: {zoom: space}').keys);
    expect([both.command('space', 'list')?.id, both.command('space', 'transcript')?.id]).toEqual(['zoom', 'zoom']);
    const one = new Keymap(own('keys: {mark.row: q}').keys);
    expect([one.command('q', 'list')?.id, one.command('q', 'transcript')?.id]).toEqual(['mark.row', 'quit']);
  });

  test('an unknown command is reported, with the nearest one', () => {
    expect(own('keys:\n  turn.nxt: x\n  frobnicate: y\n').problems).toEqual([
      'config.yaml:2: no command is called turn.nxt, perhaps turn.next',
      'config.yaml:3: no command is called frobnicate; ? lists them, : completes their names',
    ]);
  });

  test('a key that is used twice stays with the first', () => {
    const { keys, problems } = own('keys:\n  turn.next: x\n  wrap:\n    - w\n    - x\n');
    expect(problems).toEqual(['config.yaml:5: x is given to turn.next already; give wrap another key']);
    expect(new Keymap(keys).command('x', 'list')?.id).toBe('turn.next');
    expect(new Keymap(keys).command('w', 'list')?.id).toBe('wrap');
  });

  test('never leave the program without a way out', () => {
    const { keys, problems } = own('keys: {quit: [], cancel: [], command: [], fold: ctrl+c}');
    expect(new Keymap(keys).command('ctrl+c', 'list')?.id).toBe('cancel');
    expect(problems).toEqual(['without a key for quit, cancel, command nothing would end the program; ^c stays']);
  });

  test('over any preset leave every command that they do not name', () => {
    for (const preset of PRESET_NAMES) {
      const { keys } = ownKeys(preset, parseConfig('keys: {zoom: f9}', 'config.yaml'));
      expect(keys).toEqual({ ...PRESETS[preset], zoom: ['f9'] });
    }
  });
});

test('docs/keys.md has the table of the keymap; node scripts/readme-tables.mjs writes it', () => {
  const page = readFileSync(new URL('../../../docs/keys.md', import.meta.url), 'utf8');
  expect(page).toContain(keyTable());
});

test('keys are shown as people write them', () => {
  expect(['ctrl+d', 'g r', 'enter', 'f2', 'ctrl+x ctrl+c', 'alt+x', 'space'].map(keyLabel)).toEqual([
    '^d',
    'g r',
    'Enter',
    'F2',
    '^x ^c',
    'alt+x',
    'space',
  ]);
  expect(isPreset('toString')).toBe(false);
});
