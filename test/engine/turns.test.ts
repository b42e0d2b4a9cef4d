import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/json/value.ts';
import { ChatTokenizer } from '../../src/engine/index.ts';
import { Conversation } from '../../src/engine/request/conversation.ts';
import { readTurn } from '../../src/engine/request/read-turn.ts';
import { plainRenderer } from '../../src/engine/request/renderer.ts';
import { rulesOf } from '../../src/engine/request/rules.ts';
import { Transcript } from '../../src/engine/request/transcript.ts';
import { CHAT_TEMPLATE, TOKENIZER_JSON } from './byte-tokenizer.ts';
import { fakeModel } from './fake-model.ts';

const text = (value: string, turn = 1) => ({ turn, kind: 'text' as const, text: value });

describe('a transcript', () => {
  const made = () => {
    const transcript = new Transcript({ pieces: [text('ask', 0)], ids: [1, 2] });
    transcript.addSampled(1, 'abc', [10, 11, 12], [-1, -2, -3], 'v1');
    transcript.addGiven({ pieces: [{ turn: 2, kind: 'marker', text: '<' }, text('tool', 2)], ids: [20, 21] });
    transcript.addSampled(3, 'end', [30], [-4]);
    return transcript;
  };

  test('trains what was sampled and nothing else', () => {
    const transcript = made();
    expect([transcript.input, transcript.output]).toEqual(['ask', 'abc<toolend']);
    expect(transcript.responseIds).toEqual([10, 11, 12, 20, 21, 30]);
    expect(transcript.responseMask).toEqual([1, 1, 1, 0, 0, 1]);
    expect(transcript.responseLogprobs).toEqual([-1, -2, -3, 0, 0, -4]);
    expect(transcript.spans.map(({ field, start, end, trained }) => [field, start, end, trained])).toEqual([
      ['input', 0, 3, false],
      ['output', 0, 3, true],
      ['output', 3, 4, false],
      ['output', 4, 8, false],
      ['output', 8, 11, true],
    ]);
    expect(transcript.weightSpans).toEqual([{ start: 0, end: 3, version: 'v1' }]);
    expect([transcript.lastId, transcript.promptTokens, transcript.responseTokens]).toEqual([30, 2, 6]);
  });

  test('is cut to so many tokens, the text with them', () => {
    const transcript = made();
    transcript.truncate(2, (ids) => 'abc'.slice(0, ids.length));
    expect([transcript.output, transcript.responseIds, transcript.responseMask]).toEqual(['ab', [10, 11], [1, 1]]);
    const whole = made();
    whole.truncate(6, () => '');
    expect(whole.output).toBe('abc<toolend');
  });

  test('has no ids once one piece came without, and goes on from its notes', () => {
    const transcript = made();
    const before = Transcript.restore(transcript.state());
    expect([before.output, before.responseIds]).toEqual([transcript.output, transcript.responseIds]);
    transcript.addSampled(4, 'x', null, null);
    expect([transcript.ids, transcript.promptIds, transcript.responseMask, transcript.responseTokens]).toEqual([
      null,
      null,
      null,
      null,
    ]);
    transcript.truncate(1, () => '');
    expect(transcript.output).toBe('abc<toolendx');
  });

  test('a turn that was broken off and continued is one run of text; a rendering may be replaced', () => {
    const transcript = new Transcript({ pieces: [], ids: [] });
    transcript.addSampled(1, 'ab', [1], null);
    transcript.addSampled(1, 'cd', [2], null);
    expect(transcript.spans).toMatchObject([{ start: 0, end: 4, turn: 1, trained: true }]);
    expect(transcript.responseLogprobs).toBeNull();
    transcript.addGiven({ pieces: [text('x', 2)], ids: [3, 4] });
    transcript.replaceGiven({ pieces: [text('y', 2)], ids: [5] });
    expect([transcript.output, transcript.ids]).toEqual(['abcdy', [1, 2, 5]]);
  });
});

