import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { FACTS } from '../../../src/core/rollout/facts.ts';
import type { Rollout } from '../../../src/core/rollout/rollout.ts';
import { rolloutsOf } from './rollouts-of.ts';

const folder = mkdtempSync(join(tmpdir(), 'results-of-calls-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function read(...records: object[]): Promise<Rollout[]> {
  const path = join(folder, 'rollouts.jsonl');
  writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  return rolloutsOf(path);
}

const seenIn = ({ findings, turns, ...rollout }: Rollout) => ({
  errors: FACTS.find(({ name }) => name === 'tool_errors')!.of({ findings, turns, ...rollout }),
  results: turns.flatMap(({ toolCalls }) => toolCalls.map(({ resultTurn }) => resultTurn !== null)),
  findings: findings.map(({ check, error }) => [check, error?.kind ?? null]),
});

const asked = (count: number) =>
  Array.from({ length: count }, () => '<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>').join('\n');
const tagged = (text: string) => `<tool_response>\n${text}\n</tool_response>`;

/** The same results as writers put them into a list of messages. */
const FORMS: Record<string, (results: readonly string[]) => object[]> = {
  'messages of a tool': (results) => results.map((content) => ({ role: 'tool', content })),
  'messages of a tool, in tags': (results) => results.map((text) => ({ role: 'tool', content: tagged(text) })),
  'one message of a tool': (results) => [{ role: 'tool', content: results.map(tagged).join('\n') }],
  'one message of the user': (results) => [{ role: 'user', content: results.map(tagged).join('\n') }],
  'messages of the environment': (results) => results.map((content) => ({ role: 'environment', content })),
  'the input of a tokenizer, in one message': (results) => [
    {
      role: 'environment',
      content: `\n<|im_start|>user\n${results.map(tagged).join('\n')}<|im_end|>\n<|im_start|>assistant\n`,
    },
  ],
  'the input of a tokenizer, a message for each': (results) =>
    results.map((text, at) => ({
      role: 'environment',
      content: `${at === 0 ? '\n<|im_start|>user' : ''}\n${tagged(text)}${at === results.length - 1 ? '<|im_end|>\n<|im_start|>assistant\n' : ''}`,
    })),
};

describe('the results of calls are found, and what they say of a failure, whoever is said to speak', () => {
  const result = fc.constantFrom(
    'sunny, 18 degrees',
    'Error: arguments are not valid JSON: Expecting value',
    '\u001b[31mHTTP Error 503\u001b[0m: Service Unavailable',
    'Traceback (most recent call last):\n  File "a.py", line 1\nValueError: no',
    '{"result": "Search request failed or timed out after retries."}',
  );

  test.each(['messages', 'content'])('as %s', async (key) => {
    await fc.assert(
      fc.asyncProperty(fc.array(result, { minLength: 1, maxLength: 3 }), async (results) => {
        const records = Object.values(FORMS).map((form) => {
          const messages = [
            { role: 'user', content: 'What is the weather?' },
            { role: 'assistant', content: asked(results.length) },
            ...form(results),
            { role: 'assistant', content: 'I looked.' },
          ];
          return key === 'messages' ? { messages } : { content: [messages], rewards: [0.5], idx: 0 };
        });
        const [first, ...others] = (await read(...records)).map(seenIn);
        expect(first!.results).toEqual(results.map(() => true));
        expect(first!.errors).toBe(first!.findings.length);
        for (const [at, other] of others.entries()) expect(other, Object.keys(FORMS)[at + 1]).toEqual(first);
      }),
      { numRuns: 30 },
    );
  });

  test('a user who quotes tags, or speaks before any call, gives no result', async () => {
    const talk = (content: string) => ({
      messages: [
        { role: 'user', content: 'Hello.' },
        { role: 'assistant', content: 'What do you see?' },
        { role: 'user', content },
        { role: 'assistant', content: 'I see.' },
      ],
    });
    const quoting = {
      messages: [
        { role: 'assistant', content: asked(1) },
        { role: 'user', content: `You wrote ${tagged('Error: 1')}, why?` },
      ],
    };
    const [said, quoted] = (await read(talk(tagged('Error: 1')), quoting)).map(seenIn);
    expect(said).toEqual({ errors: null, results: [], findings: [] });
    expect(quoted?.results).toEqual([false]);
  });

  test('calls in XML have sentences of the harness as results, too', async () => {
    const call = (name: string) => ({
      role: 'assistant',
      content: `<function=${name}>\n<parameter=x>1</parameter>\n</function>`,
    });
    const user = (content: string) => ({ role: 'user', content });
    const messages = [
      user('Fix it.'),
      ...[call('bash'), user('Observation: a.py')],
      ...[call('bash'), user('OBSERVATION:\nTraceback (most recent call last):\nKeyError: 1')],
      ...[call('bash'), user('Your command ran successfully and did not produce any output.')],
      call('submit'),
    ];
    const [seen, spoken] = (
      await read({ messages }, { messages: [user('Hi.'), call('bash'), user('What is that?'), call('bash')] })
    ).map(seenIn);
    expect(seen).toMatchObject({ errors: 1, results: [true, true, true, false] });
    expect(spoken?.results.some(Boolean)).toBe(false);
  });

  test('a result that names its call comes before what the environment says next to it', async () => {
    const call = { id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } };
    const [seen] = await read({
      messages: [
        { role: 'user', content: 'Go.' },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'environment', content: 'You have 2 steps left.' },
        { role: 'tool', tool_call_id: 'a', content: 'Error: not found' },
      ],
    });
    expect(seen!.turns[1]!.toolCalls.map(({ resultTurn }) => resultTurn)).toEqual([3]);
  });

  test('a writer that keeps no results at all is named once', async () => {
    const said = (count: number) => [
      { role: 'user', content: 'Go.' },
      ...Array.from({ length: count }, () => ({ role: 'assistant', content: asked(1) })),
      { role: 'assistant', content: 'Done.' },
    ];
    const [many, few] = await read({ messages: said(5) }, { messages: said(2) });
    const messages = (one: Rollout | undefined) => one!.findings.map(({ check, message }) => `${check}: ${message}`);
    expect(messages(many)).toEqual([
      'call_without_result: none of the 5 calls has a recorded result, though the model went on',
    ]);
    expect(messages(few)).toEqual(Array(2).fill('call_without_result: no result of look was recorded'));
  });

  test('outputs that are recorded apart from the ids answer all calls, and a recorded failure is one', async () => {
    const info = { num_calls: 2, tool_outputs: 'one\ntwo' };
    const stats = [true, false].map((success) => ({ tool_name: 'look', success, runtime: 0.1 }));
    const record = { prompt_tokens: [1, 2], response_tokens: [3, 4, 5], reward: 0, finish_reason: 'stop' };
    const seen = await read(
      { ...record, request_info: { ...info, tool_call_stats: stats } },
      { ...record, request_info: { ...info, tool_call_stats: stats.slice(0, 1) } },
    );
    expect(seen.map(seenIn)).toEqual([
      { errors: 1, results: [true, true], findings: [['tool_error', 'other']] },
      { errors: 0, results: [true, true], findings: [] },
    ]);
  });
});

