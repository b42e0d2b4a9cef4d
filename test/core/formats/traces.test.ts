import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Dump } from '../../../src/core/dump/dump.ts';
import { mendedJson } from '../../../src/core/formats/mended-json.ts';
import type { Rollout } from '../../../src/core/rollout/rollout.ts';

async function rolloutsIn(path: string): Promise<Rollout[]> {
  const dump = Dump.open([path]);
  const found: Rollout[] = [];
  for (const file of dump.files) {
    await file.buildIndex(() => true);
    for (let record = 0; record < file.count; record++) {
      const { rollout } = file.read(record);
      if (rollout !== null) found.push(rollout);
    }
  }
  dump.close();
  return found;
}

const home = mkdtempSync(join(tmpdir(), 'traces-'));
async function written(name: string, lines: readonly object[]): Promise<Rollout[]> {
  const path = join(home, name);
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return rolloutsIn(path);
}

interface Truth {
  file: string;
  rollouts: number | null;
  turns: number;
  tool_calls: number;
}
const samples = join(import.meta.dirname, '../../../../shared/data/traces');
const truths: Truth[] = existsSync(samples)
  ? readFileSync(join(samples, 'truth.jsonl'), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Truth)
      .filter(({ rollouts }) => rollouts !== null)
  : [];

describe.skipIf(truths.length === 0)('files that tracers and SDKs wrote (skipped without ../shared/data)', () => {
  test.each(truths.map((one) => [one.file, one] as const))('%s', async (file, want) => {
    const path = join(samples, file);
    const found = await rolloutsIn(/strands\/.*\/session\.json$/.test(file) ? dirname(path) : path);
    const turns = found.flatMap((rollout) => rollout.turns);
    expect({
      rollouts: found.length,
      turns: turns.filter(({ role }) => role === 'assistant').length,
      calls: turns.flatMap(({ toolCalls }) => toolCalls).length,
    }).toEqual({ rollouts: want.rollouts, turns: want.turns, calls: want.tool_calls });
  });
});

const chat = (messages: object[], reply: object) => ({
  request: { messages },
  response: { choices: [{ message: reply }] },
});
const user = (content: string) => ({ role: 'user', content });
const says = (content: string) => ({ role: 'assistant', content });

describe('histories of a trace', () => {
  test('a call that leaves the history before its end is a branch', async () => {
    const [rollout] = await written('branch.jsonl', [
      chat([user('a')], says('1')),
      chat([user('a'), says('1'), user('b')], says('2')),
      chat([user('a'), says('1'), user('c')], says('3')),
    ]);
    expect(rollout?.contexts?.map(({ kind, after }) => [kind, after])).toEqual([
      ['main', null],
      ['branch', 1],
    ]);
    expect(rollout?.turns.map(({ text, context }) => [text, context ?? 0])).toEqual([
      ['a', 0],
      ['1', 0],
      ['b', 0],
      ['2', 0],
      ['c', 1],
      ['3', 1],
    ]);
  });

  test('reasoning that only the next request holds belongs to the reply', async () => {
    const [rollout] = await written('thought.jsonl', [
      chat([user('a')], says('1')),
      chat([user('a'), { ...says('1'), reasoning_content: 'I think' }, user('b')], says('2')),
    ]);
    expect(rollout?.turns[1]?.parts.map(({ kind }) => kind)).toEqual(['think', 'text']);
  });

  test('a request that failed is an error and no turn', async () => {
    const [rollout] = await written('failed.jsonl', [
      { request: { messages: [user('a')] }, response: { error: { message: 'busy' } }, status: 429 },
    ]);
    expect(rollout?.turns.map(({ role }) => role)).toEqual(['user']);
    expect(rollout?.extras.errors).toEqual(['status 429: busy']);
    expect(rollout?.ended.how).toBe('aborted');
  });
});

