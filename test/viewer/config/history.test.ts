import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadColumns, saveColumns } from '../../../src/viewer/config/columns.ts';
import { History } from '../../../src/viewer/config/history.ts';
import { keyName, sequenceOf } from '../../../src/viewer/config/key-names.ts';
import { parseConfig } from '../../../src/viewer/config/parse-config.ts';

const path = (): string => join(mkdtempSync(join(tmpdir(), 'history-')), 'state', 'file');

test('an entry appears once, at its last place; other lines are skipped', () => {
  const file = path();
  const history = new History(file);
  for (const value of ['a', 'b', 'a']) history.add('filter', value);
  history.add('search', 'c');
  writeFileSync(file, `${readFileSync(file, 'utf8')}no JSON\n["filter"]\n`);
  expect(history.load()).toEqual({ filter: ['b', 'a'], search: ['c'] });
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('a history that has grown long is cut to its newest half', () => {
  const file = path();
  new History(file).add('filter', 'first');
  writeFileSync(file, Array.from({ length: 2001 }, (_, i) => `["filter","${i}"]\n`).join(''));
  expect(new History(file).load().filter).toHaveLength(2001);
  const kept = new History(file).load().filter!;
  expect([kept.length, kept.at(0), kept.at(-1)]).toEqual([1000, '1001', '2000']);
});

test('a home that cannot be read or written is no reason to trouble anybody', () => {
  const history = new History('/dev/null/history');
  history.add('filter', 'a');
  expect(history.load()).toEqual({});
  saveColumns('/dev/null/columns', ['a']);
  expect(loadColumns('/dev/null/columns')).toBeNull();
});

test('columns are kept as they were chosen; anything but a list of names is ignored', () => {
  const file = path();
  saveColumns(file, ['score', 'turns']);
  expect(loadColumns(file)).toEqual(['score', 'turns']);
  saveColumns(file, null);
  expect(loadColumns(file)).toBeNull();
  writeFileSync(file, '["score", 1]');
  expect(loadColumns(file)).toBeNull();
});

test('an empty value takes the keys of a command away, as an empty list does', () => {
  const { keys, problems } = parseConfig('keys:\n  fold:\n  wrap: []\n  zoom: " "\n', 'c.yaml');
  expect(problems).toEqual([]);
  expect(keys.map(({ id, keys: own }) => [id, own.map(({ sequence }) => sequence)])).toEqual([
    ['fold', []],
    ['wrap', []],
    ['zoom', ['space']],
  ]);
});

test('a key with shift is a capital; where it is no letter nobody knows which key that is', () => {
  expect(
    ['S-a', 'shift+Ä', 'shift+1', 'C-S-a', 'shift+up', 'M-x', '^d', 'C-i', 'Ctrl+PgUp', 'f13'].map(keyName),
  ).toEqual(['A', 'Ä', null, null, 'shift+up', 'alt+x', 'ctrl+d', 'tab', 'ctrl+pageup', null]);
  expect([sequenceOf(' '), sequenceOf(''), sequenceOf('g  r')]).toEqual([
    { sequence: 'space' },
    { unknown: '' },
    { sequence: 'g r' },
  ]);
});

test('formats of the user are read with their places; a journal is a word or a folder', () => {
  const read = parseConfig('formats:\n  mine: {turns: tot.steps, score: 0}\n  bad: 5\njournal: beside\n', 'c.yaml');
  expect(read.formats).toEqual([
    {
      name: 'mine',
      at: 'c.yaml:2',
      places: [
        { word: 'turns', place: 'tot.steps', at: 'c.yaml:2' },
        { word: 'score', place: '0', at: 'c.yaml:2' },
      ],
    },
  ]);
  expect(read.problems).toEqual(['c.yaml:3: the format bad needs places, such as {turns: tot.steps, score: final}']);
  expect(read.journal).toBe('beside');
  expect(parseConfig('journal: [a]', 'c.yaml').problems).toEqual(['c.yaml:1: journal is `beside`, or a folder']);
});
