import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { Agent, createServer, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bin, directoryWith } from '../../program.ts';
import { countOf } from '../../support/tier.ts';

const REQUESTS = countOf(800, 10_000);
/** Bytes of images, in requests of 1 MB. */
const IMAGES = countOf(5, 100);
const PATHS = ['/v1/chat/completions', '/v1/responses', '/v1/messages'];

/** Streams of each protocol that say a text; the text comes in pieces of drawn length. */
function events(path: string, pieces: readonly string[]): string {
  const lines =
    path === PATHS[0]
      ? [
          ...pieces.map((content) => ({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })),
          { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
        ]
      : path === PATHS[1]
        ? [
            ...pieces.map((delta) => ({ type: 'response.output_text.delta', delta })),
            {
              type: 'response.completed',
              response: {
                id: 'r',
                status: 'completed',
                output: [
                  { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: pieces.join('') }] },
                ],
              },
            },
          ]
        : [
            { type: 'message_start', message: { id: 'm', role: 'assistant' } },
            { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
            ...pieces.map((text) => ({
              type: 'content_block_delta',
              index: 0,
              delta: { type: 'text_delta', text },
            })),
            { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
            { type: 'message_stop' },
          ];
  return lines.map((line) => `data: ${JSON.stringify(line)}\n\n`).join('');
}

const drawn = fc.sample(
  fc.record({
    path: fc.constantFrom(...PATHS),
    pieces: fc.array(
      fc.string({ unit: fc.constantFrom('a', ' ', 'ü', '中', '👩‍💻', '"', '\\', '\n'), minLength: 1, maxLength: 12 }),
      {
        minLength: 1,
        maxLength: 6,
      },
    ),
    border: fc.integer({ min: 1, max: 40 }),
    status: fc.oneof(
      { weight: 9, arbitrary: fc.constant(200) },
      { weight: 1, arbitrary: fc.integer({ min: 400, max: 529 }) },
    ),
    isWhole: fc.boolean(),
  }),
  { numRuns: REQUESTS, seed: 41 },
);

test(`${REQUESTS} requests of three protocols, and ${IMAGES} MB of images, reach client and server to the byte`, async () => {
  const image = 'A'.repeat(1 << 20);
  let [bodies, connections] = [0, 0];
  const answerOf = (at: number): { status: number; body: Buffer; border: number } => {
    const { path, pieces, status, isWhole, border } = drawn[at % REQUESTS] ?? drawn[0]!;
    const text = status === 200 ? events(path, pieces) : JSON.stringify({ error: { message: pieces.join('') } });
    return { status, body: Buffer.from(text), border: isWhole ? text.length * 4 : border };
  };
  const server = createServer(async (asked, response) => {
    const at = Number(asked.headers['x-number']);
    for await (const chunk of asked) bodies += (chunk as Buffer).length;
    const { status, body, border } = answerOf(at);
    response.writeHead(status, { 'content-type': status === 200 ? 'text/event-stream' : 'application/json' });
    for (let from = 0; from < body.length; from += border) {
      response.write(body.subarray(from, from + border));
      if (from % 3 === 0) await new Promise(setImmediate);
    }
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const folder = directoryWith({});
  const child = spawn(process.execPath, [bin, 'record', '--out', folder, '--model-url', `http://127.0.0.1:${port}`]);
  const url = await new Promise<string>((resolve) => {
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk;
      const found = /OPENAI_BASE_URL=(\S+)\/v1/.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const ask = (at: number, body: string): Promise<{ status: number; body: Buffer }> =>
    new Promise((resolve, reject) => {
      const headers = { 'x-number': String(at), 'x-rollout-id': `r${at % 500}`, 'content-type': 'application/json' };
      const out = request(
        `${url}${drawn[at % REQUESTS]?.path}`,
        { method: 'POST', agent, headers },
        (answer: IncomingMessage) => {
          const chunks: Buffer[] = [];
          answer.on('data', (chunk: Buffer) => chunks.push(chunk));
          answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(chunks) }));
          answer.on('error', reject);
        },
      );
      out.on('socket', () => connections++);
      out.on('error', reject);
      out.end(body);
    });
  const sent = { bytes: 0, wrong: [] as number[] };
  const one = async (at: number, body: string): Promise<void> => {
    sent.bytes += Buffer.byteLength(body);
    const got = await ask(at, body);
    const want = answerOf(at);
    if (got.status !== want.status || !got.body.equals(want.body)) sent.wrong.push(at);
  };
  try {
    const question = (at: number) => ({ role: 'user', content: `question ${at}` });
    const worker = async (first: number): Promise<void> => {
      for (let at = first; at < REQUESTS; at += 16)
        await one(at, JSON.stringify({ model: 'm', messages: [question(at)], input: [question(at)], stream: true }));
    };
    await Promise.all(Array.from({ length: 16 }, (_, first) => worker(first)));
    for (let at = 0; at < IMAGES; at++) {
      const content = [{ type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } }];
      const message = { role: 'user', content };
      await one(at, JSON.stringify({ model: 'm', messages: [message], input: [message], stream: true }));
    }
  } finally {
    child.kill('SIGTERM');
    await new Promise((resolve) => child.once('exit', resolve));
    agent.destroy();
    server.closeAllConnections();
    server.close();
  }
  expect(sent.wrong).toEqual([]);
  expect(bodies).toBe(sent.bytes);
  expect(connections).toBe(REQUESTS + IMAGES);
  // Every answer is recorded, and each text of a whole answer is what the server said.
  let [responses, texts] = [0, 0];
  for (const name of readdirSync(folder))
    for (const line of readFileSync(join(folder, name), 'utf8').trimEnd().split('\n')) {
      const event = JSON.parse(line);
      if (event.type === 'response') responses++;
      if (event.type === 'message' && event.request !== undefined) texts++;
    }
  expect(responses).toBe(REQUESTS + IMAGES);
  const whole = (count: number) => drawn.slice(0, count).filter(({ status }) => status === 200).length;
  expect(texts).toBe(whole(REQUESTS) + whole(IMAGES));
});
