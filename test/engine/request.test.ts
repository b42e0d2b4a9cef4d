import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createRequests,
  parseTools,
  type RolloutEvent,
  runRequest,
  type SamplingParams,
  truncateToolText,
} from '../../src/engine/index.ts';
import { call, fakeModel, texts } from './fake-model.ts';
import { fakeTool } from './fake-tool.ts';
import { VERL_TOOLS } from './verl-tools.ts';

const user = (content: string) => ({ role: 'user', content });
const QUESTION = user('There are 152 students in three classes. How many are in each?');

/** The sandbox of these tests prints what is between the parentheses of print. */
const verlTools = () =>
  parseTools(VERL_TOOLS, 'tools.yaml', {
    run: async ({ code }) => ({
      status: 'Success',
      message: '',
      compile_result: null,
      run_result: {
        status: 'Finished',
        execution_time: 0,
        return_code: 0,
        stdout: `${/print\((.*)\)/.exec(code)![1]}\n`,
        stderr: '',
      },
      executor_pod_name: null,
      files: {},
    }),
  });
const KWARGS = { code_interpreter: { create_kwargs: { ground_truth: 'test-solution-str' } } };
const TURNS = [
  `Let me count.\n${call('code_interpreter', { code: 'print(3)' })}`,
  `And the rest.\n${call('code_interpreter', { code: 'print(149)' })}`,
  'So there are <answer>\n\\boxed{3}\n</answer>',
];

describe('the rollout request, as verl tests it', () => {
  it('n = 1 gives one pending request with the schema of its tool (test_rollout_req_creation)', () => {
    const requests = createRequests({
      model: texts().model,
      messages: [QUESTION],
      tools: verlTools(),
      toolsKwargs: KWARGS,
      sampling: { n: 1 },
    });
    expect(requests).toHaveLength(1);
    expect(requests[0]!.state).toBe('pending');
    expect(requests[0]!.toolSchemas).toEqual([
      {
        type: 'function',
        function: {
          name: 'code_interpreter',
          description: 'A tool for executing code.',
          parameters: {
            type: 'object',
            properties: { code: { type: 'string', description: 'The code to execute.', enum: null } },
            required: ['code'],
          },
          strict: false,
        },
      },
    ]);
  });

  it('a reply cut by its length is not read for calls (test_over_size_case)', async () => {
    const { model } = fakeModel(() => ({ text: TURNS[0]!, finishReason: 'length' }));
    const request = await runRequest({
      model,
      messages: [QUESTION],
      tools: verlTools(),
      toolsKwargs: KWARGS,
      limits: { max_assistant_turns: 1 },
    });
    expect(request.state).toBe('completed');
    expect(request.finishReason).toBe('length');
    expect(request.rewardScores.code_interpreter).toEqual([]);
    expect(request.messages).toEqual([QUESTION, { role: 'assistant', content: TURNS[0] }]);
  });

  it('calls the tool for two turns and stops at the third (test_tool_call_basic_case)', async () => {
    const { model, requests } = texts(...TURNS);
    const request = await runRequest({
      model,
      messages: [QUESTION],
      tools: verlTools(),
      toolsKwargs: KWARGS,
      limits: { max_assistant_turns: 10 },
    });
    expect(request.state).toBe('completed');
    expect(request.status).toBe('SUCCEEDED');
    expect(requests).toHaveLength(3);
    expect(request.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'tool',
      'assistant',
    ]);
    expect(request.messages.filter(({ role }) => role === 'tool').map(({ content }) => content)).toEqual([
      '3\n',
      '149\n',
    ]);
    expect(request.messages[1]).toMatchObject({
      content: 'Let me count.',
      tool_calls: [{ function: { name: 'code_interpreter', arguments: '{"code":"print(3)"}' } }],
    });
  });

  it('keeps 100 concurrent requests apart (test_tool_call_batch_case)', async () => {
    const tools = verlTools();
    const all = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        runRequest({
          ...texts(
            `one ${i}\n${call('code_interpreter', { code: `print(${i})` })}`,
            `two ${i}\n${call('code_interpreter', { code: `print(${i + 1000})` })}`,
            `end ${i}`,
          ),
          messages: [user(`question ${i}`)],
          tools,
          toolsKwargs: KWARGS,
          requestId: String(i),
        }),
      ),
    );
    for (const [i, request] of all.entries()) {
      expect(request.state).toBe('completed');
      expect(request.requestId).toBe(String(i));
      expect(request.messages).toHaveLength(6);
      expect(request.messages.filter(({ role }) => role === 'tool').map(({ content }) => content)).toEqual([
        `${i}\n`,
        `${i + 1000}\n`,
      ]);
      expect(request.messages.at(-1)!.content).toBe(`end ${i}`);
    }
  });

  it('a copy of sampling parameters does not change the original (test_sampling_params_functionality)', () => {
    const params: SamplingParams = {
      n: 1,
      max_new_tokens: 1024,
      presence_penalty: 0,
      frequency_penalty: 0,
      repetition_penalty: 1,
    };
    const [request] = createRequests({ model: texts().model, messages: [QUESTION], sampling: params });
    expect(request!.sampling).toEqual(params);
    expect(request!.sampling).not.toBe(params);
    const changed = { ...params, temperature: 0.8, top_p: 0.9 };
    expect(changed).toMatchObject({ temperature: 0.8, top_p: 0.9, max_new_tokens: 1024 });
    expect(params).not.toHaveProperty('temperature');
    expect(params).not.toHaveProperty('top_p');
  });
});

