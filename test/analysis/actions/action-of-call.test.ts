import fc from 'fast-check';
import { expect, test } from 'vitest';
import { actionOfCall, recordedActions } from '../../../src/analysis/actions/recorded-actions.ts';
import type { ToolCall, Turn } from '../../../src/core/rollout/rollout.ts';

const texts = ['', 'done', 'Unknown tool bash', 'The user does not want it', 'total 0'];
const drawnCall = fc.record({
  name: fc.constantFrom('bash', 'str_replace_editor', 'Write', 'apply_patch', 'search', null),
  arguments: fc.constantFrom(
    { command: 'ls' },
    { command: 'create', path: '/a', file_text: 'x' },
    { file_path: '/a', content: 'x' },
    { query: 'zebra' },
    null,
  ),
  error: fc.constantFrom(null, null, 'not JSON'),
  hasResult: fc.boolean(),
});

/** Turns with calls, each with its result in the next turn if it has one. */
const drawnTurns = fc
  .array(fc.tuple(fc.array(drawnCall, { maxLength: 3 }), fc.constantFrom(...texts)), { maxLength: 12 })
  .map((drawn) => {
    let next = 0;
    return drawn.map(([calls, text], index): Turn => {
      const toolCalls = calls.map(
        ({ hasResult, ...call }): ToolCall => ({
          ...call,
          index: next++,
          id: null,
          raw: '',
          resultTurn: hasResult && index + 1 < drawn.length ? index + 1 : null,
        }),
      );
      return {
        index,
        role: index % 2 === 0 ? 'assistant' : 'tool',
        text,
        trained: false,
        confidence: 'marked',
        reward: null,
        toolCalls,
        parts: [],
      };
    });
  });

test('the action of one call is the one among those of all', () => {
  fc.assert(
    fc.property(drawnTurns, fc.nat(40), (turns, index) => {
      const hasCalls = turns.some(({ toolCalls }) => toolCalls.length > 0);
      const all = hasCalls ? recordedActions({ turns }) : [];
      expect(actionOfCall({ turns }, index)).toEqual(all.find(({ call }) => call === index));
    }),
  );
});
