import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type RequestListener, request, type Server } from 'node:http';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { parseLine } from '../../../src/core/dump/parse-line.ts';
import { contentText } from '../../../src/core/formats/content-text.ts';
import { isLoopback } from '../../../src/core/http/guard.ts';
import { RecordFile } from '../../../src/engine/record/record-file.ts';
import { RecordingProxy } from '../../../src/engine/record/recording-proxy.ts';
import { RolloutRecorder } from '../../../src/engine/record/rollout-recorder.ts';
import { directoryWith, rolloutViewer } from '../../program.ts';

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** A model server with given answers, and a recorder before it. */
async function recorded(listener: RequestListener, { isOneRollout = false, wantsTokens = false } = {}) {
  const server: Server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const folder = directoryWith({});
  const problems: string[] = [];
  const onProblem = (text: string) => problems.push(text);
  const recorder = new RolloutRecorder({
    open: (name) => new RecordFile(folder, name, onProblem),
    isOneRollout,
    now: () => new Date(0),
  });
  const proxy = new RecordingProxy({
    modelUrl: `http://127.0.0.1:${port}/v1`,
    recorder,
    allowHosts: [],
    token: null,
    wantsTokens,
    onProblem,
  });
  const url = await proxy.listen('127.0.0.1', 0);
  open.push(async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  open.push(() => proxy.close());
  const files = () => readdirSync(folder).sort();
  const events = (name: string) =>
    readFileSync(join(folder, name), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  return { url, direct: `http://127.0.0.1:${port}`, folder, files, events, problems, proxy };
}

const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

const user = (content: string) => ({ role: 'user', content });

/** Answers every chat with the number of its messages. */
const counting: RequestListener = async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const { messages } = JSON.parse(body);
  const message = {
    role: 'assistant',
    content: `reply ${messages.length} to ${messages.at(-1).content}`,
    refusal: null,
  };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ id: 'x', choices: [{ index: 0, finish_reason: 'stop', message }] }));
};