describe('what goes wrong in a rollout', () => {
  const tools = () => [
    fakeTool('good', ({ x }) => `got ${x}`),
    fakeTool('bad', () => {
      throw new Error('broken pipe');
    }),
    fakeTool('slow', () => new Promise<string>(() => {})),
  ];
  const run = async (reply: string, limits = {}, used = tools()) => {
    const request = await runRequest({ ...texts(reply, 'done'), messages: [QUESTION], tools: used, limits });
    expect(request.status).toBe('SUCCEEDED');
    expect(used.every(({ log }) => log.at(-1)?.startsWith('release'))).toBe(true);
    return request.messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
  };

  it.each([
    [
      'arguments that are no JSON',
      '<tool_call>\n{"name": "good", "arguments": {"x": }}\n</tool_call>',
      /^Invalid JSON in arguments for 'good': not JSON/,
    ],
    [
      'arguments that are no object',
      call('good', [1]),
      /^Invalid JSON in arguments for 'good': the arguments are a list/,
    ],
    ['a block that is no call', '<tool_call>nothing</tool_call>', /^Invalid JSON in arguments for 'unknown'/],
    ['a tool that is not there', call('nope', {}), "Unknown function 'nope'. Available tools: ['good', 'bad', 'slow']"],
    ['a tool that throws', call('bad', {}), "Error executing tool 'bad': broken pipe"],
    ['arguments as a JSON string', call('good', '{"x": 1}'), 'got 1'],
  ])('%s is a result, and the rollout goes on', async (_, reply, result) => {
    expect(await run(reply)).toEqual([typeof result === 'string' ? result : expect.stringMatching(result)]);
  });

  it('arguments that are no object reach the tool as they are where verl is imitated', async () => {
    const given: unknown[] = [];
    const tool = fakeTool('good', () => '');
    tool.execute = async (_, parameters) => {
      given.push(parameters);
      return { response: { text: '' }, reward: null, metrics: null };
    };
    for (const one of [[1], 'print(1)', null, 7])
      await runRequest({
        ...texts(call('good', one), 'done'),
        messages: [QUESTION],
        tools: [tool],
        verlCompat: '2026-08-22',
      });
    expect(given).toEqual([[1], 'print(1)', null, 7]);
  });

  it('a tool that does not answer in time is a result, even when it does not heed its signal', async () => {
    expect(await run(call('slow', {}), { tool_timeout: 0.02 })).toEqual([
      "Error executing tool 'slow': timed out after 0.02 s",
    ]);
  });

  it('an unclosed call is text', async () => {
    const request = await runRequest({
      ...texts('<tool_call>\n{"name": "good"'),
      messages: [QUESTION],
      tools: tools(),
    });
    expect(request.calls).toEqual([]);
    expect(request.messages).toHaveLength(2);
  });

  it('parallel calls run at once, and their results are in the order of the calls', async () => {
    const order: unknown[] = [];
    // Each waits for the one behind it.
    const ends = new Map<number, () => void>();
    const wait = fakeTool('wait', async ({ ms }) => {
      if (ms !== 1) await new Promise<void>((resolve) => ends.set(ms as number, resolve));
      order.push(ms);
      ends.get(ms === 1 ? 15 : 30)?.();
      return `waited ${ms}`;
    });
    const reply = [30, 15, 1].map((ms) => call('wait', { ms })).join('\n');
    const request = await runRequest({ ...texts(reply, 'done'), messages: [QUESTION], tools: [wait] });
    expect(order).toEqual([1, 15, 30]);
    expect(request.messages.slice(2, 5).map(({ content }) => content)).toEqual(['waited 30', 'waited 15', 'waited 1']);
    expect(request.calls.map(({ result_turn }) => result_turn)).toEqual([2, 3, 4]);
    const ids = request.messages[1]!.tool_calls!.map(({ id }) => id);
    expect(request.messages.slice(2, 5).map(({ tool_call_id }) => tool_call_id)).toEqual(ids);
    expect(new Set(ids).size).toBe(3);
  });

  it('pairs results with calls that the server gave the same id, or none', async () => {
    const calls = ['same', 'same', ''].map((id) => ({
      id,
      type: 'function' as const,
      function: { name: 'good', arguments: '{}' },
    }));
    const { model } = fakeModel((_, number) => (number < 2 ? { toolCalls: calls } : { text: 'done' }));
    const request = await runRequest({ model, messages: [QUESTION], tools: tools() });
    const ids = request.calls.map(({ id }) => id);
    expect(new Set(ids).size).toBe(6);
    expect(request.messages.flatMap(({ tool_call_id }) => tool_call_id ?? [])).toEqual(ids);
  });

  it('calls over the limit of a turn are not run, and say so', async () => {
    const [good, ...rest] = tools();
    const results = await run([1, 2, 3].map((x) => call('good', { x })).join('\n'), { max_parallel_calls: 2 }, [
      good!,
      ...rest,
    ]);
    expect(results).toEqual([
      'got 1',
      'got 2',
      "Error executing tool 'good': only the first 2 calls of a turn are run",
    ]);
    expect(good!.log.filter((line) => line.startsWith('execute'))).toHaveLength(2);
  });

  it('a tool that cannot be created ends the rollout before the model is asked', async () => {
    const broken = fakeTool('broken', () => 'never', { create: () => Promise.reject(new Error('no licence')) });
    const reply = [call('broken', {}), call('good', { x: 1 })].join('\n');
    const request = await runRequest({ ...texts(reply, 'done'), messages: [QUESTION], tools: [broken, tools()[0]!] });
    expect(request).toMatchObject({
      status: 'FAILED',
      cause: 'tool_unavailable',
      error: "tool 'broken' could not be created: no licence",
      generations: [],
    });
  });

  it('a model that fails ends the rollout as FAILED, and releases its tools', async () => {
    const used = tools();
    const { model } = fakeModel((_, number) => {
      if (number === 0) return { text: call('good', { x: 1 }) };
      throw new Error('the server is gone');
    });
    const request = await runRequest({ model, messages: [QUESTION], tools: used });
    expect(request).toMatchObject({ state: 'failed', status: 'FAILED', error: 'the server is gone', rewardScores: {} });
    expect(request.messages).toHaveLength(3);
    for (const { log } of used) expect(log.at(-1)).toMatch(/^release/);
  });

  it('a rollout that takes too long is a TIMEOUT, or the fault of a model that hangs; one that is broken off is cancelled', async () => {
    const endless = fakeModel(
      ({ signal }) => new Promise((_, reject) => signal!.addEventListener('abort', () => reject(signal!.reason))),
    );
    const hung = await runRequest({ ...endless, messages: [QUESTION], limits: { timeout: 0.5 } });
    expect(hung).toMatchObject({ state: 'failed', cause: 'model_hung', error: 'timed out after 0.5 s' });
    const slow = fakeModel(({ signal, onActivity }) => {
      onActivity?.();
      return new Promise((_, reject) => signal!.addEventListener('abort', () => reject(signal!.reason)));
    });
    const late = await runRequest({ ...slow, messages: [QUESTION], limits: { timeout: 0.5 } });
    expect(late).toMatchObject({
      state: 'failed',
      status: 'TIMEOUT',
      cause: 'timeout',
      error: 'timed out after 0.5 s',
    });
    const stop = new AbortController();
    const running = runRequest({ ...endless, messages: [QUESTION], signal: stop.signal });
    stop.abort();
    expect(await running).toMatchObject({ status: 'FAILED', error: 'cancelled' });
  });

  it('a rollout runs once', async () => {
    const [request] = createRequests({ ...texts('hi'), messages: [QUESTION] });
    await request!.run();
    await expect(request!.run()).rejects.toThrow('has run already');
  });
});

