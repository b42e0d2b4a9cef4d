import { expect, test } from 'vitest';
import type { Report } from '../../../src/analysis/report/report.ts';
import { reportHtml } from '../../../src/viewer/present/report/html.ts';
import { reportCsv, reportJson, reportText } from '../../../src/viewer/present/report/lines.ts';

interface Fruit {
  name: string;
  stream: string;
  share: number;
  mean: number | null;
}

const report: Report<Fruit> = {
  title: 'fruits <b>',
  columns: [
    { key: 'name', title: 'fruit', type: 'text', meaning: 'its name', identifies: true, value: ({ name }) => name },
    {
      key: 'stream',
      title: 'stream',
      type: 'text',
      meaning: 'where',
      hidesIfSame: true,
      value: ({ stream }) => stream,
    },
    { key: 'share', title: 'share', type: 'share', meaning: 'its part', value: ({ share }) => share },
    { key: 'mean', title: 'mean', type: 'number', meaning: 'its mean', value: ({ mean }) => mean },
    { key: 'detail.mean', title: 'again', type: 'number', meaning: 'a part of a detail', value: ({ mean }) => mean },
  ],
  rows: [
    { name: 'apple', stream: 'train', share: 0.123456, mean: 1 / 3 },
    { name: '=pear, "\u001b[31m"', stream: 'train', share: 1, mean: null },
  ],
  details: ({ mean }) => ({ detail: { mean } }),
  notes: ['two of them'],
  leftOut: [],
  empty: 'none',
};

test('people read a table: shares as percent, unknown as a dash, no column in which all rows agree', () => {
  expect(reportText(report, Number.POSITIVE_INFINITY)).toEqual([
    'fruit           share  mean  again',
    'apple            12 %  0.33   0.33',
    '=pear, "␛[31m"  100 %     –      –',
  ]);
});

test('a table fits the terminal: texts give way, numbers do not', () => {
  const lines = reportText(report, 34);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(34);
  expect(lines[1]).toContain('0.33');
});

test('CSV has every column and digit, and no formula', () => {
  expect([...reportCsv(report)]).toEqual([
    'fruit,stream,share,mean,again',
    `apple,train,0.123456,${1 / 3},${1 / 3}`,
    `"'=pear, ""\u001b[31m""",train,1,,`,
  ]);
});

test('JSON has keys, not titles; a key with a dot is a part of a detail', () => {
  expect([...reportJson(report)].map((line) => JSON.parse(line))).toEqual([
    { name: 'apple', stream: 'train', share: 0.123456, mean: 1 / 3, detail: { mean: 1 / 3 } },
    { name: '=pear, "\u001b[31m"', stream: 'train', share: 1, mean: null, detail: { mean: null } },
  ]);
});

test('the page escapes what comes from data and explains its columns', () => {
  const page = [...reportHtml(report)].join('');
  expect(page).toContain('<td>apple</td>');
  expect(page).toContain('title="its part"');
  expect(page).toContain('two of them');
  expect(page).not.toContain('fruits <b>');
  expect(page).not.toContain('\u001b');
});

test('a locator that does not fit keeps its end, which tells the rollouts of one dump apart', () => {
  const places: Report<string> = {
    title: 'places',
    columns: [{ key: 'locator', title: 'rollout', type: 'rollout', meaning: 'the rollout', value: (row) => row }],
    rows: ['/runs/long/rollout_data/train/3.jsonl:57'],
    empty: 'none',
  };
  expect(reportText(places, 20)).toEqual(['rollout', '…ta/train/3.jsonl:57']);
});
