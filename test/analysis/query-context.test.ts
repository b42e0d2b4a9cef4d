import { describe, expect, it } from 'vitest';
import { NO_COLUMNS } from '../../src/analysis/query/on-columns.ts';
import { compileQuery } from '../../src/analysis/query/query.ts';
import { Subject } from '../../src/analysis/query/subject.ts';
import { parseLine } from '../../src/core/dump/parse-line.ts';

const record = {
  nodes: [
    { message: { role: 'user', content: 'q' }, sampled: false },
    { parent: 0, message: { role: 'assistant', content: 'answer' }, sampled: true },
    { parent: 0, message: { role: 'user', content: 'or' }, sampled: false },
  ],
  rewards: {},
  timing: { start: 1000, scoring: { start: 1004, end: 1006 } },
  calls: [{ time: { start: 1000, end: 1003 } }],
};
const parsed = parseLine(JSON.stringify(record), { validation: false });
const place = {
  file: {
    stream: 's',
    index: { length: () => 1, columns: NO_COLUMNS },
    stepOf: () => 1,
    score: () => null,
    measures: () => Float64Array.of(Number.NaN),
    isRead: () => null,
    signals: null,
  },
  record: 0,
};
const subject = new Subject(place, { read: () => parsed, hasRaw: () => true });
const holds = (text: string): boolean => compileQuery(text).accepts(subject);

describe('a filter asks each history', () => {
  it('and holds where it holds for one', () => {
    expect(holds('context.kind == "branch"')).toBe(true);
    expect(holds('context.kind == "subagent"')).toBe(false);
    expect(holds('context.kind != "subagent"')).toBe(true);
    expect(holds('context.kind != "branch"')).toBe(false);
    expect(holds('context.kind ~ /comp|bran/')).toBe(true);
    expect(holds('context.trained_share < 0.5')).toBe(true);
    expect(holds('context.trained_share > 0.5')).toBe(true);
    expect(holds('context.depth > 1')).toBe(false);
  });

  it('and when the rollout was made, if known', () => {
    expect(holds('time.model == 3 && time.score == 2 && time.blank == 1')).toBe(true);
    // Nothing says that no tool took time.
    expect(holds('time.tool == 0')).toBe(false);
    expect(holds('time.tool == null')).toBe(true);
  });
});
