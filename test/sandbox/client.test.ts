import { afterEach, describe, expect, test } from 'vitest';
import { retryAfterMs } from '../../src/core/http/retry.ts';
import { type ClientOptions, SandboxApiError, SandboxClient } from '../../src/sandbox/client.ts';
import { endpointOf } from '../../src/sandbox/endpoint.ts';
import { printed, type Reply, type ScriptedServer, type Seen, scriptedServer } from './scripted-server.ts';

let server: ScriptedServer;
afterEach(() => server?.close());

async function serving(reply: (seen: Seen, index: number) => Reply | Promise<Reply>, options: ClientOptions = {}) {
  server = await scriptedServer(reply);
  return new SandboxClient({ endpoint: server.url, retry: { attempts: 3, firstDelayMs: 1 }, ...options });
}
const python = (code: string) => ({ code, language: 'python' as const });

describe('where the server is', () => {
  test.each([
    ['http://h:8080', 'http://h:8080'],
    ['http://h:8080/', 'http://h:8080'],
    ['http://h:8080/run_code', 'http://h:8080'],
    ['https://h/faas/run_code/', 'https://h/faas'],
    ['https://h/faas/', 'https://h/faas'],
  ])('%s', (given, base) => {
    expect(endpointOf(given).base).toBe(base);
  });

  test('SANDBOX_FUSION_ENDPOINT, then localhost:8080', () => {
    expect(endpointOf(undefined, { SANDBOX_FUSION_ENDPOINT: 'http://e/run_code' }).base).toBe('http://e');
    expect(endpointOf(undefined, {}).base).toBe('http://localhost:8080');
  });

  test('a gateway’s key stays in the query, a password goes into the header and is never shown', async () => {
    await serving(() => ({ json: printed('') }));
    const client = new SandboxClient({ endpoint: `${server.url.replace('//', '//me:p%20w@')}/run_code?key=1` });
    await client.runCode(python(''));
    expect(server.seen[0]?.path).toBe('/run_code?key=1');
    expect(server.seen[0]?.headers.authorization).toBe(`Basic ${Buffer.from('me:p w').toString('base64')}`);
    expect(client.url).toBe(server.url);
  });

  test.each(['localhost:8080', 'ftp://h', 'nonsense'])('%s is refused by its value', (given) => {
    expect(() => new SandboxClient({ endpoint: given })).toThrow(`got ${JSON.stringify(given)}`);
  });
});

describe('every endpoint', () => {
  const config = { language: 'python' as const };
  const answer = { id: 1, prompt: 'p', labels: {} };
  const calls: [string, string, (client: SandboxClient) => Promise<unknown>, unknown, unknown][] = [
    ['POST', '/run_code', (c) => c.runCode(python('1')), printed('x'), printed('x')],
    [
      'POST',
      '/run_jupyter',
      (c) => c.runJupyter({ cells: ['1'] }),
      { status: 'Success' },
      { status: 'Success', message: '', driver: null, cells: [], executor_pod_name: null, files: {} },
    ],
    ['POST', '/get_prompts', (c) => c.getPrompts({ dataset: 'd', config }), [answer], [answer]],
    ['POST', '/get_prompt_by_id', (c) => c.getPromptById({ dataset: 'd', config, id: 1 }), answer, answer],
    ['GET', '/list_datasets', (c) => c.listDatasets(), ['d'], ['d']],
    ['POST', '/list_ids', (c) => c.listIds({ dataset: 'd', config: {} }), [1, 'a'], [1, 'a']],
    ['POST', '/get_metrics', (c) => c.getMetrics({ dataset: 'd', config: {}, results: [] }), {}, {}],
    [
      'POST',
      '/get_metrics_function',
      (c) => c.getMetricsFunction({ dataset: 'd', config: {} }),
      { function: 'f' },
      'f',
    ],
    ['GET', '/v1/ping', (c) => c.ping(), 'pong', 'pong'],
    [
      'POST',
      '/submit',
      (c) => c.submit({ dataset: 'd', id: 1, completion: '', config: {} }),
      { id: 1, accepted: true, extracted_code: '', tests: [] },
      {
        id: 1,
        accepted: true,
        extracted_code: '',
        full_code: null,
        test_code: null,
        tests: [],
        extracted_type: null,
        extra: null,
      },
    ],
  ];
  test.each(calls)('%s %s', async (method, path, call, json, expected) => {
    const client = await serving(() => ({ json }));
    await expect(call(client)).resolves.toEqual(expected);
    expect(server.seen).toMatchObject([{ method, path }]);
  });

  test('an id beyond 2^53 goes out and comes back with its digits', async () => {
    const id = 5671949450826943757n;
    const client = await serving(() => ({ text: `{"id":${id},"prompt":"p"}` }));
    const prompt = await client.getPromptById({ dataset: 'd', config: {}, id });
    expect(server.seen[0]?.body).toContain(`"id":${id}`);
    expect(prompt.id).toBe(id);
  });

  test('the token is a bearer token', async () => {
    const client = await serving(() => ({ json: 'pong' }), { token: 'secret' });
    await client.ping();
    expect(server.seen[0]?.headers.authorization).toBe('Bearer secret');
  });
});

