import fc from 'fast-check';
import { expect, test } from 'vitest';
import { planCalls, ReplayTools } from '../../src/replay/index.ts';
import { rowsOf } from './fixture.ts';

test('the calls before one are those of its tool that can be run', async () => {
  const call = fc.record({
    name: fc.constantFrom('code_interpreter', 'python', 'search'),
    code: fc.option(fc.constant('print(1)'), { nil: undefined }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 12 }), async (calls) => {
      const messages = calls.flatMap(({ name, code }, i) => [
        {
          role: 'assistant',
          content: '',
          tool_calls: [{ id: `c${i}`, type: 'function', function: { name, arguments: JSON.stringify({ code }) } }],
        },
        { role: 'tool', tool_call_id: `c${i}`, content: '1' },
      ]);
      const { rows } = await rowsOf([JSON.stringify({ messages: [{ role: 'user', content: 'Go.' }, ...messages] })]);
      const plans = planCalls(rows[0]!, { tools: new ReplayTools(), session: true });
      expect(plans).toHaveLength(calls.length);
      for (const [i, plan] of plans.entries()) {
        const before = plans.slice(0, i).filter(({ name, skip }) => name === plan.name && skip === null);
        expect(plan.earlier).toEqual(plan.skip === null ? before : []);
        expect(plan.predecessors).toEqual(plan.skip === null ? before : null);
      }
      expect(plans.some(({ predecessors }) => (predecessors?.length ?? 0) > 0)).toBe(
        plans.some((plan, i) =>
          plans.slice(0, i).some(({ name, skip }) => plan.skip === null && skip === null && name === plan.name),
        ),
      );
    }),
    { numRuns: 30 },
  );
});