describe('limits', () => {
  const loop = () => fakeModel(() => ({ text: call('good', { x: 1 }), promptTokens: 10, completionTokens: 5 }));
  const good = () => fakeTool('good', () => 'ok');

  it('the last allowed turn may call tools, but they are not run', async () => {
    const tool = good();
    const request = await runRequest({
      ...loop(),
      messages: [QUESTION],
      tools: [tool],
      limits: { max_assistant_turns: 3 },
    });
    expect(request).toMatchObject({ state: 'completed', status: 'MAX_STEPS_REACHED', finishReason: 'tool_calls' });
    expect(request.assistantTurns).toBe(3);
    expect(tool.log.filter((line) => line.startsWith('execute'))).toHaveLength(2);
    expect(request.calls.at(-1)).toMatchObject({ result: null, result_turn: null });
    expect(request.messages.at(-1)!.role).toBe('assistant');
  });

  it('asks for no more tokens than are left, by the counts of the server', async () => {
    const { model, requests } = fakeModel((_, number) => ({
      text: call('good', { x: number }),
      promptTokens: 100 + 40 * number,
      completionTokens: 20,
    }));
    const request = await runRequest({
      model,
      messages: [QUESTION],
      tools: [good()],
      limits: { max_response_length: 100, max_model_len: 1000 },
    });
    expect(requests.map(({ maxNewTokens }) => maxNewTokens)).toEqual([100, 80, 40]);
    expect(request).toMatchObject({ status: 'MAX_CONTEXT_LIMIT_REACHED', finishReason: 'length' });
  });

  it('shows the model the tools that the sample selects, in its order, and hands each its own arguments', async () => {
    const [one, two] = [fakeTool('one', () => '1'), fakeTool('two', () => '2')];
    const kwargs = {
      create_kwargs: { a: 1 },
      execute_kwargs: { b: 2 },
      calc_reward_kwargs: { c: 3 },
      release_kwargs: { d: 4 },
    };
    const { model, requests } = texts(call('one', {}), 'done');
    const request = await runRequest({
      model,
      messages: [QUESTION],
      tools: [one, two],
      toolsKwargs: { one: kwargs, ghost: {} },
      toolSelection: ['one', 'nope'],
      requestId: 'id',
    });
    expect(requests[0]!.tools.map((tool) => (tool.function as { name: string }).name)).toEqual(['one']);
    expect(one.log).toEqual(['create id {"a":1}', 'execute id {"b":2}', 'calcReward id {"c":3}', 'release id {"d":4}']);
    expect(two.log).toEqual([]);
    expect(request.warnings.map(({ message }) => message)).toEqual([
      "tools_kwargs names 'ghost', which is not configured",
      "tool_selection names 'nope', which is not configured",
    ]);
    const all = await runRequest({ ...texts('x'), messages: [QUESTION], tools: [one, two], toolsKwargs: { one: {} } });
    expect(all.toolSchemas).toHaveLength(2);
  });

  it.each([
    ['left', '(truncated)...ghij'],
    ['right', 'abcd...(truncated)'],
    ['middle', 'ab...(truncated)...ij'],
  ] as const)('a long tool result loses its %s', (side, text) => {
    expect(truncateToolText('abcdefghij', 4, side)).toBe(text);
  });

  it('a cut result counts code points, and tears none', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.nat(20),
        fc.constantFrom('left' as const, 'right' as const, 'middle' as const),
        (text, limit, side) => {
          const cut = truncateToolText(text, limit, side);
          const points = [...text].length;
          if (points <= limit) expect(cut).toBe(text);
          else {
            if (!/\p{Cs}/u.test(text)) expect(cut).not.toMatch(/\p{Cs}/u);
            expect(
              [...cut.replace('...(truncated)...', '').replace('...(truncated)', '').replace('(truncated)...', '')]
                .length,
            ).toBeLessThanOrEqual(limit);
          }
        },
      ),
    );
  });

  it('the transcript has the cut text, the record the whole one', async () => {
    const tool = fakeTool('good', () => 'x'.repeat(1000));
    const request = await runRequest({ ...texts(call('good', {}), 'done'), messages: [QUESTION], tools: [tool] });
    expect(request.messages[2]!.content).toBe(`${'x'.repeat(128)}...(truncated)...${'x'.repeat(128)}`);
    expect(request.calls[0]!.result).toHaveLength(1000);
  });
});

