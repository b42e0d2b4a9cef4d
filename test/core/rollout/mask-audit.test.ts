import { describe, expect, test } from 'vitest';
import { countMask, type MaskSource } from '../../../src/core/rollout/loss-mask.ts';
import { auditMask } from '../../../src/core/rollout/mask-audit.ts';
import type { Rollout, RolloutTokens, Span } from '../../../src/core/rollout/rollout.ts';

/** A rollout whose response has a span a turn, each trained or not. */
function found(
  pieces: [role: string, trained: boolean | null][],
  tokens?: Partial<RolloutTokens>,
  source: MaskSource = 'recorded',
  validation = false,
): [string, number | null][] {
  const texts = { output: 'x'.repeat(pieces.length) };
  const turns = pieces.map(([role], index) => ({ index, role, text: 'x' }));
  const spans: Span[] = pieces.map(([, trained], at) => ({
    field: 'output',
    start: at,
    end: at + 1,
    turn: at,
    kind: 'text',
    trained,
  }));
  const lossMask = { source, ...countMask(spans, ['output']), trainedTokens: null, totalTokens: null };
  const rollout = { texts, turns, spans, responseTurn: 0, validation, lossMask } as unknown as Rollout;
  if (tokens !== undefined) rollout.tokens = { promptIds: null, responseIds: [], mask: [], logprobs: null, ...tokens };
  const findings: [string, number | null][] = [];
  auditMask(rollout, (check, turn) => findings.push([check, turn]));
  return findings;
}

test('nothing is reported of a validation rollout', () => {
  const pieces: [string, boolean][] = [
    ['assistant', true],
    ['tool', true],
  ];
  expect(found(pieces)).toEqual([['mask_foreign', 1]]);
  expect(found(pieces, undefined, 'recorded', true)).toEqual([]);
});

test('end tokens of log probability 0 are reported where turns are longer than they are by chance', () => {
  const tokens = (mask: number[], logprobs: number[]) => ({ responseIds: mask.map(() => 1), mask, logprobs });
  const ends = (mask: number[], logprobs: number[]) =>
    found([['assistant', true]], tokens(mask, logprobs)).map(([check]) => check);
  expect(ends([1, 1, 1, 0, 1, 1, 1], [-1, -1, 0, 0, -1, -1, 0])).toEqual(['logprob_placeholder']);
  expect(ends([1, 1, 0, 1, 1], [-1, 0, 0, -1, 0])).toEqual([]);
  expect(ends([1, 1, 1, 0, 1, 1, 1], [-1, 0, 0, 0, -1, -1, 0])).toEqual([]);
});

describe('a recorded mask', () => {
  test('that trains what the model wrote, and nothing else, is as it should be', () => {
    expect(
      found([
        ['assistant', true],
        ['tool', false],
        ['assistant', true],
      ]),
    ).toEqual([]);
    expect(
      found([
        ['assistant', true],
        ['tool', null],
        ['unknown', true],
      ]),
    ).toEqual([]);
  });

  test('that trains text of a tool is reported at that turn', () => {
    expect(
      found([
        ['assistant', true],
        ['tool', true],
        ['assistant', true],
      ]),
    ).toEqual([['mask_foreign', 1]]);
  });

  test('that leaves a turn of the model out is reported, a last one too', () => {
    expect(
      found([
        ['assistant', false],
        ['tool', false],
        ['assistant', true],
      ]),
    ).toEqual([['mask_missing', 0]]);
    expect(
      found([
        ['assistant', true],
        ['tool', false],
        ['assistant', false],
        ['assistant', false],
      ]),
    ).toEqual([['mask_break', 2]]);
  });

  test('that is all zero, or the wrong way round, is reported once', () => {
    expect(
      found([
        ['assistant', false],
        ['tool', false],
      ]),
    ).toEqual([['mask_zero', null]]);
    expect(
      found([
        ['assistant', false],
        ['tool', true],
        ['assistant', false],
      ]),
    ).toEqual([['mask_inverted', 1]]);
  });

  test('of another length than its ids is reported', () => {
    const tokens = { responseIds: [1, 2, 3], mask: [1, 1] };
    expect(found([['assistant', true]], tokens)).toEqual([['mask_length', null]]);
  });

  test('with an end token that nobody sampled is found by its log probability, a certain token among others is not', () => {
    const ids = { responseIds: [1, 2, 3, 4, 5, 6], mask: [1, 1, 1, 0, 1, 1] };
    expect(found([['assistant', true]], { ...ids, logprobs: [-1, -0.5, -2, 0, -1, -0.1] })).toEqual([]);
    expect(found([['assistant', true]], { ...ids, logprobs: [-1, 0, -2, 0, -1, 0] })).toEqual([]);
    const appended = { responseIds: [1, 2, 3, 4, 5, 6, 7], mask: [1, 1, 1, 0, 1, 1, 1] };
    expect(found([['assistant', true]], { ...appended, logprobs: [-1, -2, 0, 0, -1, -1, 0] })).toEqual([
      ['logprob_placeholder', null],
    ]);
    expect(found([['assistant', true]], { ...ids, logprobs: [-1, 1, -2, 0, -1, -1] })).toEqual([
      ['logprob_placeholder', null],
    ]);
  });

  test('is what is looked at, never one that this program inferred', () => {
    expect(
      found(
        [
          ['assistant', false],
          ['tool', true],
        ],
        undefined,
        'inferred',
      ),
    ).toEqual([]);
  });
});
