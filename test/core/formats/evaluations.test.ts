// Files of evaluations and batches, made from their writers' documentation.
import { describe, expect, test } from 'vitest';
import { Dump } from '../../../src/core/dump/dump.ts';
import type { Rollout } from '../../../src/core/rollout/rollout.ts';
import { writeDump } from '../../support/dump.ts';

async function rollouts(...records: object[]): Promise<Rollout[]> {
  const { dir, remove } = writeDump({ 'samples_gsm8k_2026-01-05T10-11-12.123456.jsonl': records });
  const dump = Dump.open([dir]);
  try {
    const found: Rollout[] = [];
    for (const file of dump.files) {
      await file.buildIndex(() => true);
      for (let record = 0; record < file.count; record++) found.push(file.read(record).rollout!);
    }
    return found;
  } finally {
    dump.close();
    remove();
  }
}

const said = ({ turns }: Rollout) => turns.map(({ role, text }) => [role, text]);

describe('samples of lm-evaluation-harness', () => {
  const sample = {
    doc_id: 7,
    doc: { question: 'What is 2+2?' },
    target: '4',
    arguments: { gen_args_0: { arg_0: 'Question: What is 2+2?\nAnswer:', arg_1: { until: ['\n'] } } },
    resps: [[' It is 4.']],
    filtered_resps: ['4'],
    filter: 'strict-match',
    metrics: ['exact_match'],
    doc_hash: 'a',
    prompt_hash: 'b',
    target_hash: 'c',
    exact_match: 1.0,
  };

  test('a generated reply is behind its prompt, with metric and target', async () => {
    const [one] = await rollouts(sample);
    expect(said(one!)).toEqual([
      ['user', 'Question: What is 2+2?\nAnswer:'],
      ['assistant', ' It is 4.'],
    ]);
    expect(one).toMatchObject({ format: 'lm-eval', score: 1, groundTruth: '4', uid: '7', step: null });
    expect(one!.extras).toMatchObject({ filter: 'strict-match', filtered_resps: ['4'] });
  });

  test('arguments of older versions, and a prompt of messages', async () => {
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: '1+1?' },
      { role: 'assistant', content: '2' },
      { role: 'user', content: '2+2?' },
    ];
    const [one] = await rollouts({ ...sample, arguments: [[JSON.stringify(messages), { until: [] }]] });
    expect(said(one!)).toEqual([
      ['system', 'Be brief.'],
      ['user', '1+1?'],
      ['given_assistant', '2'],
      ['user', '2+2?'],
      ['assistant', ' It is 4.'],
    ]);
  });

  test('several replies to a document are a group, and its metric is of none alone', async () => {
    const all = await rollouts({ ...sample, resps: [['4', '5']], exact_match: 0.5 });
    expect(all.map((one) => [said(one)[1], one.score, one.group])).toEqual([
      [['assistant', '4'], null, '7'],
      [['assistant', '5'], null, '7'],
    ]);
    expect(all[0]!.extras.metrics_of_all).toEqual({ exact_match: 0.5 });
  });

  test('a choice by likelihood is no reply of the model', async () => {
    const choice = (text: string) => ({ arg_0: 'The sky is', arg_1: text });
    const [one, whole] = await rollouts(
      {
        ...sample,
        arguments: { gen_args_0: choice(' green'), gen_args_1: choice(' blue') },
        resps: [[['-9.5', 'False']], [['-1.25', 'True']]],
        acc: 1,
      },
      { ...sample, arguments: [['A page of a book.']], resps: [['-812.5']], metrics: ['word_perplexity'] },
    );
    expect(said(one!)).toEqual([
      ['user', 'The sky is'],
      ['given_assistant', ' blue'],
    ]);
    expect(said(whole!)).toEqual([['user', 'A page of a book.']]);
  });
});

describe("lines of OpenAI's Batch API", () => {
  const line = (body: object, more: object = {}) => ({
    id: 'batch_req_1',
    custom_id: 'task-1',
    response: { status_code: 200, request_id: 'r', body },
    error: null,
    ...more,
  });
  const call = { id: 'c', type: 'function', function: { name: 'add', arguments: '{"a": 1}' } };

  test('a reply with its calls and finish reason, each choice by itself', async () => {
    const [one, two] = await rollouts(
      line({
        object: 'chat.completion',
        model: 'm',
        choices: [
          { index: 0, message: { role: 'assistant', content: null, tool_calls: [call] }, finish_reason: 'tool_calls' },
          { index: 1, message: { role: 'assistant', content: 'I know' }, finish_reason: 'length' },
        ],
        usage: { completion_tokens: 3 },
      }),
    );
    expect(one!.turns[0]!.toolCalls.map(({ name }) => name)).toEqual(['add']);
    expect(said(two!)).toEqual([['assistant', 'I know']]);
    expect([two!.uid, two!.ended.how, two!.extras.model]).toEqual(['task-1', 'length', 'm']);
  });

  test('completions, responses and requests that failed', async () => {
    const [text, items, refused, expired] = await rollouts(
      line({ object: 'text_completion', choices: [{ index: 0, text: 'so', finish_reason: 'stop' }] }),
      line({
        object: 'response',
        output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'here' }] }],
      }),
      line(
        { error: { message: 'too long', code: 'context_length_exceeded' } },
        { response: { status_code: 400, body: { error: { message: 'too long' } } } },
      ),
      { id: 'b', custom_id: 'task-2', response: null, error: { code: 'batch_expired', message: 'not in time' } },
    );
    expect([said(text!), said(items!)]).toEqual([[['assistant', 'so']], [['assistant', 'here']]]);
    expect([refused!.status, refused!.turns.length, expired!.status]).toEqual(['too long', 0, 'not in time']);
  });

  test('what was asked', async () => {
    const body = { model: 'm', messages: [{ role: 'user', content: '2+2?' }], tools: [call] };
    const [one] = await rollouts({ custom_id: 'task-1', method: 'POST', url: '/v1/chat/completions', body });
    expect([one!.format, one!.uid, said(one!)]).toEqual(['openai-batch', 'task-1', [['user', '2+2?']]]);
  });
});

describe('messages with a reply beside them', () => {
  const asked = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'What is 2+2?' },
  ];
  const reply = { role: 'assistant', content: 'It is 4.' };

  test.each(['response', 'completion', 'generation', 'output', 'model_output', 'generated_text', 'reply'])(
    'end with it, whatever its form: %s',
    async (key) => {
      const forms = [reply.content, reply, [reply]];
      const found = await rollouts(...forms.map((form) => ({ messages: asked, [key]: form, score: 1 })));
      for (const rollout of found)
        expect(said(rollout)).toEqual([...asked, reply].map(({ role, content }) => [role, content]));
    },
  );

  test('that end with a reply, or with a call, have no other', async () => {
    const call = {
      role: 'assistant',
      content: 'I look.',
      tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{}' } }],
    };
    for (const last of [reply, call]) {
      const [rollout] = await rollouts({ messages: [...asked, last], response: 'It is 4.' });
      expect(rollout!.turns).toHaveLength(3);
    }
  });
});
