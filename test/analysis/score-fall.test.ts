import { describe, expect, test } from 'vitest';
import { readFactRows } from '../../src/analysis/facts/fact-rows.ts';
import { scoreFallLines } from '../../src/analysis/incidents/score-fall.ts';
import { Dump } from '../../src/core/dump/dump.ts';
import { writeDump } from '../support/dump.ts';
import { numbersFrom } from '../support/planted-run.ts';

/** 24 steps of a calculator; from step 13 on it answers by `later`, and that share of rollouts is right. */
async function lines(seed: number, later: (product: number) => number, right: number, known: number[] = []) {
  const next = numbersFrom(seed);
  const files: Record<string, object[]> = {};
  for (let step = 1; step <= 24; step++)
    files[`${step}.jsonl`] = Array.from({ length: 24 }, () => {
      const [a, b] = [2 + Math.floor(next() * 97), 2 + Math.floor(next() * 97)];
      const said = step < 13 ? a * b : later(a * b);
      const call = JSON.stringify({ name: 'calc', arguments: { expr: `${a}*${b}` } });
      const output = `<tool_call>\n${call}\n</tool_call><|im_end|>\n<|im_start|>user\n<tool_response>\n${said}\n</tool_response><|im_end|>\n<|im_start|>assistant\nIt is ${said}.<|im_end|>`;
      const score = Number(next() < (step < 13 ? 0.6 : right));
      return { input: `<|im_start|>user\n${a} by ${b}?<|im_end|>\n<|im_start|>assistant\n`, output, score, step };
    });
  const { dir, remove } = writeDump(files);
  const dump = Dump.open([dir]);
  try {
    return scoreFallLines(await readFactRows(dump, null), known);
  } finally {
    dump.close();
    remove();
  }
}

describe('a score that falls at once', () => {
  test('is named with the tool that gives one answer from there on', async () => {
    const [line, ...more] = await lines(1, () => 0, 0.1);
    expect(line).toMatch(
      /^the score fell at step 13 \(0\.\d+ → 0\.\d+\): from there on calc gives one answer .*: "0"$/,
    );
    expect(more).toEqual([]);
  });

  test('is named without a cause where none is seen, and not at all where an incident began', async () => {
    expect(await lines(2, (product) => product, 0.1)).toEqual([
      expect.stringMatching(/^the score fell at step 13 .*, and no incident says why$/),
    ]);
    expect(await lines(2, (product) => product, 0.1, [12])).toEqual([]);
  });

  test.each([3, 5])('is not there where it stays or rises (%i)', async (seed) => {
    expect(await lines(seed, (product) => product, 0.6)).toEqual([]);
    expect(await lines(seed, (product) => product, 0.9)).toEqual([]);
  });
});