describe('a conversation as a dump shows it', () => {
  const shown = ({ pieces }: { pieces: { text: string }[] }) => pieces.map((piece) => piece.text).join('');

  test('has its roles on separate lines, and the results of parallel calls in one user turn', () => {
    const messages = [
      { role: 'user', content: 'q' },
      {
        role: 'assistant',
        content: 'a',
        reasoning_content: 'r',
        tool_calls: [{ id: '1', type: 'function', function: { name: 'f', arguments: '' } }],
      },
      { role: 'tool', content: '1' },
      { role: 'tool', content: '2' },
    ] as never[];
    expect(shown(plainRenderer.prompt(messages, []))).toBe(
      'user\nq\nassistant\n<think>\nr\n</think>\n\na\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>\nuser\n<tool_response>\n1\n</tool_response>\n<tool_response>\n2\n</tool_response>\nassistant\n',
    );
    expect(shown(plainRenderer.prompt([], []))).toBe('assistant\n');
    expect(shown(plainRenderer.continuation(messages.slice(2), 2, null, true))).toBe(
      '\nuser\n<tool_response>\n1\n</tool_response>\n<tool_response>\n2\n</tool_response>\nassistant\n',
    );
    expect(shown(plainRenderer.continuation(messages.slice(2, 3), 2, null, false))).toBe(
      '\nuser\n<tool_response>\n1\n</tool_response>',
    );
  });
});

describe('a sampled turn', () => {
  const native = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });
  const grammar = {
    read: (body: string) => ({
      content: 'said',
      calls: [
        { name: 'g', arguments: '{}', raw: body, error: null },
        { name: 'h', arguments: '', raw: body, error: 'broken' },
      ],
    }),
  };
  const read = (
    generation: object,
    version: '2026-01-29' | null = null,
    earlier: object[] = [],
    schemas: object[] = [{}],
  ) =>
    readTurn(
      { text: 'text', reasoning: null, finishReason: 'stop', toolCalls: [], ...generation } as never,
      grammar as never,
      { turn: 3, earlier, schemas, rules: rulesOf(version) } as never,
    );

  test('has the calls of the server, else those in its text', () => {
    expect(read({}).calls.map(({ name, error, fault }) => [name, error, fault])).toEqual([
      ['g', null, null],
      ['h', 'broken', 'model'],
    ]);
    expect(read({}).message).toMatchObject({
      content: 'said',
      tool_calls: [{ function: { name: 'g' } }, { function: { name: 'h' } }],
    });
    expect(read({ toolCalls: [native('a')] }).calls.map(({ name, id }) => [name, id])).toEqual([['f', 'a']]);
  });

  test('that was cut is not read for calls, but in verl; one that was filtered never', () => {
    expect(read({ finishReason: 'length' }).calls).toEqual([]);
    expect(read({ finishReason: 'length' }, '2026-01-29').calls).toHaveLength(1);
    expect(read({ finishReason: 'content_filter' }, '2026-01-29').calls).toEqual([]);
  });

  test('without tools has no calls to run', () => {
    expect(read({ toolCalls: [native('a')] }, null, [], [])).toMatchObject({
      calls: [],
      message: { tool_calls: [native('a')] },
    });
    expect(read({}, null, [], []).message).toEqual({ role: 'assistant', content: 'text' });
  });

  test('numbers its calls on, each with a different id', () => {
    const { calls } = read({ toolCalls: [native('call_0'), native('call_0'), native('')] }, null, [{ id: 'call_0' }]);
    expect(calls.map(({ index }) => index)).toEqual([1, 2, 3]);
    expect(new Set([...calls.map(({ id }) => id), 'call_0', '']).size).toBe(5);
  });

  test('drops in verl the calls that cannot be read', () => {
    expect(read({}, '2026-01-29').calls.map(({ name }) => name)).toEqual(['g']);
  });
});

test.each([
  ['the prompt', 'user'],
  ['a turn of a tool', 'tool'],
])('a template that refuses %s is the cause, not an error of this program', (_, role) => {
  const refuses = `{% for m in messages %}{% if m.role == '${role}' %}{{ raise_exception('roles must alternate') }}{% endif %}{% endfor %}`;
  const tokenizer = new ChatTokenizer(
    TOKENIZER_JSON,
    { eos_token: '<|im_end|>' } as JsonObject,
    refuses + CHAT_TEMPLATE,
  );
  const { model } = fakeModel(() => ({}), true);
  const conversation = new Conversation(
    { messages: [{ role: 'user', content: 'q' }], model, tokenizer },
    { rules: rulesOf(null), schemas: [], limit: null, warn: () => {} },
  );
  expect(() => {
    conversation.transcript.addSampled(1, 'a', [97], null);
    conversation.addGiven([{ role: 'tool', content: '5' }], () => true);
  }).toThrow(
    expect.objectContaining({
      reason: 'prompt_not_rendered',
      message: expect.stringContaining('roles must alternate'),
    }),
  );
});
