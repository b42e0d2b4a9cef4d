import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import {
  ChatCompletionsModel,
  type ModelDelta,
  type ModelRequest,
  runRequest,
  SglangGenerateModel,
} from '../../src/engine/index.ts';
import { ServerEvents } from '../../src/engine/model/sse.ts';
import { byteTokenizer, IM_END } from './byte-tokenizer.ts';
import { call } from './fake-model.ts';
import { fakeTool } from './fake-tool.ts';
import { type Script, type ScriptedModel, scriptedModel } from './scripted-model.ts';

let server: ScriptedModel;
afterEach(() => server?.close());

const request = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  messages: [{ role: 'user', content: 'hi' }],
  tools: [],
  sampling: {},
  maxNewTokens: null,
  inputIds: null,
  ...more,
});

async function chat(script: Script, options = {}): Promise<ChatCompletionsModel> {
  server = await scriptedModel(script);
  return new ChatCompletionsModel('m', { url: server.url, backoffMs: 1, ...options });
}

describe('server-sent events', () => {
  it('are the same however the bytes are cut', () => {
    const bytes = new TextEncoder().encode('data: eins\r\n\r\n: comment\ndata:zwei\ndata: ä drei\n\ndata: [DONE]');
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: bytes.length })), (cuts) => {
        const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const reader = new ServerEvents();
        const events = places.flatMap((place, i) => (i === 0 ? [] : reader.push(bytes.slice(places[i - 1], place))));
        expect([...events, ...reader.end()]).toEqual(['eins', 'zwei\nä drei', '[DONE]']);
      }),
    );
  });
});

