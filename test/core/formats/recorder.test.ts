import { expect, test } from 'vitest';
import { parseLine } from '../../../src/core/dump/parse-line.ts';

test('the main history of a recorded agent is the first with tools, not its question for a title', () => {
  const tool = (name: string) => ({ type: 'function', function: { name } });
  const message = (id: number, history: number, role: string, content: string, request?: number) => ({
    ...{ recorder: 1, type: 'message', id, parent: null, history, message: { role, content } },
    ...(request === undefined ? {} : { request }),
  });
  const events = [
    { recorder: 1, type: 'rollout', id: 'r' },
    { recorder: 1, type: 'history', id: 0, kind: 'main', after: null },
    message(0, 0, 'user', 'Name this conversation'),
    { recorder: 1, type: 'request', id: 0, history: 0, tools: null },
    { recorder: 1, type: 'history', id: 1, kind: 'subagent', after: null },
    message(1, 1, 'user', 'Fix the bug'),
    { recorder: 1, type: 'request', id: 1, history: 1, tools: [tool('bash')] },
    message(2, 1, 'assistant', 'Fixed.', 1),
    message(3, 0, 'assistant', 'A bug', 0),
  ];
  const { rollout } = parseLine(JSON.stringify({ session_of: 'recorder', events }), { validation: false });
  expect(rollout?.turns.map(({ text, context = 0 }) => [context, text])).toEqual([
    [1, 'Name this conversation'],
    [0, 'Fix the bug'],
    [0, 'Fixed.'],
    [1, 'A bug'],
  ]);
  expect(rollout?.contexts?.map(({ kind }) => kind)).toEqual(['main', 'subagent']);
  expect(rollout?.toolSchemas).toEqual([tool('bash')]);
});
