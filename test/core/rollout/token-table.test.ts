import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadTokenText } from '../../../src/core/chat/token-text.ts';
import { parseLine } from '../../../src/core/dump/parse-line.ts';
import type { Rollout } from '../../../src/core/rollout/rollout.ts';
import { driftOf, endsOf, isSurprising, type TokenText, tokenTable } from '../../../src/core/rollout/token-table.ts';
import { unpaused } from '../../../src/viewer/present/transcript/section.ts';
import { tokenBlocks } from '../../../src/viewer/present/transcript/token-view.ts';
import { TOKENIZER_JSON } from '../../engine/byte-tokenizer.ts';

const file = join(mkdtempSync(join(tmpdir(), 'rv-tokenizer-')), 'tokenizer.json');
writeFileSync(file, JSON.stringify(TOKENIZER_JSON));
const tokenizer = await loadTokenText(file);

const read = (record: object): Rollout => parseLine(JSON.stringify(record), { validation: false }).rollout!;
const ids = (text: string): number[] => tokenizer.ids(text);

/** A step of prime-rl's token export: lists of one length. */
const exported = (prompt: number[], response: number[], mask: number[], logprobs: (number | null)[]) => {
  const all = [...prompt, ...response];
  const list = (values: (number | null)[]) => [...prompt.map(() => null), ...values];
  return read({
    schema_version: 1,
    step: 3,
    token_ids: all,
    loss_mask: [...prompt.map(() => false), ...mask.map((bit) => bit === 1)],
    inference_logprobs: list(logprobs),
    trainer_logprobs: list(logprobs.map((value) => (value === null ? null : value - 0.5))),
    mismatch_kl: list(logprobs.map(() => 0.125)),
    entropy: list(logprobs.map(() => 0.25)),
  });
};

describe('the tokens of a rollout', () => {
  test('are those that were recorded, with mask, values and runs', () => {
    const table = tokenTable(exported(ids('Hi'), ids('abc'), [1, 0], [-0.1, null]), tokenizer)!;
    expect(table.from).toBe('recorded');
    expect(table.rows.map(({ id, text, trained }) => [id, text, trained])).toEqual([
      [72, 'H', false],
      [105, 'i', false],
      [259, 'ab', true],
      [99, 'c', false],
    ]);
    expect(table.runs.map(({ first, last, isPrompt, trained }) => [first, last, isPrompt, trained])).toEqual([
      [0, 1, true, false],
      [2, 2, false, true],
      [3, 3, false, false],
    ]);
    expect(table.columns).toContain('logprob');
    expect(table.rows[2]!.values[table.columns.indexOf('mismatch')]).toBe(0.125);
    expect(tokenTable(exported([1], [2], [1], [-1]), null)!.rows.map(({ text }) => text)).toEqual([null, null]);
  });

  test('are made of the text where none were recorded, and only with a tokenizer', () => {
    const rollout = read({ input: 'user\nq\nassistant\n', output: 'ab', gts: null, score: 1, step: 1 });
    expect(tokenTable(rollout, null)).toBeNull();
    const table = tokenTable(rollout, tokenizer)!;
    expect(table.from).toBe('tokenizer');
    expect(table.rows.at(-1)).toMatchObject({ id: 259, text: 'ab', trained: true });
    expect(driftOf(table, tokenizer)).toBeNull();
  });

  test('a character in several tokens is at its first', () => {
    expect(ids('é🙂').length).toBe(6);
    expect(tokenizer.pieces(ids('é🙂x'))).toEqual(['é', '', '🙂', '', '', '', 'x']);
    expect(tokenizer.pieces([240, 159])).toEqual(['\ufffd', '\ufffd']);
  });

  test('ids that the text would not be encoded to again are drift, with the token', () => {
    const table = tokenTable(exported(ids('x'), [97, 98], [1, 1], [-1, -1]), tokenizer)!;
    expect(driftOf(table, tokenizer)).toMatchObject({ row: { index: 1, id: 97 }, instead: 259 });
    const same = tokenTable(exported(ids('x'), [259], [1], [-1]), tokenizer)!;
    expect(driftOf(same, tokenizer)).toBeNull();
  });
});

describe('the view of tokens', () => {
  const lines = (rollout: Rollout): string[] => [...unpaused(tokenBlocks(rollout, tokenizer))].map(({ text }) => text);

  test('has the borders first, then a line a token, whose odds are read without colour', () => {
    const rollout = exported(ids('Hi'), ids('abc'), [1, 1], [-0.1, -6]);
    const shown = lines(rollout);
    expect(shown.indexOf('borders')).toBeLessThan(
      shown.findIndex((line) => line.includes('logprob') && line.includes('id')),
    );
    expect(shown.find((line) => line.includes('2–3'))).toMatch(/trained 2: "ab" … "c" {2}mean logprob -3\.050/);
    expect(shown.at(-1)).toMatch(/^ +3 +99 "c" .*-6.*▆ !$/);
    expect(shown.at(-2)).toMatch(/· *$/);
    const table = tokenTable(rollout, null)!;
    expect(table.rows.filter((row) => isSurprising(table, row)).map(({ index }) => index)).toEqual([3]);
    const bars = [...unpaused(tokenBlocks(rollout, tokenizer))].map(({ turn, trained }) => [turn, trained]);
    expect(bars.at(-1)).toEqual([3, true]);
  });

  test('says that there are no ids', () => {
    expect(
      [...unpaused(tokenBlocks(read({ input: 'a', output: 'b', score: 1 }), null))].map(({ text }) => text),
    ).toEqual(['this record holds no token ids; --tokenizer tokenizer.json gives those of its text']);
  });

  test('escapes what a token holds', () => {
    expect(lines(exported([27, 91], [50], [1], [-1])).join('')).not.toContain('\u001b');
  });
});

test('the end token of each sampled turn is trained, masked, or not there', () => {
  const texts: Record<number, string> = { 1: 'q', 2: 'a', 3: '<|im_end|>', 4: '\n' };
  const named: TokenText = { pieces: (some) => some.map((id) => texts[id] ?? '?'), ids: () => [] };
  const ends = (response: number[], mask: number[]) =>
    endsOf(
      tokenTable(
        exported(
          [1],
          response,
          mask,
          response.map(() => -1),
        ),
        named,
      )!,
    );
  expect(ends([2, 3, 4, 2, 3], [1, 1, 0, 1, 1])).toEqual({ turns: 2, trained: 2, masked: 0 });
  expect(ends([2, 3, 4, 2, 2], [1, 0, 0, 1, 1])).toEqual({ turns: 2, trained: 0, masked: 1 });
  const lines = (response: number[], mask: number[]) =>
    [
      ...unpaused(
        tokenBlocks(
          exported(
            [1],
            response,
            mask,
            response.map(() => -1),
          ),
          named,
        ),
      ),
    ]
      .map(({ text }) => text)
      .join('\n');
  expect(lines([2, 3, 4], [1, 0, 0])).toContain('the end token behind 1 of 1 sampled turn is masked');
  expect(lines([2, 3, 4], [1, 1, 0])).toContain('the end token of 1 of 1 sampled turn is trained');
});
