// Real network faults on loopback give no score, are reported once with their cause, and --resume heals them.
import { readFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Cause, Settings } from '../../src/engine/index.ts';
import { directoryWith, rolloutViewer } from '../program.ts';
import { breaks, shown, workplace } from './broken-run.ts';
import {
  certificates,
  closeOf,
  type Served,
  type Services,
  services,
  TROUBLES,
  type Trouble,
} from './faulty-servers.ts';

let all: Services;
beforeAll(async () => {
  all = await services();
});
afterAll(() => {
  for (const one of Object.values(all)) one.close();
});

/** In the words of each trouble. */
const SAYS: Record<keyof typeof TROUBLES, RegExp> = {
  'a 204 without a body': /the answer is empty \(HTTP 204\)|answered 204|HTTP 204/,
  'an empty answer': /answer is empty/,
  'the page of a gateway, with status 200':
    /(?:no|not) JSON.*The gateway is being updated|not answer in JSON.*The gateway is/,
  'a redirect in a circle': /307: (?:a redirect to|it points to) \//,
  'a compressed answer that nobody asked for': /the answer is compressed \(gzip\)/,
  'headers of a megabyte': /the headers of the answer are longer than 16 kB/,
  'less than its Content-Length says': /connection was closed before the end of the answer|another length/,
  'what is not HTTP': /the answer is not HTTP/,
  'a stream of events that are no JSON': /(?:no|not) JSON.*hello|not answer in JSON.*hello/s,
  'an answer without an end': /the answer is longer than 256 MB/,
};
const names = Object.keys(TROUBLES) as (keyof typeof TROUBLES)[];

describe('a model server that gives', () => {
  it.each(names)('%s', async (name) => {
    const isRefusal = name === 'a redirect in a circle';
    const place = workplace({ model: all.model });
    const healed = await breaks(
      all.model,
      TROUBLES[name],
      isRefusal ? 'model_refused' : 'model_gone',
      SAYS[name],
      place,
    );
    const clean = workplace({ model: all.model });
    await clean.run();
    expect(healed).toEqual(shown(clean.rows()));
  });

  it('whole answers over HTTP/1.0, closed behind each', async () => {
    const body = '{"choices": [{"message": {"content": "#### 4"}, "finish_reason": "stop"}]}';
    all.model.be((_, { socket }) => void socket.end(`HTTP/1.0 200 OK\r\nConnection: close\r\n\r\n${body}`));
    const { run, said } = workplace({ model: all.model });
    expect(await run()).toMatchObject({ done: 2, meanScore: 1 });
    all.model.be(null);
    expect(said).toEqual([]);
  });

  it('a letter at a time, and never a whole answer', async () => {
    const timers: NodeJS.Timeout[] = [];
    all.model.be((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      timers.push(setInterval(() => response.write(' '), 20));
    });
    const { run, rows, unmade, said } = workplace({ model: all.model });
    const broken = await run({ timeout: 3 });
    all.model.be(null);
    for (const timer of timers) clearInterval(timer);
    expect(broken).toMatchObject({ done: 0, failed: 2 });
    expect([rows(), unmade()]).toEqual([[], ['model_hung', 'model_hung']]);
    expect(said.filter((line) => line.includes('[model_hung'))).toHaveLength(1);
    expect(await run({}, true)).toMatchObject({ done: 2, meanScore: 1 });
  });
});

const entry = (name: string, config: string) => `{class_name: ${name}, config: {${config}}}`;
const IN_SESSION = { extra_info: { tools_kwargs: { session: { create_kwargs: { instance_hash: 1 } } } } };
const SERVICES: Record<string, { server: () => Served; cause: Cause; place: () => ReturnType<typeof workplace> }> = {
  'a sandbox': {
    server: () => all.sandbox,
    cause: 'sandbox_fault',
    place: () =>
      workplace({ model: all.model, tools: entry('code_interpreter', `sandbox_fusion_url: "${all.sandbox.url}"`) }),
  },
  'a reward service': {
    server: () => all.reward,
    cause: 'reward_fault',
    place: () => workplace({ model: all.model, settings: { reward: 'http', reward_url: all.reward.url } }),
  },
  'a retrieval service': {
    server: () => all.retrieval,
    cause: 'tool_unavailable',
    place: () =>
      workplace({ model: all.model, tools: entry('search', `retrieval_service_url: "${all.retrieval.url}"`) }),
  },
  'a session server': {
    server: () => all.session,
    cause: 'tool_unavailable',
    place: () =>
      workplace({ model: all.model, tools: entry('session', `session_url: "${all.session.url}"`), task: IN_SESSION }),
  },
};
/** Of the troubles that a client meets in its own way; those of connections are tried again, seconds apart. */
const OF_SERVICES = [
  'an empty answer',
  'the page of a gateway, with status 200',
  'a redirect in a circle',
  'a compressed answer that nobody asked for',
] as const;

