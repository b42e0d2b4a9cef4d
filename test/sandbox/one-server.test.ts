// With a real server: programs of many client processes share its places, and a whole dialogue runs.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Limiter } from '../../src/core/async/limiter.ts';
import { checkCorrectness } from '../../src/sandbox/check-correctness.ts';
import { SandboxClient } from '../../src/sandbox/client.ts';
import { type SandboxServer, startSandbox } from '../../src/sandbox/server/index.ts';
import { SessionClient } from '../../src/sandbox/sessions/client.ts';
import { placesAre } from './places.ts';
import { printed, scriptedServer } from './scripted-server.ts';

const directory = mkdtempSync(join(tmpdir(), 'one-server-test-'));
const CLIENT = join(directory, 'client-process.mjs');
const LIMIT = 3;
const MBPP = fileURLToPath(new URL('../../../shared/data/mbpp/mbpp.jsonl', import.meta.url));
const SQUARES = [1, 2, 3, 4].map((n) => ({ input: { stdin: `${n}` }, output: { stdout: `${n * n}` } }));

let server: SandboxServer;
beforeAll(async () => {
  const problems = join(directory, 'squares.jsonl');
  writeFileSync(problems, JSON.stringify({ id: 7, content: 'Square the number', test: SQUARES, labels: {} }));
  const entry = fileURLToPath(new URL('client-process.ts', import.meta.url));
  buildSync({
    banner: { js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);" },
    entryPoints: [entry],
    outfile: CLIENT,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  });
  const tables = [`squares=${problems}`, ...(existsSync(MBPP) ? [`mbpp=${MBPP}`] : [])];
  server = await startSandbox({ port: 0, maxConcurrency: LIMIT, datasets: tables });
});
afterAll(async () => {
  await server?.close('now');
  rmSync(directory, { recursive: true, force: true });
});

type Run = [value: number, start: number, end: number];

/** A separate client process; the outputs of its programs, in the order of its requests. */
async function clientProcess(count: number, seconds: number): Promise<(Run | null)[]> {
  const child = spawn(process.execPath, [CLIENT, server.url, String(count), String(seconds)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk) => (text += chunk));
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`the client process ended with ${code}`);
  return JSON.parse(text) as (Run | null)[];
}

/** How many of the programs ran at the same moment, by their own clocks. */
function mostAtOnce(runs: Run[]): number {
  const events = runs.flatMap(([, start, end]) => [
    { at: start, by: 1 },
    { at: end, by: -1 },
  ]);
  let [now, most] = [0, 0];
  for (const { by } of events.sort((a, b) => a.at - b.at || a.by - b.by)) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
}

// verl's rate limiter tests: one node with 10 workers, 6 tasks and a limit of 3; two processes that share one limit.
describe.each([1, 2])('%i client processes with six programs each', (processes) => {
  test('each gets its results in order, and never more than the server’s limit run at once', async () => {
    const all = await Promise.all(Array.from({ length: processes }, () => clientProcess(6, 0.2)));
    for (const runs of all) expect(runs.map((run) => run?.[0])).toEqual([0, 1, 2, 3, 4, 5]);
    const most = mostAtOnce(all.flat().filter((run) => run !== null));
    expect(most).toBeLessThanOrEqual(LIMIT);
  });
});

const SLEEPER = { code: 'import time\ntime.sleep(300)', language: 'python', run_timeout: 300 } as const;

test('all places are used, and a client that hangs up frees its place', async () => {
  const client = new SandboxClient({ endpoint: server.url });
  const abort = new AbortController();
  const endless = Array.from({ length: LIMIT }, () => client.runCode(SLEEPER, { signal: abort.signal }));
  await placesAre(server.url, LIMIT, 0);
  const waiting = client.runCode({ code: 'print("in")', language: 'python' });
  await placesAre(server.url, LIMIT, 1);
  abort.abort(new Error('gone'));
  for (const one of endless) await expect(one).rejects.toThrow('gone');
  expect((await waiting).run_result?.stdout).toBe('in\n');
});

test('a full queue sends clients away with 504, and they come back until they are served', async () => {
  const narrow = await startSandbox({ port: 0, maxConcurrency: 1, maxQueue: 1 });
  try {
    const eager = new SandboxClient({ endpoint: narrow.url, retry: { attempts: 1 } });
    const patient = new SandboxClient({ endpoint: narrow.url, retry: { attempts: 30 } });
    const program = (client: SandboxClient) => client.runCode({ code: 'print("done")', language: 'python' });
    const abort = new AbortController();
    const held = [1, 2].map(() => patient.runCode(SLEEPER, { signal: abort.signal }).catch(() => {}));
    await placesAre(narrow.url, 1, 1);
    await expect(program(eager)).rejects.toThrow(/answered 504: the queue is full: 1 programs run and 1 wait$/);
    const coming = [1, 2, 3, 4].map(() => program(patient));
    abort.abort();
    await Promise.all(held);
    const served = await Promise.all(coming);
    expect(served.map((one) => one.run_result?.stdout)).toEqual(Array(4).fill('done\n'));
  } finally {
    await narrow.close('now');
  }
});