describe('what the client gets', () => {
  test('is what the server sent, to the byte, whatever its chunks are', async () => {
    const text = `data: {"choices":[{"index":0,"delta":{"content":"Grüße 👩‍💻 ${'x'.repeat(5000)}"},"finish_reason":null}]}\n\ndata: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\r\n\r\ndata: [DONE]\n\n`;
    const bytes = Buffer.from(text);
    for (const step of [1, 7, 100, 4096, bytes.length]) {
      const { url, events } = await recorded(async (request, response) => {
        request.resume();
        response.writeHead(200, { 'content-type': 'text/event-stream', 'x-odd': 'a, b' });
        for (let at = 0; at < bytes.length; at += step) {
          response.write(bytes.subarray(at, at + step));
          if (at % 3 === 0) await new Promise(setImmediate);
        }
        response.end();
      });
      const answer = await post(`${url}/v1/chat/completions`, { messages: [user('hi')], stream: true });
      expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
      expect(answer.headers.get('x-odd')).toBe('a, b');
      const reply = events('rollout-1.jsonl').find(({ request, type }) => type === 'message' && request === 0);
      expect(reply.message.content).toBe(`Grüße 👩‍💻 ${'x'.repeat(5000)}`);
    }
  });

  test('is equal over 300 requests of three protocols, with borders of chunks inside of characters', async () => {
    const said = 'Grüße 👩‍💻 中文 ';
    const streams: Record<string, string[]> = {
      '/v1/chat/completions': [
        JSON.stringify({ choices: [{ index: 0, delta: { content: said }, finish_reason: null }] }),
        JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
        '[DONE]',
      ],
      '/v1/responses': [
        JSON.stringify({ type: 'response.output_text.delta', delta: said }),
        JSON.stringify({
          type: 'response.completed',
          response: {
            id: 'r',
            status: 'completed',
            output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: said }] }],
          },
        }),
      ],
      '/v1/messages': [
        JSON.stringify({ type: 'message_start', message: { id: 'm', role: 'assistant' } }),
        JSON.stringify({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
        JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: said } }),
        JSON.stringify({ type: 'message_delta', delta: { stop_reason: 'end_turn' } }),
        JSON.stringify({ type: 'message_stop' }),
      ],
    };
    const bytesOf = (path: string) => Buffer.from((streams[path] ?? []).map((data) => `data: ${data}\n\n`).join(''));
    const { url, events, files, problems } = await recorded(async (request, response) => {
      request.resume();
      const bytes = bytesOf(request.url ?? '');
      const step = 1 + (Number(request.headers['x-step']) % 61);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let at = 0; at < bytes.length; at += step) {
        response.write(bytes.subarray(at, at + step));
        if (at % 2 === 0) await new Promise(setImmediate);
      }
      response.end();
    });
    const paths = Object.keys(streams);
    for (let round = 0; round < 100; round++)
      await Promise.all(
        paths.map(async (path, at) => {
          const body = { messages: [user('q')], input: 'q', stream: true };
          const headers = { 'x-step': String(round * 3 + at), 'x-rollout-id': `${round}-${at}` };
          const answer = await post(`${url}${path}`, body, headers);
          expect(Buffer.from(await answer.arrayBuffer()).equals(bytesOf(path))).toBe(true);
        }),
      );
    expect(files()).toHaveLength(300);
    for (const name of files()) {
      const { message } = events(name).find(({ request, type }) => type === 'message' && request !== undefined);
      expect(contentText(message.content)).toBe(said);
    }
    expect(problems).toEqual([]);
  });

  test.each([400, 401, 429, 500, 529])('is the error %i as it came', async (status) => {
    const { url, events } = await recorded((request, response) => {
      request.resume();
      response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '7' });
      response.end('{"error": {"message": "no"}}');
    });
    const answer = await post(`${url}/v1/chat/completions`, { messages: [user('hi')] });
    expect([answer.status, answer.headers.get('retry-after'), await answer.text()]).toEqual([
      status,
      '7',
      '{"error": {"message": "no"}}',
    ]);
    expect(events('rollout-1.jsonl').at(-1)).toMatchObject({
      type: 'response',
      status,
      problem: '{"error": {"message": "no"}}',
    });
  });

  test('and an answer packed as zstd is recorded unpacked', async () => {
    // {"id":"z","object":"chat.completion","choices":[…{"role":"assistant","content":"packed ✓"}…]} by zstd 1.5.
    const body = Buffer.from(
      'KLUv/QRYlQMAoogbILAnjQEMw2C14Ih3HCTxRG6i1pZskySXGQ0larZBQlJOD+F5bjgeAAQVl5jtXbgrb/SutKpU0zYq2ezYiEiquIxmcnV7pSZsComqpQ4jgb1AZKmdga14KpMbvVItKsySF9iU3PYeJgw5mrGNqJ0Ardg+dw==',
      'base64',
    );
    const { url, direct, events, proxy } = await recorded((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'zstd' });
      response.end(body);
    });
    const raw = (base: string) =>
      new Promise<Buffer>((resolve, reject) => {
        const asked = request(`${base}/v1/chat/completions`, { method: 'POST' }, (answer) => {
          const chunks: Buffer[] = [];
          answer.on('data', (chunk: Buffer) => chunks.push(chunk));
          answer.on('end', () => resolve(Buffer.concat(chunks)));
        });
        asked.on('error', reject);
        asked.end(JSON.stringify({ messages: [user('hi')] }));
      });
    expect((await raw(url)).equals(await raw(direct))).toBe(true);
    await proxy.close();
    expect(
      events('rollout-1.jsonl').find(({ type, request: by }) => type === 'message' && by === 0).message.content,
    ).toBe('packed ✓');
  });

  test('is a packed body as it came, and the record holds its text', async () => {
    const body = gzipSync(JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'hello' } }] }));
    const { url, events } = await recorded((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(body);
    });
    expect(await (await post(`${url}/v1/chat/completions`, { messages: [user('hi')] })).json()).toEqual({
      choices: [{ message: { role: 'assistant', content: 'hello' } }],
    });
    expect(
      events('rollout-1.jsonl').find(({ request, type }) => type === 'message' && request === 0).message.content,
    ).toBe('hello');
  });

  test.each(['content-length', 'transfer-encoding'])(
    'is cut where the server breaks off behind a whole body (%s)',
    async (header) => {
      const body = JSON.stringify({
        choices: [{ message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
      });
      const { url, proxy, events } = await recorded((request, response) => {
        request.resume();
        response.writeHead(200, {
          'content-type': 'application/json',
          ...(header === 'content-length' ? { [header]: String(body.length + 5) } : {}),
        });
        response.write(body, () => response.destroy());
      });
      const answer = post(`${url}/v1/chat/completions`, { messages: [user('hi')] }).then((one) => one.text());
      await expect(answer).rejects.toThrow();
      await proxy.close();
      expect(events('rollout-1.jsonl').at(-1)).toMatchObject({
        cut: true,
        finish: 'stop',
        problem: expect.stringMatching(/broke off/),
      });
      const record = JSON.stringify({ session_of: 'recorder', events: events('rollout-1.jsonl') });
      expect(parseLine(record, { validation: false }).rollout?.ended).toMatchObject({
        how: 'aborted',
        evidence: expect.stringMatching(/broke off/),
      });
    },
  );

  test('is an error that names the server if nothing answers', async () => {
    const { url, proxy, events } = await recorded((request) => request.socket.destroy());
    const answer = await post(`${url}/v1/chat/completions`, { messages: [user('hi')] });
    expect(answer.status).toBe(502);
    expect(await answer.text()).toContain('does not answer');
    await proxy.close();
    expect(events('rollout-1.jsonl').at(-1).problem).toContain('does not answer');
  });
});

