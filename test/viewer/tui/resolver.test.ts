import { beforeEach, describe, expect, test } from 'vitest';
import { Keymap } from '../../../src/viewer/tui/keys/keymap.ts';
import { Resolver } from '../../../src/viewer/tui/keys/resolver.ts';
import { decodeKeys } from '../../../src/viewer/tui/screen/keys.ts';

let done: string[] = [];
let unknown: string[] = [];
let searched: string[] = [];
let resolver: Resolver;
beforeEach(() => {
  done = [];
  unknown = [];
  searched = [];
  resolver = new Resolver({
    keymap: new Keymap(),
    pane: () => 'transcript',
    run: ({ command, count }) => done.push(count === null ? command.id : `${count} ${command.id}`),
    searchBehind: (sequence) => searched.push(sequence),
    pendingChanged: () => {},
    unknown: (keys) => unknown.push(keys),
  });
});

const press = (text: string): void => {
  for (const key of decodeKeys(text, true).keys) resolver.press(key);
};

describe('keys become commands', () => {
  test('with the digits before them as a count; 0 is one behind another digit', () => {
    press('j5j12G0');
    expect(done).toEqual(['line.down', '5 line.down', '12 bottom', 'turn.first']);
    press('10j');
    expect(done.at(-1)).toBe('10 line.down');
  });

  test('one after the other in a sequence, with a count before it', () => {
    press('yt3]r');
    expect(done).toEqual(['yank.turn', '3 reward.next']);
    press('2g');
    expect(resolver.pending).toBe('2 g');
  });

  test('a key that begins a sequence never acts by itself; with a key that does not continue it both are dropped', () => {
    press('g');
    expect([done, resolver.sequence]).toEqual([[], 'g']);
    press('r');
    press('gg');
    expect(done).toEqual(['rescore.all', 'top']);
    press('gj');
    expect([done.length, unknown, resolver.sequence]).toEqual([2, ['g j'], '']);
  });

  test('the key of the help behind the beginning of a sequence searches what may follow', () => {
    press('g?');
    expect([searched, done, resolver.sequence]).toEqual([['g'], [], '']);
    press('?');
    expect(done).toEqual(['help']);
  });

  test('what means nothing is dropped, with what was typed before it', () => {
    press('yq5');
    expect(done).toEqual([]);
    expect(resolver.pending).toBe('5');
    press('y\x1b');
    press('j');
    expect(done).toEqual(['line.down']);
  });

  test('keys without a command are reported, but not Esc and reports of a terminal', () => {
    press('%yx');
    expect(unknown).toEqual(['%', 'y x']);
    press('y\x1b');
    press('\x1b[I');
    expect(unknown).toHaveLength(2);
  });

  test('a count has an end', () => {
    press(`${'9'.repeat(400)}j`);
    expect(done).toEqual(['1000000000 line.down']);
  });
});
