import { describe, expect, test } from 'vitest';
import { conversationOf, type ExportConversation } from '../../../src/analysis/export/conversation.ts';
import { firstLimit } from '../../../src/analysis/export/limits.ts';
import { exportMessages } from '../../../src/analysis/export/openai-messages.ts';
import type { DumpRecord } from '../../../src/core/dump/dump-file.ts';
import { parseLine } from '../../../src/core/dump/parse-line.ts';

function read(record: Record<string, unknown>): ExportConversation {
  const raw = JSON.stringify(record);
  const row = { ...parseLine(raw, { validation: false }), raw, locator: 'a.jsonl:1' } as DumpRecord;
  const found = conversationOf(row);
  if (found === null) throw new Error('no rollout');
  return found;
}

const call = (args: unknown) => ({ id: 'c1', type: 'function', function: { name: 'calc', arguments: args } });
const tool = { type: 'function', function: { name: 'calc', parameters: { type: 'object', properties: {} } } };
const asked = { role: 'user', content: 'What is 2+2?' };
const messages = (reply: Record<string, unknown>) => [
  asked,
  { role: 'assistant', ...reply },
  { role: 'tool', tool_call_id: 'c1', name: 'calc', content: '4' },
  { role: 'assistant', content: 'It is 4.' },
];
const rowsOf = (one: ExportConversation) => exportMessages(one, one.messages);

describe('a record of messages', () => {
  test('goes out as it was recorded: words, reasoning, calls, the text of their arguments, tools', () => {
    for (const reply of [
      { content: 'Let me see.', reasoning_content: 'I must\nadd.\n', tool_calls: [call('{"e":  "2+2"}')] },
      { content: '', reasoning_content: 'I must add.', tool_calls: [call('{"code": "{\\"arguments\\": {}}"}')] },
      { content: 'x', tool_calls: [call('{"e": 2+2')] },
      { content: '<tool_call>no call</tool_call>', tool_calls: [call('{}'), { ...call('{}'), id: 'c2' }] },
    ]) {
      const one = read({ messages: messages(reply), tools: [tool], score: 1 });
      expect(rowsOf(one)).toEqual(messages(reply));
      expect(one.tools).toEqual([tool]);
    }
  });

  test('writes arguments that were recorded as a value the way Python prints them', () => {
    const one = read({ messages: messages({ content: '', tool_calls: [call({ e: ['2', null, 1.5], ü: '\u200b' })] }) });
    expect(one.messages[1]?.calls[0]?.arguments).toBe('{"e": ["2", null, 1.5], "ü": "\u200b"}');
  });

  test('keeps tags in its words as words', () => {
    const content = '<think>\nhm\n</think>\n\n<tool_call>\n{"name": "calc", "arguments": {}}\n</tool_call>';
    const one = read({ messages: [asked, { role: 'assistant', content }], score: 1 });
    expect(rowsOf(one)[1]).toEqual({ role: 'assistant', content });
    expect(one.isTextWhole).toBe(true);
  });

  test('is refused by formats of text alone only if its text lacks something', () => {
    const bare = [asked, { role: 'assistant', content: 'It is 4.' }];
    const limits = ['apart', 'prompt_apart'] as const;
    expect(firstLimit(read({ messages: bare }), limits)).toBe(null);
    expect(firstLimit(read({ messages: bare, tools: [tool] }), limits)).toBe('apart');
    const called = read({ messages: messages({ content: '', tool_calls: [call('{}')] }) });
    expect(firstLimit(called, limits)).toBe('apart');
    expect(firstLimit(called, ['prompt_apart'])).toBe(null);
  });

  test("gives Anthropic's tools the wrapper that templates expect", () => {
    const parameters = { type: 'object', properties: {} };
    const one = read({
      messages: [asked, { role: 'assistant', content: '4' }],
      tools: [{ name: 'calc', input_schema: parameters }],
    });
    expect(one.tools).toEqual([{ type: 'function', function: { name: 'calc', parameters } }]);
  });

  test('fits a loader that wants turns one by one only if they are', () => {
    const one = (...roles: string[]) => read({ messages: roles.map((role) => ({ role, content: role })) });
    expect(firstLimit(one('system', 'user', 'assistant'), ['order'])).toBe(null);
    expect(firstLimit(one('user', 'user', 'assistant'), ['order'])).toBe('order');
    expect(firstLimit(one('user', 'assistant', 'user'), ['order'])).toBe('order');
  });
});
