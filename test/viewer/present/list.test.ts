import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ERROR_KINDS } from '../../../src/core/rollout/error-kind.ts';
import { Facts, factRow } from '../../../src/core/rollout/fact-row.ts';
import { factAt } from '../../../src/core/rollout/facts.ts';
import { cellWidth } from '../../../src/core/text/graphemes.ts';
import { failureWord } from '../../../src/viewer/present/failure-word.ts';
import { groupSummary } from '../../../src/viewer/present/group-text.ts';
import {
  columnsWidth,
  fitColumns,
  placedWidth,
  renderListHeader,
  renderListRow,
} from '../../../src/viewer/present/list.ts';
import {
  type ListRow,
  NOT_KNOWN,
  ownColumns,
  sortedColumn,
  valueColumn,
} from '../../../src/viewer/present/list-columns.ts';
import { MONO } from '../../../src/viewer/present/theme.ts';

const plain = (text: string): string => text.replace(/\x1b\[[0-9;]*m/g, '');

const row: ListRow = {
  stream: 'train',
  step: 12,
  stem: '12',
  sample: 57,
  score: 0.125,
  bytes: 24_000,
  facts: new Facts(factRow(null, [{ check: 'tool_error', severity: 'error', turn: null, message: '' }])),
  failedTool: null,
  again: '',
  label: '',
  hasOwnColumn: { again: false, rescored: false },
  rescored: undefined,
  arriving: false,
  value: (name) => (name === 'acc' ? 0.25 : name === 'later' ? NOT_KNOWN : undefined),
};
const shape = (streams: string[]) => ({
  step: 4,
  sample: 4,
  score: 6,
  areLong: false,
  range: null,
  failedTool: 0,
  streams,
});
const unmarked = { here: false, focused: false, mark: '', fresh: false, read: false };

describe('columns of the list', () => {
  test('of two columns of one rank the last one leaves', () => {
    const column = (key: string, rank: number) => ({ ...valueColumn(key), key, rank, width: 6, min: 6 });
    const columns = [column('a', 0), column('b', 3), column('c', 3)];
    expect(fitColumns(columns, columnsWidth(columns) - 1).map(({ key }) => key)).toEqual(['a', 'b']);
  });

  test('a column has its ease before one that can be done without has anything', () => {
    const eased = { ...valueColumn('a'), key: 'a', rank: 0, width: 10, min: 5, ease: 9 };
    const easy = { ...valueColumn('b'), key: 'b', rank: 2, width: 5, min: 5 };
    const kept = (width: number) => fitColumns([eased, easy], width).map(({ key }) => key);
    const least = columnsWidth([eased, easy], 'min');
    expect(kept(least + 3)).toEqual(['a']);
    expect(kept(least + 4)).toEqual(['a', 'b']);
  });

  test('shrink and leave in an order that keeps step, sample, score and the finding, in any width that has room for them', () => {
    const columns = [...ownColumns(shape(['train', 'val'])), valueColumn('acc'), valueColumn('num_turns')];
    const needed = columns.filter(({ rank }) => rank === 0);
    fc.assert(
      fc.property(fc.integer({ min: columnsWidth(needed, 'min'), max: 120 }), (width) => {
        const placed = fitColumns(columns, width);
        expect(placedWidth(placed)).toBeLessThanOrEqual(width);
        for (const { key } of needed) expect(placed.map((column) => column.key)).toContain(key);
        for (const { cells, min, width: most } of placed) {
          expect(cells).toBeGreaterThanOrEqual(min);
          expect(cells).toBeLessThanOrEqual(most);
        }
        const line = plain(renderListRow(row, placed, MONO, unmarked));
        const header = plain(renderListHeader(placed, MONO, null));
        expect([cellWidth(line), cellWidth(header)]).toEqual([cellWidth(header), cellWidth(line)]);
        for (const text of ['12', '57', '0.125', 'error']) expect(line).toContain(text);
      }),
    );
  });

  test('fit 31 cells, what a transcript leaves of 80: streams are shown by their first letters', () => {
    const placed = fitColumns(ownColumns(shape(['train', 'val'])), 31);
    expect(placed.map(({ key }) => key)).toEqual(['stream', 'step', 'sample', 'score', 'findings']);
    expect(
      plain(
        renderListRow(row, placed, MONO, { here: true, focused: true, mark: 'a', fresh: false, read: false }),
      ).trimEnd(),
    ).toBe('›a t   12     57 0.1250 error');
    const alike = fitColumns(ownColumns(shape(['val_a', 'val_b'])), 35);
    expect(plain(renderListRow({ ...row, stream: 'val_b' }, alike, MONO, unmarked))).toContain('val_b');
  });

  test('the kind of a failed call fits the column of a terminal of 80 columns', () => {
    const [findings] = ownColumns(shape(['train'])).filter(({ key }) => key === 'findings');
    const words = ERROR_KINDS.map((_, kind) => {
      const values = factRow(null, [{ check: 'tool_error', severity: 'error', turn: null, message: '' }]);
      values[factAt('error.kind')] = kind;
      return findings?.text({ ...row, facts: new Facts(values) }, 7) ?? '';
    });
    expect(words.filter((word) => word === 'error')).toHaveLength(1);
    expect(new Set(words).size).toBe(ERROR_KINDS.length);
    expect(words.every((word) => cellWidth(word) <= 7)).toBe(true);
  });

  test('a failed call is its tool and its kind: in little room the name is cut, and the kind stays', () => {
    const values = factRow(null, [{ check: 'tool_error', severity: 'error', turn: null, message: '' }]);
    values[factAt('error.kind')] = ERROR_KINDS.indexOf('timeout');
    const failed = { ...row, facts: new Facts(values), failedTool: 'web\u001b[2J_search' };
    const text = (failedTool: number, width: number) =>
      ownColumns({ ...shape(['train']), failedTool })
        .find(({ key }) => key === 'findings')
        ?.text(failed, width);
    const wide = ownColumns({ ...shape(['train']), failedTool: 11 }).find(({ key }) => key === 'findings');
    expect(text(11, wide?.width ?? 0)).toMatch(/^web.*_search: timeout$/);
    expect(text(11, 15)).toMatch(/^web.*…: timeout$/);
    expect(text(11, 10)).toBe('timeout');
    fc.assert(
      fc.property(
        fc.string(),
        fc.constantFrom(...ERROR_KINDS),
        fc.integer({ min: 7, max: 40 }),
        (tool, kind, width) => {
          const word = failureWord(tool, kind, width);
          expect(cellWidth(word)).toBeLessThanOrEqual(width);
          expect(word.endsWith(failureWord(null, kind, 7)) || word.endsWith(failureWord(null, kind))).toBe(true);
          expect(word).not.toMatch(/[\u0000-\u001f]/);
        },
      ),
    );
  });

  test('the result of running again is among the findings, unless it has a column', () => {
    const [findings] = ownColumns(shape(['train'])).filter(({ key }) => key === 'findings');
    const drifted: ListRow = { ...row, again: 'now_fails', rescored: { score: 0, isDrift: true } };
    expect(findings!.text(drifted, 10)).toBe('drift');
    expect(findings!.text({ ...row, facts: new Facts(factRow(null, [])), again: 'normalised' }, 10)).toBe('same');
    const ownAgain: ListRow = { ...drifted, hasOwnColumn: { again: true, rescored: false } };
    expect(findings!.text(ownAgain, 10)).toBe('now 0.00');
    expect(findings!.text({ ...ownAgain, hasOwnColumn: { again: true, rescored: true } }, 10)).toBe('error');
  });

  test('the one that is sorted by says which way, and stays', () => {
    const sorted = ownColumns(shape(['train'])).map((column) =>
      column.key === 'bytes' ? sortedColumn(column) : column,
    );
    const placed = fitColumns(sorted, 40);
    expect(plain(renderListHeader(placed, MONO, { key: 'bytes', descending: true }))).toContain('size▼');
    expect(plain(renderListHeader(placed, MONO, { key: 'bytes', descending: false }))).toContain('size▲');
  });

  test('values that are there, missing, and not known yet look different', () => {
    const cells = ['acc', 'none', 'later'].map((name) => valueColumn(name).text(row, 8));
    expect(cells).toEqual(['0.25', '–', '·']);
    expect(valueColumn('x').text({ ...row, value: () => 'a\x1b[2Jb' }, 8)).toBe('a␛[2Jb');
  });
});

test.each<[(number | null | undefined)[], string]>([
  [[1, 0, 0.5], 'group of 3: mean 0.50 min 0.00 max 1.00'],
  [[0, 0, 0, 0], 'group of 4, no signal: all 0.00'],
  [[1, Number.NaN, 0], 'group of 3: mean 0.50 min 0.00 max 1.00, 1 without'],
  [[null, undefined], 'group of 2: no scores'],
  [[1, null], 'group of 2: mean 1.00 min 1.00 max 1.00, 1 without'],
])('a group of scores %j is summed up', (scores, text) => {
  expect(groupSummary(scores)[0]).toBe(text);
});

test('the shortest words for a group still say what it is', () => {
  expect(groupSummary([1, 0, 1]).at(-1)).toBe('group of 3: mean 0.67');
  expect(groupSummary([1e300, 0]).at(-1)).toBe('group of 2: mean 5.0e+299');
});