describe('what is recorded', () => {
  test('of two clients with one name is two histories, and neither is a compaction of the other', async () => {
    const waiting: (() => void)[] = [];
    const { url, events, proxy } = await recorded(async (asked, response) => {
      asked.resume();
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (waiting.length === 2) for (const go of waiting) go();
      });
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'yes' } }] }));
    });
    await Promise.all(
      ['one', 'two'].map(async (text) =>
        (await post(`${url}/rollout/A/v1/chat/completions`, { messages: [user(text)] })).text(),
      ),
    );
    await proxy.close();
    const kinds = events('A.jsonl').flatMap(({ type, kind }) => (type === 'history' ? [kind] : []));
    expect(kinds).toEqual(['main', 'subagent']);
  });

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('a request packed as %s reaches the server as it is, and the record holds its text', async (encoding, packed) => {
    const body = packed(JSON.stringify({ messages: [user('packed question')] }));
    let came = Buffer.alloc(0);
    let said: string | undefined;
    const { url, events, proxy, problems } = await recorded(async (asked, response) => {
      said = asked.headers['content-encoding'];
      for await (const chunk of asked) came = Buffer.concat([came, chunk as Buffer]);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'hello' } }] }));
    });
    const headers = { 'content-type': 'application/json', 'content-encoding': encoding };
    await (await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body: new Uint8Array(body) })).text();
    await proxy.close();
    expect([came.equals(body), said, problems]).toEqual([true, encoding, []]);
    const texts = events('rollout-1.jsonl').flatMap(({ type, message }) =>
      type === 'message' ? [message.content] : [],
    );
    expect(texts).toEqual(['packed question', 'hello']);
  });

  test('a packed request that asks for tokens is sent unpacked, and says so', async () => {
    let came: unknown;
    const { url } = await recorded(
      async (asked, response) => {
        let body = '';
        for await (const chunk of asked) body += chunk;
        came = [asked.headers['content-encoding'], JSON.parse(body).logprobs];
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end('{"choices":[]}');
      },
      { wantsTokens: true },
    );
    const body = new Uint8Array(gzipSync(JSON.stringify({ messages: [user('hi')] })));
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    await (await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })).text();
    expect(came).toEqual([undefined, true]);
  });

  test.each([
    ['broken JSON', '{"messages": [', {}, 'its body does not follow the protocol'],
    ['another packing', 'x', { 'content-encoding': 'snappy' }, 'its body cannot be read: it is packed as snappy'],
    ['a broken packing', 'x', { 'content-encoding': 'gzip' }, 'its body cannot be read'],
  ])('%s is passed on and said not to be recorded', async (_, body, more, reason) => {
    let came = '';
    const { url, files, problems } = await recorded(async (asked, response) => {
      for await (const chunk of asked) came += chunk;
      response.writeHead(400);
      response.end('no');
    });
    const answer = await fetch(`${url}/v1/messages`, { method: 'POST', headers: { ...more }, body });
    expect([answer.status, await answer.text(), came, files()]).toEqual([400, 'no', body, []]);
    expect(problems).toEqual([
      expect.stringContaining(`a request to /messages was passed on and is not recorded: ${reason}`),
    ]);
  });

  test('the key of the client reaches the server and no file', async () => {
    let seen = '';
    const { url, folder, files } = await recorded((request, response) => {
      seen = request.headers.authorization ?? '';
      void counting(request, response);
    });
    await post(`${url}/v1/chat/completions`, { messages: [user('hi')] }, { authorization: 'Bearer sk-hidden' });
    expect(seen).toBe('Bearer sk-hidden');
    expect(
      files()
        .map((name) => readFileSync(join(folder, name), 'utf8'))
        .join(''),
    ).not.toContain('sk-hidden');
  });

  test('two samples of one prompt stay two rollouts; each goes on by its own reply', async () => {
    let count = 0;
    const { url, files, events } = await recorded(async (request, response) => {
      request.resume();
      const message = { role: 'assistant', content: `answer ${count++}` };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ choices: [{ message, finish_reason: 'stop' }] }));
    });
    const ask = async (messages: unknown[]) =>
      (await (await post(`${url}/v1/chat/completions`, { messages })).json()).choices[0].message;
    const [a, b] = [await ask([user('q')]), await ask([user('q')])];
    await ask([user('q'), b, user('more')]);
    await ask([user('q'), a, user('more')]);
    expect(files()).toEqual(['rollout-1.jsonl', 'rollout-2.jsonl']);
    const said = (name: string) =>
      events(name)
        .filter(({ type }) => type === 'message')
        .map(({ message }) => message.content);
    expect(said('rollout-1.jsonl')).toEqual(['q', 'answer 0', 'more', 'answer 3']);
    expect(said('rollout-2.jsonl')).toEqual(['q', 'answer 1', 'more', 'answer 2']);
  });

  test('a history that is left before its end is a branch', async () => {
    const { url, folder, events } = await recorded(counting);
    const ask = async (messages: unknown[]) =>
      (await (await post(`${url}/v1/chat/completions`, { messages })).json()).choices[0].message;
    const first = await ask([user('q')]);
    await ask([user('q'), first, user('one')]);
    await ask([user('q'), first, user('two')]);
    expect(
      events('rollout-1.jsonl')
        .filter(({ type }) => type === 'history')
        .map(({ kind, after }) => [kind, after]),
    ).toEqual([
      ['main', null],
      ['branch', 1],
    ]);
    const { stdout } = await rolloutViewer(['show', join(folder, 'rollout-1.jsonl'), '--json']);
    expect(
      JSON.parse(stdout).contexts.map(({ kind, turns }: { kind: string; turns: number[] }) => [kind, turns]),
    ).toEqual([
      ['main', [0, 1, 2, 3]],
      ['branch', [4, 5]],
    ]);
  });

  test('with one rollout, another system prompt is a subagent, and the same one a compaction', async () => {
    const { url, files, events } = await recorded(counting, { isOneRollout: true });
    const ask = async (messages: unknown[]) =>
      (await (await post(`${url}/v1/chat/completions`, { messages })).json()).choices[0].message;
    const system = { role: 'system', content: 'main' };
    await ask([system, user('q')]);
    await ask([{ role: 'system', content: 'search' }, user('find')]);
    await ask([system, user('so far: …'), user('go on')]);
    expect(files()).toEqual(['rollout.jsonl']);
    expect(
      events('rollout.jsonl')
        .filter(({ type }) => type === 'history')
        .map(({ kind }) => kind),
    ).toEqual(['main', 'subagent', 'compaction']);
  });

  test('a name in path or header is data, and a reward reaches its rollout', async () => {
    const { url, files, folder } = await recorded(counting);
    await post(`${url}/rollout/..%2F..%2Fetc%2Fx/v1/chat/completions`, { messages: [user('a')] });
    await post(`${url}/v1/chat/completions`, { messages: [user('b')] }, { 'x-rollout-id': 'two' });
    expect(files()).toEqual([expect.stringMatching(/^__\.\._etc_x-[0-9a-f]{16}\.jsonl$/), 'two.jsonl']);
    expect((await post(`${url}/rollout/two/reward`, { score: 0.5, ground_truth: 'b' })).status).toBe(200);
    expect((await post(`${url}/rollout/three/reward`, { score: 0.5 })).status).toBe(404);
    const { stdout } = await rolloutViewer(['ls', folder, '--json']);
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).score)
        .sort(),
    ).toEqual([0.5, null]);
  });

  test('an answer that breaks off is kept, and said to be cut', async () => {
    let breakOff = () => {};
    const { url, events, proxy } = await recorded((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"choices":[{"index":0,"delta":{"content":"half"},"finish_reason":null}]}\n\n');
      breakOff = () => response.destroy();
    });
    const answer = await post(`${url}/v1/chat/completions`, { messages: [user('hi')], stream: true });
    const reader = answer.body!.getReader();
    expect(Buffer.from((await reader.read()).value!).toString()).toContain('half');
    breakOff();
    await expect(reader.read()).rejects.toThrow();
    await proxy.close();
    expect(events('rollout-1.jsonl').at(-1)).toMatchObject({ type: 'response', cut: true });
    expect(events('rollout-1.jsonl').at(-2).message.content).toBe('half');
  });

  test("Anthropic's messages and OpenAI's responses are read as theirs", async () => {
    const { url, folder } = await recorded((request, response) => {
      request.resume();
      const isAnthropic = request.url?.endsWith('/messages') === true;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const events = isAnthropic
        ? [
            { type: 'message_start', message: { id: 'm', role: 'assistant', usage: { input_tokens: 3 } } },
            { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
            { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'I look.' } },
            {
              type: 'content_block_start',
              index: 1,
              content_block: { type: 'tool_use', id: 't', name: 'look', input: {} },
            },
            { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"at": ' } },
            { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '1}' } },
            { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 5 } },
            { type: 'message_stop' },
          ]
        : [
            { type: 'response.created', response: { id: 'r', output: [] } },
            {
              type: 'response.completed',
              response: {
                id: 'r',
                status: 'completed',
                output: [
                  { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] },
                  { type: 'function_call', call_id: 'c', name: 'look', arguments: '{"at": 1}' },
                ],
              },
            },
          ];
      response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
    });
    await (
      await post(`${url}/v1/messages`, { system: 'S', messages: [user('a')], stream: true }, { 'x-rollout-id': 'a' })
    ).text();
    await (
      await post(`${url}/v1/responses`, { instructions: 'S', input: 'a', stream: true }, { 'x-rollout-id': 'b' })
    ).text();
    for (const name of ['a', 'b']) {
      const { stdout } = await rolloutViewer(['show', join(folder, `${name}.jsonl`), '--json']);
      const { turns } = JSON.parse(stdout);
      expect(turns.map(({ role }: { role: string }) => role)).toEqual(['system', 'user', 'assistant']);
      expect(
        turns[2].tool_calls.map(({ name: tool, arguments: args }: { name: string; arguments: unknown }) => [
          tool,
          args,
        ]),
      ).toEqual([['look', { at: 1 }]]);
    }
  });

  test('a body that is no JSON is passed on, and belongs to no rollout', async () => {
    const { url, files } = await recorded((request, response) => {
      request.resume();
      response.end('fine');
    });
    const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', body: '{"messages": [' });
    expect(await answer.text()).toBe('fine');
    expect(files()).toEqual([]);
  });

  test('another Host is refused', async () => {
    const { url } = await recorded(counting);
    expect(isLoopback(new URL(url).hostname)).toBe(true);
    const { request } = await import('node:http');
    const status = await new Promise((resolve) => {
      request(`${url}/v1/chat/completions`, { method: 'POST', headers: { host: 'evil.example' } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      }).end('{}');
    });
    expect(status).toBe(403);
  });
});
