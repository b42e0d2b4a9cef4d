import { expect, test } from 'vitest';
import { parseLine } from '../../../src/core/dump/parse-line.ts';
import type { Rollout } from '../../../src/core/rollout/rollout.ts';
import { transcriptSections } from '../../../src/viewer/present/transcript/blocks.ts';
import { heatByTurn } from '../../../src/viewer/present/transcript/turn-heat.ts';
import { blocksOf } from '../../support/blocks-of.ts';

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
    [1, { strip: '·▄▁', surprising: 1, places: [] }],
    [3, { strip: '·', surprising: 0, places: [] }],
  ]);
  const headers = [...transcriptSections(rollout, new Map())].map((section) => [...blocksOf([section])][0]);
  expect(headers[1]?.right).toEqual([['warning', '·▄▁ 1 unlikely']]);
  expect(headers[3]?.right).toEqual([['quiet', '·']]);
});

test('with a tokenizer the unlikely tokens are underlined in place, beside bold text', () => {
  const words = new Map([
    [2, '**So** '],
    [3, 'sev\ten'],
    [4, ' it is.'],
    [5, '<|im_end|>'],
  ]);
  const tokenizer = {
    ids: () => [],
    pieces: (ids: readonly number[]) => ids.map((id) => words.get(id) ?? ''),
  };
  const told = read(item('**So** sev\ten it is.', [1], [2, 3, 4, 5], [-0.1, -4.2, -1, -9]));
  expect(heatByTurn(told, tokenizer).get(1)?.places).toEqual([{ start: 7, end: 13 }]);
  const blocks = [...blocksOf(transcriptSections(told, new Map(), { tokenizer }))];
  const body = blocks.find(({ text }) => text.includes('it is'))!;
  const shown = body.ranges?.map(({ start, end, style }) => [body.text.slice(start, end), style]);
  expect(shown?.filter(([, style]) => style === 'unlikely')).toEqual([[body.text.slice(7, -7), 'unlikely']]);
  expect(shown).toContainEqual([expect.stringContaining('So'), 'strong']);
});

test('tokens whose text is not the turn’s own are not placed', () => {
  const tokenizer = { ids: () => [], pieces: (ids: readonly number[]) => ids.map(() => 'x') };
  expect(heatByTurn(rollout, tokenizer).get(1)?.places).toEqual([]);
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
  expect(heatByTurn(long).get(1)).toEqual({ strip: `${'·'.repeat(15)}█`, surprising: 1, places: [] });
});

test('where the runs of tokens are not the turns, nothing is said', () => {
  expect(heatByTurn(read(item('a', [1], [2], [-1]), item('b', [1, 2], [3], [-1]))).size).toBe(0);
  expect(heatByTurn(read({ type: 'message', role: 'assistant', content: 'a' })).size).toBe(0);
});
