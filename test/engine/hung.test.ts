// When a rollout meets its time limit, whose fault it is: a server that was silent for long hung, one that had just been asked did not.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { parseTools, runRequest } from '../../src/engine/index.ts';
import { call, fakeModel } from './fake-model.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const tools = parseTools('tools: [{class_name: calculator}]', 'test');
const text = call('calculator', { a: 1, b: 1, op: '+' });

/** A rollout of at most 100 s, whose turns take `seconds` each; from `hangsFrom` on none ends. */
async function endOf(seconds: number, hangsFrom: number) {
  const { model } = fakeModel(async (_, number) => {
    await new Promise<void>((resolve) => {
      if (number < hangsFrom) setTimeout(resolve, seconds * 1000);
    });
    return { text };
  });
  const limits = { timeout: 100, max_response_length: 1_000_000 };
  const ended = runRequest({ model, tools, limits, messages: [{ role: 'user', content: '1 + 1?' }] });
  await vi.advanceTimersByTimeAsync(101_000);
  const { cause, status } = await ended;
  return { cause, status };
}

it.each([
  ['many turns, the last one asked for 10 s before', 30, 100, { cause: 'timeout', status: 'TIMEOUT' }],
  ['no word from the first turn on', 30, 0, { cause: 'model_hung', status: 'FAILED' }],
  ['a server that dies after a turn', 30, 1, { cause: 'model_hung', status: 'FAILED' }],
] as const)('%s', async (_, seconds, hangsFrom, end) => {
  expect(await endOf(seconds, hangsFrom)).toEqual(end);
});

it('a server that failed again and again until then is gone', async () => {
  const { model } = fakeModel(({ onTrouble }) => {
    onTrouble?.('HTTP 500');
    return new Promise(() => {});
  });
  const ended = runRequest({ model, tools, limits: { timeout: 100 }, messages: [{ role: 'user', content: '1 + 1?' }] });
  await vi.advanceTimersByTimeAsync(101_000);
  expect(await ended).toMatchObject({
    cause: 'model_gone',
    status: 'FAILED',
    error: 'timed out after 100 s: HTTP 500',
  });
});