test('a log with a message on each line is one conversation; nothing in it is dropped', async () => {
  const call = { id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } };
  const [log] = await read(
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Look.' },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'a', content: 'Error: Unknown tool: look' },
    { role: 'assistant', content: 'I cannot.' },
  );
  expect(log!.turns.map(({ role, text }) => `${role} ${text}`)).toEqual([
    'system Be brief.',
    'user Look.',
    'assistant ',
    'tool Error: Unknown tool: look',
    'assistant I cannot.',
  ]);
  expect(seenIn(log!)).toMatchObject({ errors: 1, results: [true], findings: [['tool_error', 'unknown_tool']] });
  const [spoken] = await read(
    { role: 'User', text: 'Add it.' },
    { role: 'API', api_name: 'add', param_dict: { at: '2pm' }, result: 'done' },
    { role: 'AI', text: 'Added.' },
  );
  expect(spoken!.turns.map(({ role }) => role)).toEqual(['user', 'api', 'assistant']);
  expect(spoken!.turns[1]!.text).toContain('2pm');
  // Rows of a data set are no log.
  const rows = await read({ role: 'user', content: 'a', score: 1 }, { role: 'user', content: 'b', score: 0 });
  expect(rows.length).not.toBe(1);
});

test('a reply of which only the id was recorded is neither an empty response nor a lost line', async () => {
  const span = (id: string, data: object) => ({
    object: 'trace.span',
    id,
    trace_id: 'trace_1',
    parent_id: null,
    started_at: '2026-01-01T00:00:00+00:00',
    ended_at: '2026-01-01T00:00:01+00:00',
    span_data: data,
    error: null,
  });
  const [rollout] = await read(
    { object: 'trace', id: 'trace_1', workflow_name: 'Agent workflow' },
    span('span_1', { type: 'response', response_id: 'resp_1' }),
  );
  expect(rollout!.turns.map(({ text, confidence }) => [text, confidence])).toEqual([
    ['[the reply resp_1 is not recorded here]', 'unknown'],
  ]);
  expect(rollout!.findings).toEqual([]);
});