test('the server answers an error of a dataset as the client reports it', async () => {
  const client = new SandboxClient({ endpoint: `${server.url}/run_code` });
  expect(await client.ping()).toBe('pong');
  expect(await client.listDatasets()).toContain('squares');
  await expect(client.listIds({ dataset: 'nope', config: {} })).rejects.toThrow(
    'answered 400: no eval class found for dataset nope',
  );
  await expect(client.getPromptById({ dataset: 'squares', config: {}, id: 8 })).rejects.toMatchObject({ status: 500 });
  const wrong = { code: 'x', language: 'brainfuck' as 'python' };
  await expect(client.runCode(wrong)).rejects.toThrow(/answered 422: language: Input should be 'python', 'cpp'/);
  await expect(client.runCode({ code: 'x', language: 'python', files: { a: 'x' } })).resolves.toMatchObject({
    status: 'SandboxError',
  });
});

test('submit judges in the sandbox, also with custom_extract_logic', async () => {
  const client = new SandboxClient({ endpoint: server.url });
  const submit = (completion: string, config: object = {}) =>
    client.submit({ dataset: 'squares', id: 7, completion, config: { language: 'python', ...config } });
  expect(await submit('```python\nprint(int(input()) ** 2)\n```')).toMatchObject({ accepted: true });
  const wrong = await submit('```python\nprint(int(input()) + 2)\n```', { extra: { run_all_cases: true } });
  expect([wrong.accepted, wrong.tests.map((one) => one.passed)]).toEqual([false, [false, true, false, false]]);
  const logic = 'submit_code_blocks([CodeBlock(priority=40, language="python", code=completion[::-1])])';
  const reversed = [...'print(int(input()) ** 2)'].reverse().join('');
  expect(await submit(reversed, { custom_extract_logic: logic })).toMatchObject({ accepted: true });
});

test.skipIf(!existsSync(MBPP))('MBPP by number, as in the tutorial (skipped without ../shared/data)', async () => {
  const client = new SandboxClient({ endpoint: server.url });
  const code = 'def remove_Occ(s, c):\n    i, j = s.find(c), s.rfind(c)\n    return s[:i] + s[i + 1:j] + s[j + 1:]';
  const completion = `Here:\n\`\`\`python\n${code}\n\`\`\``;
  expect(await client.submit({ dataset: 'mbpp', id: '11', completion, config: {} })).toMatchObject({
    id: '11',
    accepted: true,
    // The set-up code of the problem, here empty, is a line above.
    extracted_code: `\n${code}`,
  });
});

test('check_correctness with a function, through the server', async () => {
  const client = new SandboxClient({ endpoint: server.url });
  const cases = { fn_name: 'f', inputs: ['[1, 2]', '[3]', '[]'], outputs: ['2', '9', '0'] };
  const code = 'class Solution:\n    def f(self, xs: List[int]) -> int:\n        return len(xs)';
  const limiter = new Limiter(2);
  const run = (request: Parameters<SandboxClient['runCode']>[0], call: { signal: AbortSignal }) =>
    client.runCode(request, call);
  expect((await checkCorrectness(run, cases, code, { limiter })).results).toEqual([true, false, true]);
});

test('a session: start, actions that build on one another, postprocess, reward', async () => {
  const sessions = new SessionClient({ endpoint: server.url });
  const sid = await sessions.startInstance('squares/7');
  expect(await sessions.processAction(sid, 'def square(n):\n    return n * n')).toEqual({ content: '', error: null });
  expect(await sessions.processAction(sid, '```python\nprint(square(12))\n```')).toEqual({
    content: '144\n',
    error: null,
  });
  const last =
    '<tool_call>\n{"name": "code_interpreter", "arguments": {"code": "print(int(input()) ** 2)"}}\n</tool_call><|im_end|>';
  // A program that reads input is a solution of this problem, and is judged by its tests.
  expect((await sessions.processAction(sid, last)).content).toBe('Accepted: 4 of 4 tests passed.');
  expect((await sessions.postprocess(sid)).error).toBeNull();
  expect(await sessions.processAction(sid, 'print(1)')).toMatchObject({ content: 'Error', error: { status: 409 } });
  expect(await sessions.computeReward(sid)).toMatchObject({ reward: 1, answer: { f2p_count: 4, f2p_total: 4 } });
  // As verl sends it: a JSON integer beyond 2^53.
  expect(await sessions.computeReward(BigInt(sid))).toMatchObject({ reward: 1 });
  expect(await sessions.computeReward('12')).toMatchObject({ reward: 0, error: { status: 404 } });
});

test('against a foreign server the limit is per process: two limiters may fill it twice', async () => {
  let flying = 0;
  let most = 0;
  let fill = (): void => {};
  const full = new Promise<void>((resolve) => {
    fill = resolve;
  });
  const foreign = await scriptedServer(async () => {
    most = Math.max(most, ++flying);
    // The first ones wait for one another: both limits have to be filled.
    if (most === 4) fill();
    await full;
    flying--;
    return { json: printed('') };
  });
  const client = new SandboxClient({ endpoint: foreign.url });
  const run = (limiter: Limiter) =>
    limiter.run((signal) => client.runCode({ code: '', language: 'python' }, { signal }));
  const [here, there] = [new Limiter(2), new Limiter(2)];
  await Promise.all(Array.from({ length: 8 }, (_, index) => run(index % 2 === 0 ? here : there)));
  await foreign.close();
  expect(most).toBe(4);
});
