import { closeSync, mkdtempSync, openSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FileContent, samplesOf } from '../../../src/core/dump/file-content.ts';
import { LineIndex } from '../../../src/core/dump/line-index.ts';
import { recordFactsOf } from '../../../src/core/dump/record-facts.ts';

describe('the index of a file', () => {
  const built = () => {
    const index = new LineIndex();
    index.addBlank();
    index.add(1, 10, 1, 5);
    index.add(12, 10, null, 5);
    index.addBlank();
    index.addBlank();
    index.add(24, 10, undefined, 6);
    return index;
  };

  test('counts blank lines as lines, and not as records', () => {
    const index = built();
    expect([0, 1, 2].map((record) => index.line(record))).toEqual([2, 3, 6]);
    expect([1, 2, 3, 4, 6, 7].map((line) => index.recordAtLine(line))).toEqual([-1, 0, 1, -1, 2, -1]);
    expect([index.recordAtLine(2, 1), index.recordAtLine(2, 2)]).toEqual([0, -1]);
  });

  test('distinguishes a missing score from an unknown one, and keeps each step', () => {
    const index = built();
    expect([0, 1, 2].map((record) => index.score(record))).toEqual([1, null, undefined]);
    expect([0, 1, 2].map((record) => index.step(record))).toEqual([5, 5, 6]);
    const facts = recordFactsOf({ rollout: null, findings: [] });
    index.setFacts(2, { ...facts, score: Number.NaN });
    expect([index.score(2), index.length(2)]).toEqual([Number.NaN, 10]);
    index.setFacts(0, { ...facts, score: null });
    expect(index.score(0)).toBe(null);
  });

  test('forgets an end that changed, and what was known of it', () => {
    const index = built();
    index.setFacts(
      2,
      recordFactsOf({ rollout: null, findings: [{ check: 'tool_cut', severity: 'warning', turn: null, message: '' }] }),
    );
    expect([index.looked, index.hasAny(['tool_cut']), index.isLooked(2)]).toEqual([1, true, true]);
    index.truncate(1);
    expect([index.count, index.looked, index.line(0)]).toEqual([1, 0, 2]);
    index.add(12, 5, 0, 5);
    expect([index.isLooked(1), index.line(1), index.facts(1)]).toEqual([false, 3, undefined]);
  });

  test('grows, and knows several rollouts of one line', () => {
    const index = new LineIndex();
    for (let i = 0; i < 200; i++) index.addPart(i, 10, 1 + (i >> 1), 1 + (i % 2), i);
    expect([index.count, index.line(199), index.part(199), index.score(150)]).toEqual([200, 100, 2, 150]);
    expect([index.recordAtLine(3), index.recordAtLine(3, 2), index.recordAtLine(3, 3)]).toEqual([4, 5, -1]);
  });
});

describe('the bytes behind a path', () => {
  const fileWith = (text: string): string => {
    const path = join(mkdtempSync(join(tmpdir(), 'content-')), '1.jsonl');
    writeFileSync(path, text);
    return path;
  };

  test('are read at their lines; borders that are gone show that the file was rewritten', () => {
    const path = fileWith('one\r\ntwo\nthree');
    const content = new FileContent(path);
    expect([content.line(0, 4), content.line(5, 3), content.line(9, 5)]).toEqual(['one', 'two', 'three']);
    expect(content.line(6, 2)).toEqual({
      problem: 'the file was rewritten after it was read: no line starts at byte 6 any more',
    });
    expect(content.line(5, 2)).toMatchObject({ problem: expect.stringContaining('rewritten') });
    expect(content.line(9, 50)).toEqual({
      problem: 'the file shrank to 14 bytes after it was read; this record began at byte 9',
    });
    expect(new FileContent(`${path}.none`).line(0, 1)).toEqual({
      problem: 'no such file or directory (it could be read before)',
    });
  });

  test('are the same content where head, tail and places between are', () => {
    const samples = (text: string, length: number) => {
      const fd = openSync(fileWith(text), 'r');
      try {
        return samplesOf(fd, length);
      } finally {
        closeSync(fd);
      }
    };
    const text = Array.from({ length: 3000 }, (_, i) => `${i} `).join('');
    expect(samples(`${text}more`, text.length)).toBe(samples(text, text.length));
    expect(samples(`X${text.slice(1)}`, text.length)).not.toBe(samples(text, text.length));
    expect(samples(`${text.slice(0, -2)}X `, text.length)).not.toBe(samples(text, text.length));
    expect(samples('ab', 2)).toBe(samples('abc', 2));
    expect(samples('ab', 2)).not.toBe(samples('ac', 2));
  });
});
