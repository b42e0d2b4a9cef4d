import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, createServer, request, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { replyBytes } from '../src/engine/record/reply-bytes.ts';
import { cpuSeconds, figure, interleaved } from './support/measure.ts';

const PATHS = { chat: '/v1/chat/completions', responses: '/v1/responses', messages: '/v1/messages' } as const;
type Protocol = keyof typeof PATHS;
const PROTOCOLS = Object.keys(PATHS) as Protocol[];
const CHUNK = `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'Grüße 👩‍💻 ' }, finish_reason: null }] })}\n\n`;
const agent = new Agent({ keepAlive: true, maxSockets: 600 });

/** The recorder between a client and a scripted server, against none: first bytes, processor time a chunk, many streams, equal bytes. */
export async function run(): Promise<void> {
  const server = await scripted();
  const folder = mkdtempSync(join(tmpdir(), 'rollout-viewer-bench-'));
  const recorder = await recorded(server.url, folder);
  try {
    await firstByte(server.url, recorder.url);
    await perChunk(recorder);
    await together(server.url, recorder.url);
    await equal(recorder.url);
  } finally {
    recorder.child.kill();
    server.close();
    agent.destroy();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function firstByte(direct: string, through: string): Promise<void> {
  const ask = (url: string) => asked(url, 'chat', { 'x-chunks': '3' });
  for (let i = 0; i < 30; i++) await ask(through);
  const [ours, bare] = await interleaved(
    300,
    async () => (await ask(through)).first,
    async () => (await ask(direct)).first,
  );
  figure(
    'first byte',
    `${ours.toFixed(2)} ms`,
    `without the recorder ${bare.toFixed(2)} ms: ${(ours - bare).toFixed(2)} ms more`,
    ours / bare,
    '≤ 1 ms more',
  );
}

async function perChunk({ url, child }: { url: string; child: ChildProcess }): Promise<void> {
  const chunks = 1000;
  const streams = 8;
  const before = cpuSeconds(child.pid ?? 0);
  await Promise.all(
    Array.from({ length: streams }, () => asked(url, 'chat', { 'x-chunks': String(chunks), 'x-pace': '1' })),
  );
  const spent = ((cpuSeconds(child.pid ?? 0) - before) * 1000) / (chunks * streams);
  figure(
    'processor time a streamed chunk',
    `${spent.toFixed(3)} ms`,
    `${streams} streams of ${chunks}, one a millisecond`,
    spent,
    '≤ 0.3 ms',
  );
}

async function together(direct: string, through: string): Promise<void> {
  const all = async (url: string) => {
    const started = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 512 }, () => asked(url, 'chat', { 'x-chunks': '50', 'x-pace': '2' })),
    );
    const whole = answers.filter(({ digest }) => digest === answers[0]?.digest).length;
    return { took: performance.now() - started, whole };
  };
  const [bare, ours] = [await all(direct), await all(through)];
  figure(
    '512 streams at once',
    `${ours.whole} whole in ${(ours.took / 1000).toFixed(1)} s`,
    `without ${(bare.took / 1000).toFixed(1)} s`,
    ours.took / bare.took,
    '512 whole',
  );
}

async function equal(through: string): Promise<void> {
  const total = Number(process.env.REQUESTS ?? 3000);
  let different = 0;
  const one = async (number: number): Promise<void> => {
    const protocol = PROTOCOLS[number % 3] ?? 'chat';
    const isStreamed = number % 2 === 0;
    const status = number % 17 === 0 ? [400, 429, 500, 503, 529][number % 5] : 200;
    const odd = 1 + (number % 13);
    const { digest } = await asked(through, protocol, {
      'x-reply': String(number),
      'x-odd': String(odd),
      'x-status': String(status),
      'x-stream': String(isStreamed),
    });
    if (digest !== digestOf(replyOf(protocol, number, isStreamed))) different++;
  };
  for (let from = 0; from < total; from += 16)
    await Promise.all(Array.from({ length: Math.min(16, total - from) }, (_, at) => one(from + at)));
  figure(
    'bytes of three protocols, odd borders, errors',
    `${total - different} of ${total} equal`,
    'the bytes that the server sent',
    different,
    '0 different',
  );
}

const replyOf = (protocol: Protocol, number: number, isStreamed: boolean): Buffer =>
  replyBytes(
    protocol,
    {
      turn: number,
      text: `Grüße 👩‍💻 ${'語'.repeat(number % 40)} ${number}`,
      thought: number % 3 === 0 ? 'hmm' : '',
      calls: number % 4 === 0 ? [{ id: `c${number}`, name: 'add', arguments: '{"a": "ü"}' }] : [],
      finish: 'stop',
    },
    'm',
    isStreamed,
  ).body;

const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

function asked(
  url: string,
  protocol: Protocol,
  headers: Record<string, string>,
): Promise<{ first: number; digest: string }> {
  const body = JSON.stringify(
    protocol === 'responses'
      ? { model: 'm', input: 'hi', stream: true }
      : { model: 'm', messages: [{ role: 'user', content: `hi ${Math.random()}` }], stream: true },
  );
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const hash = createHash('sha256');
    let first = 0;
    const out = request(
      `${url}${PATHS[protocol]}`,
      {
        method: 'POST',
        agent,
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers },
      },
      (answer) => {
        answer.on('data', (chunk: Buffer) => {
          first ||= performance.now() - started;
          hash.update(chunk);
        });
        answer.on('end', () => resolve({ first, digest: hash.digest('hex') }));
        answer.on('error', reject);
      },
    );
    out.on('error', reject);
    out.end(body);
  });
}

/** A model server that does as its headers say. */
async function scripted(): Promise<{ url: string; close: () => void }> {
  const server: Server = createServer((asking, answer) => {
    asking.resume().on('end', () => {
      const header = (name: string): string => String(asking.headers[name] ?? '');
      const protocol = PROTOCOLS.find((one) => asking.url === PATHS[one]) ?? 'chat';
      asking.socket.setNoDelay(true);
      if (header('x-reply') !== '') {
        const isStreamed = header('x-stream') === 'true';
        const bytes = replyOf(protocol, Number(header('x-reply')), isStreamed);
        answer.writeHead(Number(header('x-status')), {
          'content-type': isStreamed ? 'text/event-stream' : 'application/json',
        });
        const step = Math.max(Number(header('x-odd')), Math.ceil(bytes.length / 12));
        for (let at = 0; at < bytes.length; at += step) answer.write(bytes.subarray(at, at + step));
        answer.end();
        return;
      }
      answer.writeHead(200, { 'content-type': 'text/event-stream' });
      let left = Number(header('x-chunks'));
      const pace = Number(header('x-pace'));
      const more = (): void => {
        if (left-- <= 0) answer.end('data: [DONE]\n\n');
        else {
          answer.write(CHUNK);
          if (pace > 0) setTimeout(more, pace);
          else setImmediate(more);
        }
      };
      more();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function recorded(modelUrl: string, folder: string): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(
    process.execPath,
    ['dist/rollout-viewer.js', 'record', '--out', folder, '--model-url', modelUrl],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  return new Promise((resolve) => {
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk;
      const url = /ANTHROPIC_BASE_URL=(\S+)/.exec(text)?.[1];
      if (url !== undefined) resolve({ url, child });
    });
  });
}
