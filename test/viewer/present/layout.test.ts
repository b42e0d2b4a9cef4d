import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseLine } from '../../../src/core/dump/parse-line.ts';
import { verl } from '../../../src/core/formats/verl.ts';
import type { JsonObject } from '../../../src/core/json/value.ts';
import { MONO } from '../../../src/viewer/present/theme.ts';
import { transcriptSections } from '../../../src/viewer/present/transcript/blocks.ts';
import { CLIP_HEAD } from '../../../src/viewer/present/transcript/clip.ts';
import { Layout } from '../../../src/viewer/present/transcript/layout.ts';
import { rawTextSections } from '../../../src/viewer/present/transcript/raw-view.ts';
import { renderTranscript } from '../../../src/viewer/present/transcript/render.ts';
import { inSections } from '../../../src/viewer/present/transcript/section.ts';
import { toolRollout } from '../../support/dump.ts';
import { withNothingOutside } from '../../support/nothing-outside.ts';

const plain = { ...MONO };
for (const key of Object.keys(plain) as (keyof typeof plain)[]) plain[key] = '';

const read = (record: object) => verl.read(record as JsonObject, { validation: false });

function transcript(
  record: object,
  width = 60,
  folds = new Map<string, boolean>(),
): { layout: Layout; lines: string[] } {
  const layout = new Layout(transcriptSections(read(record), folds), width, folds);
  return { layout, lines: renderTranscript(layout, 0, layout.rows, plain, { turn: 2 }).map((line) => line.trimEnd()) };
}

describe('a transcript', () => {
  test('reads from top to bottom, the mask in its gutter', () => {
    expect(transcript(toolRollout(1, 5, 1)).lines).toEqual([
      '  ▸ system, 14 words  You solve problems step by step. Run …',
      '',
      '  user',
      '  Problem 1-5: John earns $100 and spends 5. What is left?',
      '',
      '▌›assistant',
      '▌ ▸ think, 6 words',
      '▌ code_interpreter  → 95',
      '▌   left = 100 - 5',
      '▌   print(left)',
      '',
      '  tool ← code_interpreter',
      '  95',
      '',
      '▌ assistant',
      '▌ John has $95 left.',
      '▌ #### 95',
      '',
      '  score 1.00',
      '  ground truth 95',
      '  loss mask ~77 % (inferred, characters)',
    ]);
  });

  test('a recorded reward is at the right edge of its turn', () => {
    const { lines } = transcript({ ...toolRollout(1, 5, 1), tool_rewards: [0.25] }, 40);
    expect(lines.some((line) => /^(▌›assistant| {2}tool ← code_interpreter) +\+0\.25$/.test(line))).toBe(true);
    expect(lines.every((line) => line.length <= 40)).toBe(true);
  });

  test('a role line that has no room beside what is at its edge is not broken', () => {
    const right = [['quiet', 'again: same, 20 ms, bubblewrap']] as const;
    const block = {
      id: 't2',
      turn: 2,
      text: 'tool ← code_interpreter',
      style: 'plain',
      trained: false,
      indent: 0,
    } as const;
    const linesAt = (width: number) => {
      const layout = new Layout(inSections([{ ...block, header: true, right }]), width);
      return renderTranscript(layout, 0, layout.rows, plain, { turn: 1 });
    };
    expect(linesAt(47)).toEqual(['  tool ← code_interpreter', `${' '.repeat(17)}again: same, 20 ms, bubblewrap`]);
    expect(linesAt(60)).toHaveLength(1);
  });

  test('a long turn shows its head and its tail, where a traceback says what went wrong', () => {
    const output = Array.from({ length: 400 }, (_, i) => `row ${i}`).join('\n');
    const { lines, layout } = transcript({ ...toolRollout(1, 5, 1), output });
    expect(lines).toContain('▌ row 0');
    expect(lines).toContain('▌ row 399');
    expect(lines).toContain('▌ ⋯ 360 more lines');
    expect(lines).not.toContain('▌ row 200');
    const fold = layout.folds.find((fold) => fold.id.endsWith('.clip'))!;
    const whole = transcript({ ...toolRollout(1, 5, 1), output }, 60, new Map([[fold.id, false]]));
    expect(whole.lines).toContain('▌ row 200');
  });

  test('a place in it is found again at another width and with other folds', () => {
    const record = {
      ...toolRollout(1, 5, 1),
      output: `${'one two three four '.repeat(30)}here it is ${'five six '.repeat(30)}`,
    };
    const wide = transcript(record, 70).layout;
    const row = Array.from({ length: wide.rows }, (_, i) => i).find((i) => wide.text(i).text.includes('here it'))!;
    const anchor = wide.anchor(row);
    const narrow = transcript(record, 30).layout;
    expect(narrow.text(narrow.row(anchor)).start).toBeLessThanOrEqual(anchor.offset);
    expect(narrow.text(narrow.row(anchor) + 1).start).toBeGreaterThan(anchor.offset);
    const folded = transcript(record, 30, new Map([['t2', true]])).layout;
    expect(folded.text(folded.row(anchor)).text).toContain('▸ assistant');
  });

  test('anchors of clipped lines lead to the row that replaces them', () => {
    const output = Array.from({ length: 400 }, (_, i) => `row ${i}`).join('\n');
    const open = transcript({ ...toolRollout(1, 5, 1), output }, 60, new Map([['t2.0.clip', false]])).layout;
    const row = Array.from({ length: open.rows }, (_, i) => i).find((i) => open.text(i).text === 'row 200')!;
    const clipped = transcript({ ...toolRollout(1, 5, 1), output }).layout;
    expect(clipped.text(clipped.row(open.anchor(row))).text).toContain('more lines');
    expect(CLIP_HEAD).toBeGreaterThan(0);
  });
});

