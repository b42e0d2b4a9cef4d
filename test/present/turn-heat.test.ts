import { expect, test } from 'vitest';
import { parseLine } from '../../src/dump/parse-line.ts';
import { transcriptSections } from '../../src/present/transcript/blocks.ts';
import { heatByTurn } from '../../src/present/transcript/turn-heat.ts';
import type { Rollout } from '../../src/rollout/rollout.ts';

const item = (text: string, prompt: number[], sampled: number[], logprobs: number[]) => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text }],
  prompt_token_ids: prompt,
  generation_token_ids: sampled,
  generation_log_probs: logprobs,
});
const read = (...output: object[]): Rollout =>
  parseLine(JSON.stringify({ responses_create_params: { input: 'q' }, response: { output }, reward: 1 }), {
    validation: false,
  }).rollout!;
const rollout = read(
  item('a b', [1], [2, 3, 4], [-0.1, -4.2, -1]),
  { type: 'function_call_output', call_id: 'c', output: 'o' },
  item('c', [1, 2, 3, 4, 5], [6], [-0.01]),
);

test('each sampled turn has a strip of its least likely tokens', () => {
  expect([...heatByTurn(rollout)]).toEqual([
    [1, { strip: '·▄▁', surprising: 1 }],
    [3, { strip: '·', surprising: 0 }],
  ]);
  const headers = [...transcriptSections(rollout, new Map())].map((section) => section.blocks()[0]);
  expect(headers[1]?.right).toEqual([['warning', '·▄▁ 1 unlikely']]);
  expect(headers[3]?.right).toEqual([['quiet', '·']]);
});

test('of many tokens a cell shows the least likely', () => {
  const logprobs = Array.from({ length: 64 }, (_, at) => (at === 63 ? -20 : 0));
  const long = read(
    item(
      'a',
      [1],
      logprobs.map(() => 2),
      logprobs,
    ),
  );
  expect(heatByTurn(long).get(1)).toEqual({ strip: `${'·'.repeat(15)}█`, surprising: 1 });
});

test('where the runs of tokens are not the turns, nothing is said', () => {
  expect(heatByTurn(read(item('a', [1], [2], [-1]), item('b', [1, 2], [3], [-1]))).size).toBe(0);
  expect(heatByTurn(read({ type: 'message', role: 'assistant', content: 'a' })).size).toBe(0);
});