describe('chat completions', () => {
  it('puts a streamed turn together: text, reasoning, calls, usage', async () => {
    const model = await chat(() => ({
      text: 'Grüße 👋',
      reasoning: 'hm',
      calls: [
        { id: 'a', name: 'f', arguments: '{"x": 1}' },
        { id: 'b', name: 'g', arguments: '{}' },
      ],
      usage: { prompt_tokens: 7, completion_tokens: 3 },
    }));
    const deltas: ModelDelta[] = [];
    const turn = await model.generate(request({ onDelta: (delta) => deltas.push(delta) }));
    expect(turn).toEqual({
      text: 'Grüße 👋',
      reasoning: 'hm',
      toolCalls: [
        { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x": 1}' } },
        { id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } },
      ],
      finishReason: 'tool_calls',
      ids: null,
      logprobs: null,
      promptTokens: 7,
      completionTokens: 3,
      retries: 0,
    });
    expect(deltas.map((delta) => (delta.kind === 'text' ? delta.text : '')).join('')).toBe('Grüße 👋');
  });

  it('asks with sampling parameters, tools and the smaller limit, and takes an answer in one piece', async () => {
    const model = await chat(() => ({ text: 'whole', whole: true }));
    const tool = { type: 'function', function: { name: 'f' } };
    const turn = await model.generate(
      request({ sampling: { temperature: 0.5, stop: ['x'], max_new_tokens: 50 }, maxNewTokens: 20, tools: [tool] }),
    );
    expect(turn.text).toBe('whole');
    expect(server.requests[0]).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: 'hi' }],
      tools: [tool],
      temperature: 0.5,
      stop: ['x'],
      max_tokens: 20,
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('sends the key if there is one', async () => {
    const keys: unknown[] = [];
    const model = await chat((_, { headers }) => {
      keys.push(headers.authorization);
      return {};
    });
    await model.generate(request());
    await new ChatCompletionsModel('m', { url: `${server.url}/`, apiKey: 'secret' }).generate(request());
    expect(keys).toEqual([undefined, 'Bearer secret']);
  });

  it.each([
    ['429', { status: 429, headers: { 'retry-after': '0' } }],
    ['503', { status: 503 }],
    ['a stream that is dropped', { text: 'half of a longer turn', dropAfter: 1 }],
    ['a stream that ends without its last words', { text: 'half', dropAfter: 2 }],
  ])('tries again after %s', async (_, bad) => {
    const model = await chat((_, { number }) => (number < 2 ? bad : { text: 'good' }));
    const deltas: string[] = [];
    const turn = await model.generate(request({ onDelta: ({ kind }) => deltas.push(kind) }));
    expect(turn).toMatchObject({ text: 'good', retries: 2 });
    expect(deltas.filter((kind) => kind === 'retry')).toHaveLength(2);
  });

  it.each([
    [400, { status: 400, body: 'what is this' }, /HTTP 400: what is this/, 'refused'],
    [400, { status: 400, body: "This model's maximum context length is 4096 tokens" }, /4096/, 'overflow'],
    [401, { status: 401, body: 'no key' }, /HTTP 401: no key/, 'refused'],
  ])('does not try again after %s', async (status, bad, message, kind) => {
    const model = await chat(() => bad);
    await expect(model.generate(request())).rejects.toMatchObject({
      message: expect.stringMatching(message),
      status,
      kind,
    });
    expect(server.requests).toHaveLength(1);
  });

  it('gives up in the end, and says how often it tried', async () => {
    const model = await chat(() => ({ status: 500 }), { attempts: 3 });
    const trouble: string[] = [];
    const failing = model.generate(request({ onTrouble: (reason) => trouble.push(reason) }));
    await expect(failing).rejects.toThrow(/HTTP 500.*\(tried 3 times\)/s);
    expect(trouble).toEqual(Array(trouble.length).fill(expect.stringContaining('HTTP 500')));
    expect(trouble).toHaveLength(2);
    const nobody = new ChatCompletionsModel('m', { url: 'http://127.0.0.1:1/v1', attempts: 1 });
    await expect(nobody.generate(request())).rejects.toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('a silent server is as good as a dropped one, and a caller can break off at once', async () => {
    const model = await chat((_, { number }) => ({ text: 'late', delay: number === 0 ? 5000 : 0 }), { idleMs: 1000 });
    // A busy machine may take an answer for silence, too.
    const { text, retries } = await model.generate(request());
    expect([text, retries]).toEqual(['late', server.requests.length - 1]);
    expect(retries).toBeGreaterThan(0);
    await server.close();
    const waiting = await chat(() => ({ delay: 5000 }));
    const stop = new AbortController();
    const running = waiting.generate(request({ signal: stop.signal }));
    setTimeout(() => stop.abort(new Error('enough')), 20);
    await expect(running).rejects.toThrow('enough');
  });

  it('plays a whole rollout: results go back as tool messages, malformed arguments as an empty object', async () => {
    const model = await chat((_, { number }) =>
      number === 0 ? { text: 'I try.', calls: [{ id: 'c1', name: 'f', arguments: '{"x": ' }] } : { text: 'done' },
    );
    const rollout = await runRequest({
      model,
      messages: [{ role: 'user', content: 'q' }],
      tools: [fakeTool('f', () => 'ok')],
    });
    expect(rollout.calls[0]).toMatchObject({ id: 'c1', raw: '{"x": ', arguments: null });
    expect(rollout.messages[1]!.tool_calls![0]!.function.arguments).toBe('{"x": ');
    expect(server.requests[1].messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: 'I try.',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      {
        role: 'tool',
        tool_call_id: 'c1',
        name: 'f',
        content: expect.stringMatching(/^Invalid JSON in arguments for 'f'/),
      },
    ]);
  });

  it('a window that is full ends the rollout as a limit does', async () => {
    const model = await chat((_, { number }) =>
      number === 0 ? { text: call('f', {}) } : { status: 400, body: 'maximum context length is 10' },
    );
    const rollout = await runRequest({
      model,
      messages: [{ role: 'user', content: 'q' }],
      tools: [fakeTool('f', () => 'ok')],
    });
    expect(rollout).toMatchObject({ state: 'completed', status: 'MAX_CONTEXT_LIMIT_REACHED', finishReason: 'length' });
    expect(rollout.transcript.output).toBe(`${call('f', {})}\nuser\n<tool_response>\nok\n</tool_response>`);
  });
});

describe('SGLang /generate, token in and token out', () => {
  const tokenizer = byteTokenizer();
  const QUESTION = [{ role: 'user', content: 'q' }];

  async function play(replies: { text: string; ids?: number[]; finish?: 'stop' | 'length' }[], more = {}) {
    server = await scriptedModel((_, { number }) => {
      const { text, ids, finish } = replies[number]!;
      return { text, ids: ids ?? [...tokenizer.encode(text), IM_END], finish: finish ?? 'stop' };
    });
    const model = new SglangGenerateModel('m', tokenizer, { url: server.url });
    return runRequest({ model, tokenizer, messages: QUESTION, tools: [fakeTool('f', () => 'ok')], ...more });
  }

  it('sends the exact ids of everything so far', async () => {
    const reply = call('f', { x: 1 });
    await play([{ text: reply }, { text: 'end' }], { sampling: { temperature: 1, seed: 4 } });
    const [first, second] = server.requests;
    expect(tokenizer.decode(first.input_ids, false)).toMatch(
      /^<\|im_start\|>system\n# Tools\n<tools>\n.*"f".*\n<\/tools><\|im_end\|>\n<\|im_start\|>user\nq<\|im_end\|>\n<\|im_start\|>assistant\n$/s,
    );
    expect(second.input_ids.slice(0, first.input_ids.length)).toEqual(first.input_ids);
    expect(tokenizer.decode(second.input_ids.slice(first.input_ids.length), false)).toBe(
      `${reply}<|im_end|>\n<|im_start|>user\n<tool_response>\nok\n</tool_response><|im_end|>\n<|im_start|>assistant\n`,
    );
    expect(first.sampling_params).toMatchObject({
      temperature: 1,
      sampling_seed: 4,
      max_new_tokens: 8192,
      skip_special_tokens: false,
    });
    expect(first.return_logprob).toBe(true);
  });

  it('lays ids, mask and log probabilities in lockstep: 1 on sampled tokens, the end of turn too', async () => {
    const { transcript } = await play([{ text: call('f', {}) }, { text: 'end' }]);
    const { responseIds, responseMask, responseLogprobs } = transcript;
    const given = '\n<|im_start|>user\n<tool_response>\nok\n</tool_response><|im_end|>\n<|im_start|>assistant\n';
    expect(tokenizer.decode(responseIds!, false)).toBe(`${call('f', {})}<|im_end|>${given}end<|im_end|>`);
    const sampled = tokenizer.encode(call('f', {})).length + 1;
    const masked = tokenizer.encode(given).length;
    const lengths = [sampled, masked, 4];
    expect(responseMask).toEqual(lengths.flatMap((length, at) => Array<number>(length).fill(at === 1 ? 0 : 1)));
    expect(responseLogprobs).toEqual(lengths.flatMap((length, at) => Array<number>(length).fill(at === 1 ? 0 : -0.5)));
    // A dump shows no special tokens.
    expect(transcript.output).toBe(`${call('f', {})}\nuser\n<tool_response>\nok\n</tool_response>\nassistant\nend`);
    expect(
      transcript.spans.filter((span) => span.trained).map(({ start, end }) => transcript.output.slice(start, end)),
    ).toEqual([call('f', {}), 'end']);
    const tool = transcript.spans.find((span) => span.turn === 2 && span.kind === 'text')!;
    expect(transcript.output.slice(tool.start, tool.end)).toBe('ok');
  });

  it('keeps the ids that were sampled, even where the tokenizer would choose others', async () => {
    const odd = [...Buffer.from('ab'), IM_END];
    const { transcript, warnings } = await play([{ text: 'ab', ids: odd }]);
    expect(transcript.responseIds).toEqual(odd);
    expect(tokenizer.encode('ab')).toEqual([259]);
    expect(warnings).toEqual([]);
  });

  it('closes a turn that was cut before its end token, with masked tokens', async () => {
    const { transcript } = await play([{ text: call('f', {}), ids: tokenizer.encode(call('f', {})) }, { text: 'end' }]);
    expect(tokenizer.decode(transcript.responseIds!, false)).toBe(
      `${call('f', {})}<|im_end|>\n<|im_start|>user\n<tool_response>\nok\n</tool_response><|im_end|>\n<|im_start|>assistant\nend<|im_end|>`,
    );
    const end = transcript.responseIds!.indexOf(IM_END);
    expect(transcript.responseMask![end]).toBe(0);
  });

  it('shows where the conversation rendered again differs (strict), or only in white space', async () => {
    const spaced = call('f', { x: 1 }).replace('{"x":1}', '{ "x":  1}');
    const strict = await play([{ text: spaced }, { text: 'end' }]);
    expect(strict.warnings[0]!.message).toMatch(
      /^Inconsistent training and inference tokenization detected \(strict\)\nFound differences:\nidx \d+:\d+ -> \d+:\d+ \| /,
    );
    await server.close();
    const lenient = await play([{ text: spaced }, { text: 'end' }], { tokenizationCheck: 'disable' });
    expect(lenient.warnings).toEqual([]);
  });

  it('says nothing of white space alone if asked to ignore it', async () => {
    const spaced = call('f', { x: 1 }).replace('</tool_call>', '\n</tool_call>');
    const told = async (tokenizationCheck: string) => {
      const { warnings } = await play([{ text: spaced }, { text: 'end' }], { tokenizationCheck });
      await server.close();
      return warnings.length;
    };
    expect(await told('strict')).toBe(1);
    expect(await told('ignore_strippable')).toBe(0);
  });

  it('continues any prefix of a conversation, and distinguishes its turns', async () => {
    const messages = [
      { role: 'user', content: 'user' },
      {
        role: 'assistant',
        content: 'a',
        tool_calls: [{ id: 'c', type: 'function' as const, function: { name: 'f', arguments: '{"x": 1}' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: 'ok' },
      { role: 'assistant', content: 'an answer' },
      { role: 'user', content: 'again' },
    ];
    const { transcript } = await play([{ text: 'end' }], { messages });
    const texts = transcript.spans
      .filter(({ kind }) => kind === 'text')
      .map(({ field, start, end }) => transcript[field as 'input' | 'output'].slice(start, end));
    expect(texts).toEqual([
      'user',
      'a',
      '\n<tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call>',
      'ok',
      'an answer',
      'again',
      'end',
    ]);
    expect(tokenizer.decode(transcript.promptIds!, true)).toBe(transcript.input);
  });

  it('a tool result that does not fit the response ends the rollout, and none of it is laid down', async () => {
    const { transcript, status, messages, calls } = await play([{ text: call('f', {}) }], {
      tools: [fakeTool('f', () => 'y'.repeat(300))],
      limits: { max_response_length: 80, max_tool_response_length: null },
    });
    expect(status).toBe('MAX_CONTEXT_LIMIT_REACHED');
    expect(transcript.responseMask).toEqual(transcript.responseIds!.map(() => 1));
    expect([messages.at(-1)!.role, calls[0]!.result_turn]).toEqual(['tool', 2]);
  });

  it('cuts the response to its limit: ids, mask, log probabilities and text together', async () => {
    const { transcript, status } = await play([{ text: 'y'.repeat(300) }], { limits: { max_response_length: 80 } });
    expect(status).toBe('MAX_CONTEXT_LIMIT_REACHED');
    expect(transcript.responseIds).toHaveLength(80);
    expect(transcript.responseMask).toHaveLength(80);
    expect(transcript.responseLogprobs).toHaveLength(80);
    expect(tokenizer.decode(transcript.responseIds!, true)).toBe(transcript.output);
    const end = transcript.spans.filter((span) => span.field === 'output').at(-1)!.end;
    expect(end).toBe(transcript.output.length);
  });

  it('takes chunks that hold only what is new', async () => {
    const ids = [...tokenizer.encode('hello'), IM_END];
    const http = (await import('node:http')).createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const [at, part] of [ids.slice(0, 2), ids.slice(2)].entries()) {
        const meta_info = {
          finish_reason: at === 1 ? { type: 'stop' } : null,
          completion_tokens: at === 0 ? 2 : ids.length,
          output_token_logprobs: part.map((id) => [-1, id, null]),
        };
        response.write(
          `data: ${JSON.stringify({ text: tokenizer.decode(part, true), output_ids: part, meta_info })}\n\n`,
        );
      }
      response.end('data: [DONE]\n\n');
    });
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    const { port } = http.address() as { port: number };
    const model = new SglangGenerateModel('m', tokenizer, { url: `http://127.0.0.1:${port}/v1` });
    let shown = '';
    const turn = await model.generate(
      request({
        inputIds: [1],
        onDelta: (delta) => {
          if (delta.kind === 'text') shown += delta.text;
        },
      }),
    );
    http.close();
    expect(turn).toMatchObject({ text: 'hello', ids, finishReason: 'stop' });
    expect(turn.logprobs).toEqual(ids.map(() => -1));
    expect(shown).toBe('hello');
  });

  it('ids, mask and text agree whatever is said', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: 'binary' }), { maxLength: 3 }), fc.string(), async (results, end) => {
        const texts = [...results.map(() => call('f', {})), end];
        const { transcript } = await play(
          texts.map((text) => ({ text })),
          { tools: [fakeTool('f', () => results[0] ?? '')], tokenizationCheck: 'disable' },
        );
        await server.close();
        expect(transcript.responseMask).toHaveLength(transcript.responseIds!.length);
        expect(transcript.output).not.toMatch(/\p{Cs}/u);
        const sampled = transcript.responseIds!.filter((_, at) => transcript.responseMask![at] === 1);
        expect(sampled).toEqual(texts.flatMap((text) => [...tokenizer.encode(text), IM_END]));
      }),
      { numRuns: 20 },
    );
  });
});