describe('what a caller sees while it runs', () => {
  it('hears of every state, message, call and result, in order', async () => {
    const events: RolloutEvent[] = [];
    await runRequest({
      ...texts(call('good', {}), 'done'),
      messages: [QUESTION],
      tools: [fakeTool('good', () => 'ok')],
      onEvent: (event) => events.push(event),
    });
    expect(
      events.map((event) =>
        event.kind === 'state' ? event.state : event.kind === 'message' ? event.message.role : event.kind,
      ),
    ).toEqual(['running', 'assistant', 'call', 'tool_calling', 'result', 'tool', 'running', 'assistant', 'completed']);
  });
});

describe('the loss mask of a rollout without token ids', () => {
  const spansOf = (text: string, spans: { field: string; start: number; end: number }[], field: string) =>
    spans.filter((span) => span.field === field).map((span) => text.slice(span.start, span.end));

  it('is 1 on what the model wrote alone; spans cover input and output exactly', async () => {
    const messages = [{ role: 'system', content: 'Be brief.' }, user('2+2?')];
    const reply = `I ask.\n${call('good', { x: 2 })}`;
    const { transcript } = await runRequest({
      ...texts(reply, '#### 4'),
      messages,
      tools: [fakeTool('good', () => '4')],
    });
    expect(transcript.input).toBe('system\nBe brief.\nuser\n2+2?\nassistant\n');
    expect(transcript.output).toBe(`${reply}\nuser\n<tool_response>\n4\n</tool_response>\nassistant\n#### 4`);
    const trained = transcript.spans
      .filter((span) => span.trained)
      .map((span) => transcript.output.slice(span.start, span.end));
    expect(trained).toEqual([reply, '#### 4']);
    expect(spansOf(transcript.input, transcript.spans, 'input').join('')).toBe(transcript.input);
    expect(spansOf(transcript.output, transcript.spans, 'output').join('')).toBe(transcript.output);
    expect(transcript.responseIds).toBeNull();
  });

  it('continues any prefix, and trains none of it', async () => {
    const calls = [{ id: 'c', type: 'function' as const, function: { name: 'f', arguments: '{}' } }];
    const messages = [
      user('q'),
      { role: 'assistant', content: '', tool_calls: calls },
      { role: 'tool', tool_call_id: 'c', content: 'ok' },
    ];
    const { transcript, promptLength } = await runRequest({ ...texts('done'), messages });
    expect(promptLength).toBe(3);
    expect(transcript.input).toBe(
      'user\nq\nassistant\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>\nuser\n<tool_response>\nok\n</tool_response>\nassistant\n',
    );
    expect(transcript.spans.filter(({ trained }) => trained)).toEqual([
      { field: 'output', start: 0, end: 4, turn: 3, kind: 'text', trained: true },
    ]);
  });

  it('has native calls and reasoning as the template would write them', async () => {
    const { model } = fakeModel((_, number) =>
      number === 0
        ? {
            text: 'I ask.',
            reasoning: 'hm',
            toolCalls: [{ id: 'a', type: 'function', function: { name: 'good', arguments: '{"x":1}' } }],
          }
        : { text: 'done' },
    );
    const { transcript, messages } = await runRequest({
      model,
      messages: [user('q')],
      tools: [fakeTool('good', () => 'ok')],
    });
    expect(transcript.output).toBe(
      '<think>\nhm\n</think>\n\nI ask.\n<tool_call>\n{"name": "good", "arguments": {"x":1}}\n</tool_call>\nuser\n<tool_response>\nok\n</tool_response>\nassistant\ndone',
    );
    expect(messages[2]).toEqual({ role: 'tool', tool_call_id: 'a', name: 'good', content: 'ok' });
  });

  it('spans cover the texts whatever model and tools say', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string(), { maxLength: 4 }),
        fc.string(),
        fc.string(),
        async (results, question, end) => {
          let at = 0;
          const tool = fakeTool('t', () => results[at++] ?? '');
          const replies = results.map(() => call('t', {}));
          const { transcript, messages } = await runRequest({
            ...texts(...replies, end),
            messages: [user(question)],
            tools: [tool],
          });
          for (const field of ['input', 'output'] as const) {
            let offset = 0;
            for (const span of transcript.spans.filter((one) => one.field === field)) {
              expect(span.start).toBe(offset);
              offset = span.end;
            }
            expect(offset).toBe(transcript[field].length);
          }
          expect(messages).toHaveLength(2 + 2 * results.length);
        },
      ),
      { numRuns: 50 },
    );
  });
});
