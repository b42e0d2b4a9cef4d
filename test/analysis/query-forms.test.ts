import { describe, expect, test } from 'vitest';
import { completions } from '../../src/analysis/query/complete.ts';
import { printExpression } from '../../src/analysis/query/expression.ts';
import { NO_COLUMNS } from '../../src/analysis/query/on-columns.ts';
import { parseQuery } from '../../src/analysis/query/parse.ts';
import { compileQuery } from '../../src/analysis/query/query.ts';
import type { QueryError } from '../../src/analysis/query/query-error.ts';
import { Subject } from '../../src/analysis/query/subject.ts';
import { parseLine } from '../../src/core/dump/parse-line.ts';

const call = (args: unknown) =>
  `<tool_call>\n${JSON.stringify({ name: 'search', arguments: args })}\n</tool_call>user\n<tool_response>\nnothing\n</tool_response>\nassistant\n`;
const line = (more: object, output = 'It is 5.') =>
  parseLine(JSON.stringify({ input: 'user\nq\nassistant\n', output, gts: '5', score: 1, step: 100, ...more }), {
    validation: false,
  });
const holds = (filter: string, read: ReturnType<typeof line>): boolean => {
  const file = {
    stream: 's',
    index: { length: () => 1, columns: NO_COLUMNS },
    isRead: () => false,
    signals: null,
    measures: (name: string) => Float64Array.of(name === 'group.std' ? 0 : Number.NaN),
    stepOf: () => read.rollout?.step ?? null,
    score: () => undefined,
  };
  return compileQuery(filter).accepts(new Subject({ file, record: 0 }, { read: () => read, hasRaw: () => true }));
};
const mistake = (text: string): [string, number] => {
  try {
    parseQuery(text);
  } catch (error) {
    return [(error as QueryError).message, (error as QueryError).at];
  }
  throw new Error('no mistake');
};

describe('ranges and dates', () => {
  test('a range holds its ends', () => {
    expect(
      ['step in 100..120', 'step in 90..100', 'step in 101..120', 'score in 0.5..1'].map((one) => holds(one, line({}))),
    ).toEqual([true, true, false, true]);
    expect(printExpression(parseQuery('step in 1..2 || acc in 0.1..0.25'))).toBe(
      'step >= 1 && step <= 2 || acc >= 0.1 && acc <= 0.25',
    );
    expect(mistake('step in 5')).toEqual(['a range is written 100..120', 9]);
  });

  test('a day is all of it; seconds, ms and ISO text are the same moment', () => {
    const noon = Date.parse('2026-11-20T12:00:00Z');
    for (const at of [noon / 1000, noon, '2026-11-20T12:00:00Z', '2026-11-20 12:00:00', '2026-11-20T13:00:00+01:00']) {
      const read = line({ at });
      const yes = [
        'at == 2026-11-20',
        'at >= 2026-11-20',
        'at <= 2026-11-20',
        'at in 2026-11-19..2026-11-20',
        'at > 2026-11-20T11:59',
        'at < 2026-11-21',
      ];
      expect(yes.filter((one) => !holds(one, read))).toEqual([]);
      const no = ['at > 2026-11-20', 'at < 2026-11-20', 'at != 2026-11-20', 'at == 2026-11-20T12:00:01Z'];
      expect(no.filter((one) => holds(one, read))).toEqual([]);
    }
    expect(holds('at < 2026-11-20', line({ at: 'soon' }))).toBe(false);
    expect(mistake('at > 2026-02-30')).toEqual(['2026-02-30 is not a date', 5]);
    const text = 'at >= 2026-11-20 && at < 2026-11-20T10:00Z';
    expect(printExpression(parseQuery(text))).toBe(text);
  });
});

describe('what was read', () => {
  test('needs no comparison, and takes one', () => {
    const filters = ['read', '!read', 'read == false', 'read != false', 'read && score == 1', '!read && score == 1'];
    expect(filters.map((one) => holds(one, line({})))).toEqual([false, true, true, false, false, true]);
    expect(printExpression(parseQuery('!read || extras.read == 1'))).toBe('!(read == true) || extras.read == 1');
    expect(mistake('read > 1')[1]).toBe(7);
    expect(mistake('read == "yes"')).toEqual(['read is true or false; alone it is true, !read is false', 8]);
  });
});

describe('words of facts, groups and tools', () => {
  test('a word that a fact never is, is pointed at', () => {
    expect(mistake('ended == "lenght"')[0]).toContain('ended is one of stop, length');
    expect(mistake('ended == "lenght"')[1]).toBe(9);
    expect(holds('ended == unknown', line({}))).toBe(true);
    expect(completions('score > 1 && ended == "l', [])).toEqual(['score > 1 && ended == "length"']);
  });

  test('values of the group', () => {
    expect(holds('group.std == 0', line({}))).toBe(true);
    expect(holds('rank == 1', line({}))).toBe(false);
    expect(compileQuery('group.mean > 0.5 && score == 1').asksGroups).toBe(true);
    expect(completions('group.s', [])).toEqual(['group.std']);
  });

  test('what a tool was called with, each call a line', () => {
    const read = line({}, `${call({ query: 'first' })}${call({ query: 'second one' })}It is 5.`);
    expect(holds('tool.search.args ~ /"query": ?"second/', read)).toBe(true);
    expect(holds('tool.search.args ~ /first.*second/', read)).toBe(false);
    expect(holds('tool.search == 2', read)).toBe(true);
    expect(holds('tool.other.args ~ /./', read)).toBe(false);
    expect(printExpression(parseQuery('tool.search.args ~ /x/'))).toBe('tool.search.args ~ /x/');
  });
});
