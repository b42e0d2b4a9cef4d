import { describe, expect, test } from 'vitest';
import { parseLine } from '../../../src/core/dump/parse-line.ts';
import { unpaused } from '../../../src/viewer/present/transcript/section.ts';
import { tokenBlocks } from '../../../src/viewer/present/transcript/token-view.ts';

const read = (record: object) => parseLine(JSON.stringify(record), { validation: false }).rollout!;

const sample = {
  index: 7,
  prompt: 'q',
  response: 'abc',
  tokens: [1, 2, 3, 4],
  response_length: 3,
  loss_mask: [1, 0, 1],
};

describe('the versions of the weights in the view of tokens', () => {
  test('are beside each run, and runs of older ones have a colour', () => {
    const blocks = [
      ...unpaused(tokenBlocks(read({ rollout_id: 3, sample: { ...sample, weight_versions: [4, 6] } }), null)),
    ];
    const runs = blocks.filter(({ id }) => id.startsWith('tokens.run.'));
    expect(runs.map(({ text, style }) => [/policy .*/.exec(text)?.[0] ?? '', style])).toEqual([
      ['', 'plain'],
      ['policy 4', 'warning'],
      ['', 'plain'],
      ['policy 6', 'plain'],
    ]);
  });

  test('without a recorded age say so', () => {
    const record = { rollout_id: 3, sample: { ...sample, weight_versions: [4, 6] } };
    const heads = [...unpaused(tokenBlocks(read(record), null))].map(({ text }) => text);
    expect(heads).toContain('sampled by versions 4 to 6 of the weights; their age is not recorded');
  });

  test('of a rollout without versions are not spoken of', () => {
    expect(
      [...unpaused(tokenBlocks(read({ rollout_id: 3, sample }), null))].some(({ text }) => text.includes('weights')),
    ).toBe(false);
  });
});
