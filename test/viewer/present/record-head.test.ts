import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cellWidth } from '../../../src/core/text/graphemes.ts';
import { groupParts } from '../../../src/viewer/present/group-text.ts';
import { type RecordHead, renderHeadFindings, renderRecordHead } from '../../../src/viewer/present/record-head.ts';
import { MONO } from '../../../src/viewer/present/theme.ts';

const plain = { ...MONO };
for (const key of Object.keys(plain) as (keyof typeof plain)[]) plain[key] = '';
const head = (more: Partial<RecordHead> = {}): RecordHead => ({
  isFocused: false,
  locator: '3.jsonl:57',
  sample: 57,
  samples: 128,
  score: 0,
  group: groupParts([1, 0, 0.5, 1], 2),
  diskChange: '',
  ...more,
});

describe('the line above a transcript', () => {
  test('says what it has room for, and cuts no part', () => {
    const at = (width: number) =>
      renderRecordHead(head(), plain, width)
        .trim()
        .replace(/ +score/, ' | score');
    expect(at(48)).toBe('3.jsonl:57  sample 57/128 | score 0.00');
    expect(at(60)).toBe('3.jsonl:57  sample 57/128  group 2/4 | score 0.00');
    expect(at(62)).toBe('3.jsonl:57  sample 57/128  group 2/4  mean 0.63 | score 0.00');
    expect(at(120)).toBe('3.jsonl:57  sample 57/128  group 2/4  mean 0.63  min 0.00, max 1.00 | score 0.00');
  });

  test('a group that teaches nothing says so first; scores that are no numbers count for nothing', () => {
    expect(groupParts([1, 1, 1], 1)).toEqual(['group 1/3', 'no signal', 'all 1.00']);
    expect(groupParts([1, null, Number.NaN], 3)).toEqual(['group 3/3', 'mean 1.00']);
    expect(groupParts([null, undefined], 1)).toEqual(['group 1/2']);
    expect(groupParts([1, 0], 1, 4)[0]).toBe('group 1/2, incomplete: 4 elsewhere');
    expect(groupParts([1, 0, 1, 0], 1, 4)[0]).toBe('group 1/4');
  });

  test('every part is whole or away, at any width', () => {
    const parts = ['sample 57/128', ...head().group];
    fc.assert(
      fc.property(fc.integer({ min: 30, max: 160 }), fc.string({ maxLength: 60 }), (width, name) => {
        const line = renderRecordHead(head({ locator: `${name.replace(/[^a-z]/g, 'x')}:57` }), plain, width);
        expect(cellWidth(line)).toBeLessThanOrEqual(width);
        expect(line).toMatch(/score 0\.00 $/);
        const shown = parts.filter((part) => line.includes(`  ${part}  `));
        expect(parts.slice(0, shown.length)).toEqual(shown);
      }),
    );
  });

  test('what was noticed about the whole record is below it', () => {
    const message = 'the response is empty: finish_reason abort, and nothing else';
    const findings = [{ check: 'empty_output', severity: 'warning', turn: null, message }] as const;
    expect(renderHeadFindings(findings, plain, 80)).toBe(` !${message}`);
    expect(renderHeadFindings(findings, plain, 24)).toBe(' !the response is empty');
    expect(renderHeadFindings([{ ...findings[0], turn: 2 }], plain, 80)).toBe('');
  });
});