describe('what is tried again', () => {
  test.each([429, 502, 503, 504])('%d', async (status) => {
    const client = await serving((_, index) => (index < 2 ? { status, text: '' } : { json: printed('third') }));
    expect((await client.runCode(python(''))).run_result?.stdout).toBe('third');
    expect(server.seen).toHaveLength(3);
  });

  test('a connection that breaks, before and amid the answer', async () => {
    const replies: Reply[] = ['reset', { json: printed('cut'), cutAfter: 20 }, { json: printed('whole') }];
    const client = await serving((_, index) => replies[index] as Reply);
    expect((await client.runCode(python(''))).run_result?.stdout).toBe('whole');
  });

  test('and no more often than allowed', async () => {
    const client = await serving(() => ({ status: 504, text: 'Gateway Timeout' }));
    await expect(client.runCode(python(''))).rejects.toThrow(`${server.url}/run_code answered 504: Gateway Timeout`);
    expect(server.seen).toHaveLength(3);
  });

  test.each([400, 401, 404, 422, 500])('not %d', async (status) => {
    const client = await serving(() => ({ status, json: { detail: 'no' } }));
    await expect(client.runCode(python(''))).rejects.toMatchObject({ kind: 'http', status, detail: 'no' });
    expect(server.seen).toHaveLength(1);
  });

  test('not a SandboxError: it is the answer', async () => {
    const client = await serving(() => ({ json: { status: 'SandboxError', message: 'bad base64' } }));
    expect(await client.runCode(python(''))).toMatchObject({ status: 'SandboxError', message: 'bad base64' });
    expect(server.seen).toHaveLength(1);
  });

  test('not a client timeout: the program would run again', async () => {
    const client = await serving(() => 'silence');
    const call = client.runCode(python(''), { timeoutSeconds: 0.5 });
    await expect(call).rejects.toMatchObject({ kind: 'timeout', message: expect.stringContaining('within 0.5 s') });
    expect(server.seen).toHaveLength(1);
    await server.seen[0]?.hungUp;
  });

  test('Retry-After is seconds or a date', () => {
    expect(retryAfterMs('2')).toBe(2000);
    expect(retryAfterMs('Thu, 01 Jan 1970 00:00:05 GMT', 1000)).toBe(4000);
    expect(retryAfterMs('Thu, 01 Jan 1970 00:00:05 GMT', 9000)).toBe(0);
    expect(retryAfterMs('soon')).toBe(0);
    expect(retryAfterMs(undefined)).toBe(0);
  });
});

describe('giving up', () => {
  test('an abort hangs up, so that the server can free the place', async () => {
    const abort = new AbortController();
    const client = await serving(() => {
      abort.abort(new Error('the user left'));
      return 'silence';
    });
    await expect(client.runCode(python(''), { signal: abort.signal })).rejects.toThrow('the user left');
    await server.seen[0]?.hungUp;
  });

  test('an abort ends the wait for the next try', async () => {
    const abort = new AbortController();
    const client = await serving(() => {
      setImmediate(() => abort.abort(new Error('the user left')));
      return { status: 503, headers: { 'retry-after': '3600' }, text: '' };
    });
    await expect(client.runCode(python(''), { signal: abort.signal })).rejects.toThrow('the user left');
  });

  test('an abort before the call asks nothing', async () => {
    const client = await serving(() => ({ json: 'pong' }));
    await expect(client.ping({ signal: AbortSignal.abort(new Error('too late')) })).rejects.toThrow('too late');
    expect(server.seen).toHaveLength(0);
  });

  test('a missing server is reported by name', async () => {
    const client = await serving(() => 'silence');
    await server.close();
    await expect(client.ping()).rejects.toMatchObject({
      kind: 'connection',
      message: expect.stringMatching(
        /^cannot reach the sandbox at http:\/\/127\.0\.0\.1:\d+\/v1\/ping: .*\(after 3 tries\)$/,
      ),
    });
  });
});

describe('an invalid answer', () => {
  test.each([
    ['<html>', /did not answer in JSON: <html>/],
    ['{"status":"Done"}', /did not answer as SandboxFusion does: status: /],
    ['null', /did not answer as SandboxFusion does: the answer: /],
  ])('%s', async (text, message) => {
    const client = await serving(() => ({ text }));
    await expect(client.runCode(python(''))).rejects.toThrow(message);
    await expect(client.runCode(python(''))).rejects.toBeInstanceOf(SandboxApiError);
  });

  test('a 422 names the fields', async () => {
    const detail = [
      { type: 'missing', loc: ['body', 'code'], msg: 'Field required' },
      { type: 'missing', loc: ['body'], msg: 'Field required' },
    ];
    const client = await serving(() => ({ status: 422, json: { detail } }));
    await expect(client.runCode(python(''))).rejects.toThrow(
      'answered 422: code: Field required; body: Field required',
    );
  });

  test('a redirect is shown, not followed: the token must not leave', async () => {
    const client = await serving(() => ({ status: 307, headers: { location: 'http://elsewhere/' }, text: '' }));
    await expect(client.ping()).rejects.toThrow('answered 307: it points to http://elsewhere/');
  });
});

test('many requests with one signal warn about nothing', async () => {
  const warnings: string[] = [];
  const onWarning = (warning: Error) => warnings.push(warning.message);
  process.on('warning', onWarning);
  const client = await serving(() => ({ json: 'pong' }));
  const { signal } = new AbortController();
  await Promise.all(Array.from({ length: 50 }, () => client.ping({ signal })));
  await new Promise(setImmediate);
  process.off('warning', onWarning);
  expect(warnings).toEqual([]);
});
