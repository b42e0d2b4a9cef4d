import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ask } from '../../program.ts';
import { rolloutsOf } from './rollouts-of.ts';

/** Two rollouts of two turns, as the store's writer packed them. */
const SEGMENT = fileURLToPath(new URL('tokendb-segment.parquet', import.meta.url));

test('rows of a parquet segment are rollouts, with text, calls, masks, log probabilities and metrics of tokens', async () => {
  const { stdout, code } = await ask(['show', `${SEGMENT}:1`, '--json']);
  expect(code).toBe(0);
  const rollout = JSON.parse(stdout);
  expect(rollout).toMatchObject({ format: 'tokendb', step: 4, score: 1.25, group: '4/0', unread: [] });
  expect(rollout.turns.map(({ role }: { role: string }) => role)).toEqual([
    'system',
    'user',
    'assistant',
    'observation',
    'assistant',
  ]);
  expect(rollout.turns[2].tool_calls).toMatchObject([{ name: 'add', arguments: { a: 2, b: 3 }, result_turn: 3 }]);
  expect(rollout.turns[4]).toMatchObject({ text: 'The sum is 5.<|im_end|>', trained: true, reward: 0.25 });
  expect(rollout.loss_mask).toMatchObject({ source: 'recorded', trained_tokens: 6, total_tokens: 9 });
  const rollouts = await rolloutsOf(SEGMENT);
  expect(rollouts).toHaveLength(2);
  expect(rollouts[0]?.tokens).toMatchObject({
    promptIds: [1, 2, 3],
    responseIds: [200, 300, 7, 50, 51, 101, 200, 301, 7],
    logprobs: [-0.5, -0.25, -0.125, null, null, null, -0.5, -0.25, -0.125],
    more: { 'teacher/logprobs': [-1, -2, -3, null, null, null, -1, -2, -3] },
  });
});
