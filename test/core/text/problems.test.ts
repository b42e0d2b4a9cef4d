import { expect, test } from 'vitest';
import { z } from 'zod';
import { shapeProblem } from '../../../src/core/text/problems.ts';

const Task = z.strictObject({
  prompt: z.union([z.string().min(1), z.array(z.object({ role: z.string() })).min(1)]),
  tools: z.array(z.object({ name: z.string(), config: z.object({ rate: z.number() }).optional() })).optional(),
});

test.each([
  [{}, 'prompt is missing'],
  [{ prompt: 3 }, 'prompt: expected string or array, got number'],
  [{ prompt: [{ role: 1 }] }, 'prompt[0].role: expected string, got number'],
  [{ prompt: 'a', tools: [{ name: 'x' }, {}] }, 'tools[1].name is missing'],
  [
    { prompt: 'a', tools: [{ name: 'x', config: { rate: 'fast' } }] },
    'tools[0].config.rate: expected number, got string',
  ],
  [{ prompt: 'a', promt: 'b' }, "unknown key 'promt'"],
  ['text', 'expected object, got string'],
  [{ prompt: '' }, /^prompt: Too small/],
])('%j is described as %s', (value, words) => {
  const read = Task.safeParse(value);
  const problem = shapeProblem(read.error!.issues);
  if (typeof words === 'string') expect(problem).toBe(words);
  else expect(problem).toMatch(words);
});

test('of many problems the first are listed, with the number of the others', () => {
  const read = z.object({ a: z.string(), b: z.string(), c: z.string(), d: z.string(), e: z.string() }).safeParse({});
  expect(shapeProblem(read.error!.issues)).toBe('a is missing; b is missing; c is missing; 2 more');
});