describe.each(Object.entries(SERVICES))('%s that gives', (_, { server, cause, place }) => {
  it.each(OF_SERVICES)('%s', async (name) => {
    const healed = await breaks(server(), TROUBLES[name], cause, SAYS[name], place());
    const clean = place();
    await clean.run();
    expect(healed).toEqual(shown(clean.rows()));
  });
});

describe('an MCP server that gives', () => {
  it.each([
    ['an empty answer', /Unexpected content type/],
    ['the page of a gateway, with status 200', /Unexpected content type: text\/html/],
    ['a redirect in a circle', /Redirect to .* not followed/],
    ['an answer without an end', /longer than 64 MB|terminated/],
  ] as const)('%s', async (name, says) => {
    const servers = directoryWith({
      'servers.json': JSON.stringify({ mcpServers: { here: { url: `${all.mcp.url}/mcp` } } }),
    });
    const tools = `{class_name: m, config: {type: mcp}, mcp: {mcp_servers_config_path: ${join(servers, 'servers.json')}}}`;
    const place = () => workplace({ model: all.model, tools });
    const healed = await breaks(all.mcp, TROUBLES[name], 'tool_unavailable', says, place(), '"tools/call"');
    const clean = place();
    await clean.run();
    expect(healed).toEqual(shown(clean.rows()));
  });
});

it('a retrieval service that answers with an error in the place of results found nothing out', async () => {
  const trouble: Trouble = (response) => void response.end('{"detail": "the index is being built"}');
  await breaks(
    all.retrieval,
    trouble,
    'tool_unavailable',
    /no list 'result'.*index is being built/,
    SERVICES['a retrieval service']!.place(),
  );
});

it('a host that is not there', async () => {
  const settings = {
    rewards: { gsm8k: 'http' },
    reward: 'http',
    reward_url: 'http://nowhere.invalid/',
  } as Partial<Settings>;
  const { run, rows, said, unmade } = workplace({ model: all.model, settings });
  expect(await run()).toMatchObject({ done: 0, failed: 2 });
  expect([rows(), unmade()]).toEqual([[], ['reward_fault', 'reward_fault']]);
  expect(said.filter((line) => line.includes('[reward_fault'))).toEqual([
    expect.stringMatching(/nowhere\.invalid\/: getaddrinfo \w+ nowhere\.invalid: .*is DNS there\?/),
  ]);
  expect(await run({ reward_url: all.reward.url }, true)).toMatchObject({ done: 2, meanScore: 0.5 });
});

const made = certificates();

describe(`TLS${made === null ? ' (skipped: no openssl here)' : ''}`, () => {
  /** An https server with one of the certificates. */
  async function secure(certificate: 'cert' | 'expired') {
    const server = createTlsServer(
      { key: readFileSync(made!.key), cert: readFileSync(made![certificate]) },
      (_, response) => void response.end('{"reward": 0.5}'),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return {
      url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
      close: () => closeOf(server as never),
    };
  }

  it.skipIf(made === null)(
    'with a certificate that nobody knows ends a run before its first rollout, with what to do',
    async () => {
      const { url, close } = await secure('cert');
      const { run, rows } = workplace({ model: all.model });
      await expect(run({ model_url: `${url}/v1` })).rejects.toThrow(/signed by itself; NODE_EXTRA_CA_CERTS=FILE makes/);
      close();
      expect(rows()).toEqual([]);
    },
  );

  it.skipIf(made === null)('with such a certificate at a reward service is no score', async () => {
    const { url, close } = await secure('cert');
    const settings = { reward: 'http', reward_url: url } as Partial<Settings>;
    const { run, rows, said } = workplace({ model: all.model, settings });
    expect(await run()).toMatchObject({ done: 0, failed: 2 });
    close();
    expect(rows()).toEqual([]);
    expect(said.filter((line) => line.includes('[reward_fault'))).toEqual([
      expect.stringContaining('NODE_EXTRA_CA_CERTS'),
    ]);
  });

  it.skipIf(made === null)('with a known certificate that has expired is reported from the command line', async () => {
    const { url, close } = await secure('expired');
    const folder = directoryWith({ 't.jsonl': '{"prompt": "2 + 2?", "ground_truth": "4", "data_source": "gsm8k"}\n' });
    const ended = await rolloutViewer(
      ['rollout', 't.jsonl', '--model-url', `${url}/v1`, '--model', 'm', '--out', 'out'],
      { cwd: folder, env: { NODE_EXTRA_CA_CERTS: made!.expired } },
    );
    close();
    expect(ended.stderr).toContain(
      `--model-url ${url}/v1: certificate has expired: the server's certificate has expired`,
    );
    expect(ended.code).toBe(2);
  });

  it('asked of a server that does not speak it is reported before the first rollout', async () => {
    const { run } = workplace({ model: all.model });
    await expect(run({ model_url: all.model.url.replace('http:', 'https:') })).rejects.toThrow(
      /TLS failed: what answers there does not speak https; does the address begin with http:\/\/ \?/,
    );
  });
});