describe('a layout that is made from another one, or in several goes', () => {
  const rollout = read(toolRollout(1, 5, 1));
  const ids = ['t0', 't1', 't2', 't2.0', 't2.1', 't2.1.clip', 't3', 't4', 'ground-truth.clip', 'c1'];
  const folds = fc
    .array(fc.tuple(fc.constantFrom(...ids), fc.boolean()))
    .map((entries) => new Map<string, boolean>(entries));
  const lay = (opened: Map<string, boolean>, width: number, before?: Layout, isEnough?: () => boolean) =>
    new Layout(transcriptSections(rollout, opened), width, opened, true, before, isEnough);
  const rowsOf = (layout: Layout) => ({
    lines: renderTranscript(layout, 0, layout.rows, plain, { turn: 2 }),
    anchors: Array.from({ length: layout.rows }, (_, row) => layout.anchor(row)),
    back: Array.from({ length: layout.rows }, (_, row) => layout.row(layout.anchor(row))),
    folds: layout.folds,
    turns: [0, 1, 2, 3, 4].map((turn) => layout.rowOfTurn(turn)),
    size: layout.size,
  });
  const width = fc.constantFrom(30, 60, 100);

  test('is what it would be by itself', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(folds, width), { minLength: 1, maxLength: 5 }), (steps) => {
        let before: Layout | undefined;
        for (const [opened, columns] of steps) {
          const goes = lay(opened, columns, before, () => true);
          for (let rows = goes.rows; !goes.isWhole; rows = goes.rows) {
            goes.more(() => true);
            expect(goes.rows).toBeGreaterThanOrEqual(rows);
          }
          expect(rowsOf(goes)).toEqual(rowsOf(lay(opened, columns)));
          before = goes;
        }
      }),
      { numRuns: 100 },
    );
  });

  test('so is the raw view', () => {
    fc.assert(
      fc.property(fc.array(width, { minLength: 1, maxLength: 4 }), (widths) => {
        let before: Layout | null = null;
        for (const columns of widths) {
          const goes: Layout = new Layout(rawTextSections(rollout), columns, new Map(), true, before, () => true);
          while (!goes.isWhole) goes.more(() => true);
          expect(rowsOf(goes)).toEqual(rowsOf(new Layout(rawTextSections(rollout), columns)));
          before = goes;
        }
      }),
      { numRuns: 30 },
    );
  });

  test('is laid out as far as a place that is asked for', () => {
    const opened = new Map([['t0', false]]);
    const whole = lay(opened, 60);
    const last = whole.anchor(whole.rows - 1);
    for (const ask of [
      (layout: Layout) => layout.row(last),
      (layout: Layout) => layout.has(last.block),
      (layout: Layout) => layout.exactRow(last),
      (layout: Layout) => layout.rowOfTurn(4),
    ])
      expect(ask(lay(opened, 60, undefined, () => true))).toEqual(ask(whole));
    expect(lay(opened, 60, undefined, () => true).rows).toBeLessThan(whole.rows);
  });

  test('goes a bounded part of the way to a distant place, without a clock', () => {
    const turns = Array.from({ length: 60 }, () => ({ role: 'assistant', content: 'a word of prose. '.repeat(1000) }));
    const line = JSON.stringify({ messages: [{ role: 'user', content: 'q' }, ...turns] });
    const long = parseLine(line, { validation: false }).rollout!;
    const layout = new Layout(transcriptSections(long, new Map()), 60, new Map(), true, null, () => true);
    const asked = () => withNothingOutside(() => layout.rowOfTurn(60));
    asked();
    const { rows } = layout;
    asked();
    expect([layout.isWhole, layout.rows]).toEqual([false, rows]);
    while (!layout.isWhole) layout.more(() => true);
    expect(layout.turnAt(asked())).toBe(60);
  });
});