describe('logs and rows of other services', () => {
  const asks = {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'calc', arguments: '{"e":"2+2"}' } }],
  };
  const result = { role: 'tool', tool_call_id: 'c1', content: '4' };
  const shown = (found: readonly Rollout[]) =>
    found.map(({ format, turns }) => [format, turns.map(({ role, toolCalls }) => [role, toolCalls.length])]);
  const turns = [
    ['user', 0],
    ['assistant', 1],
    ['tool', 0],
    ['assistant', 0],
  ];

  test('LiteLLM: the keys of the request beside its response', async () => {
    const line = (messages: object[], reply: object) => ({
      call_type: 'acompletion',
      model: 'm',
      messages,
      response: { choices: [{ message: reply, finish_reason: 'stop' }] },
    });
    const found = await written('litellm.jsonl', [
      line([user('2+2?')], asks),
      line([user('2+2?'), asks, result], says('4')),
    ]);
    expect(shown(found)).toEqual([['request-log', turns]]);
  });

  test('Braintrust: a span a row, the root with its scores last', async () => {
    const row = (id: string, type: string, more: object) => ({
      id: `row ${id}`,
      span_id: id,
      root_span_id: 'r',
      span_parents: id === 'r' ? null : ['r'],
      span_attributes: { type, name: type === 'tool' ? 'calc' : type },
      ...more,
    });
    const found = await written('braintrust.jsonl', [
      row('2', 'llm', {
        input: [user('2+2?'), asks, result],
        output: [{ index: 0, message: says('4'), finish_reason: 'stop' }],
        metrics: { start: 1.7e9 + 3, end: 1.7e9 + 4, prompt_tokens: 9 },
      }),
      row('1', 'llm', {
        input: [user('2+2?')],
        output: [{ index: 0, message: asks, finish_reason: 'tool_calls' }],
        metrics: { start: 1.7e9, end: 1.7e9 + 1 },
      }),
      row('t', 'tool', { input: { e: '2+2' }, output: 4, metrics: { start: 1.7e9 + 1, end: 1.7e9 + 2 } }),
      row('r', 'task', { input: '2+2?', output: '4', expected: '4', scores: { exact: 1 } }),
    ]);
    expect(shown(found)).toEqual([['braintrust', turns]]);
    expect([found[0]?.groundTruth, found[0]?.rewards.named, found[0]?.extras.usage]).toEqual([
      '4',
      { exact: 1 },
      { input_tokens: 9, output_tokens: null },
    ]);
  });
});

describe('damaged traces', () => {
  const span = (id: string, parent: string | null, input: string) => ({
    name: 'chat',
    context: { trace_id: 't1', span_id: id },
    parent_id: parent,
    start_time: '2026-01-01T00:00:00Z',
    end_time: '2026-01-01T00:00:01Z',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.input.messages': input,
      'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content: 'yes' }] }]),
    },
  });
  const input = JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: 'a long question of many words' }] }]);

  test('a missing parent, a loop and a cut are said', async () => {
    const [lost] = await written('lost.jsonl', [span('1', '9', input)]);
    expect(lost?.extras.problems).toEqual(['1 span names a parent that is not there']);
    const [loop] = await written('loop.jsonl', [span('1', '2', input), span('2', '1', input)]);
    expect(loop?.extras.problems).toContain('2 spans are their own ancestors');
    const [cut] = await written('cut.jsonl', [span('1', null, input.slice(0, -20))]);
    expect(cut?.extras.problems).toEqual(['the tracer cut off contents of 1 call']);
    expect(cut?.turns[0]?.text).toBe('a long questio');
  });

  test.each([
    ['[{"a":"some te', [{ a: 'some te' }]],
    ['[{"a":"x"},{"b', [{ a: 'x' }, {}]],
    ['{"a":[1,2', { a: [1] }],
    ['{"a":"x\\', { a: 'x' }],
    ['not json', undefined],
  ])('%s is mended as far as it goes', (text, value) => {
    expect(mendedJson(text)).toEqual(value);
  });
});
