// Many calls: each ends with one verdict, whatever happens to the server or to the run.
import { type ChildProcess, spawn } from 'node:child_process';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { REPLAYS } from '../../src/replay/entries.ts';
import {
  openBackend,
  type PlannedCall,
  planCalls,
  type ReplayBackend,
  type ReplayOutcome,
  ReplayTools,
  replayMany,
} from '../../src/replay/index.ts';
import { Journal } from '../../src/replay/journal/journal.ts';
import { bin } from '../program.ts';
import { printed, type Reply, type ScriptedServer, type Seen, scriptedServer } from '../sandbox/scripted-server.ts';
import { backend, callLine, closeBackend, rowsOf, SANDBOX } from './fixture.ts';

const started: ChildProcess[] = [];
const servers: ScriptedServer[] = [];
afterEach(async () => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
  for (const server of servers.splice(0)) await server.close();
});
afterAll(closeBackend);

/** A server of its own process, which may be killed. */
async function serve(port: number): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [bin, 'sandbox', '--port', String(port), '--backend', SANDBOX], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  started.push(child);
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await expect.poll(() => said).toMatch(/listening on http/);
  return { child, url: /listening on (\S+)/.exec(said)![1]! };
}

async function scripted(reply: (seen: Seen, index: number) => Reply): Promise<string> {
  const server = await scriptedServer(reply);
  servers.push(server);
  return server.url;
}

/** `print(i)` with i as its recorded result; every tenth of another one. */
const numberLines = (count: number) =>
  Array.from({ length: count }, (_, i) =>
    callLine('code_interpreter', { code: `print(${i})` }, String(i % 10 === 3 ? -1 : i)),
  );
const expected = (count: number) =>
  Array.from({ length: count }, (_, i) => (i % 10 === 3 ? 'different' : 'normalised'));

async function plansOf(lines: readonly string[], tools: ReplayTools) {
  const { path, rows } = await rowsOf(lines);
  return { path, rollouts: rows.map((row) => planCalls(row, { tools })) };
}

async function collect(results: AsyncGenerator<{ outcome: ReplayOutcome }>, onEach = (_: number) => {}) {
  const outcomes: ReplayOutcome[] = [];
  for await (const { outcome } of results) onEach(outcomes.push(outcome));
  return outcomes;
}

const using = (sandbox: ReplayBackend): ReplayTools => {
  const tools = new ReplayTools();
  tools.use(sandbox.run);
  return tools;
};

const verdicts = (outcomes: readonly ReplayOutcome[]) => outcomes.map(({ verdict, status }) => verdict ?? status);

/** Pyodide starts a process a run: fewer will do there. */
const MANY = SANDBOX === 'bubblewrap' ? 250 : 60;

describe(`${MANY} calls on ${SANDBOX}`, () => {
  test('in this process: one verdict each, in order', { timeout: 240_000 }, async () => {
    const sandbox = await backend();
    const tools = using(sandbox);
    const { rollouts } = await plansOf(numberLines(MANY), tools);
    const outcomes = await collect(replayMany({ rollouts, tools, backend: sandbox }));
    expect(verdicts(outcomes)).toEqual(expected(MANY));
    expect(outcomes.map(({ locator }) => locator)).toEqual(rollouts.map(([plan]) => plan!.locator));
  });

  test('through a URL whose server is killed and restarted in the middle: none lost', {
    timeout: 240_000,
  }, async () => {
    const first = await serve(0);
    const sandbox = await openBackend({ sandbox: first.url, env: {}, patience: 60 });
    const waits: (string | null)[] = [];
    sandbox.onWait = (wait) => waits.push(wait?.reason ?? null);
    const tools = using(sandbox);
    const { path, rollouts } = await plansOf(numberLines(MANY), tools);
    const journal = Journal.of(path);
    let restarted: Promise<unknown> | null = null;
    const results = replayMany({ rollouts, tools, backend: sandbox, concurrency: 8, journal });
    const outcomes = await collect(results, (count) => {
      if (count !== Math.floor(MANY / 3)) return;
      first.child.kill('SIGKILL');
      restarted = new Promise((resolve) => first.child.once('exit', resolve)).then(() =>
        serve(Number(new URL(first.url).port)),
      );
    });
    await restarted;
    expect(verdicts(outcomes)).toEqual(expected(MANY));
    expect(waits).toContain('the sandbox cannot be reached');
    expect(waits.at(-1)).toBeNull();
    const kept = Journal.of(path);
    for (const [plan] of rollouts) expect(kept.entries(REPLAYS, plan!.record)).toHaveLength(1);
  });
});

describe('a server', () => {
  test('has 2 calls in flight at the most', async () => {
    let inFlight = 0;
    let most = 0;
    const server = await scriptedServer(async (seen) => {
      most = Math.max(most, ++inFlight);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inFlight--;
      return { json: printed(`${/print\((\d+)\)/.exec(seen.body)?.[1]}\n`) };
    });
    servers.push(server);
    const sandbox = await openBackend({ sandbox: server.url, env: {} });
    const tools = using(sandbox);
    const { rollouts } = await plansOf(numberLines(30), tools);
    expect(verdicts(await collect(replayMany({ rollouts, tools, backend: sandbox })))).toEqual(expected(30));
    expect(most).toBe(2);
  });

  test('that says 429 is waited for, and every call has its verdict', async () => {
    const url = await scripted((seen, i) =>
      i % 3 === 1
        ? { status: 429, json: { detail: 'busy' } }
        : { json: printed(`${/print\((\d+)\)/.exec(seen.body)?.[1]}\n`) },
    );
    const sandbox = await openBackend({ sandbox: url, env: {} });
    const tools = using(sandbox);
    const { rollouts } = await plansOf(numberLines(12), tools);
    expect(verdicts(await collect(replayMany({ rollouts, tools, backend: sandbox })))).toEqual(expected(12));
  });

  test('that never answers is an error of each call, soon', async () => {
    const sandbox = await openBackend({ sandbox: 'http://127.0.0.1:9', env: {}, patience: 0.2 });
    const tools = using(sandbox);
    const { rollouts } = await plansOf(numberLines(20), tools);
    const outcomes = await collect(replayMany({ rollouts, tools, backend: sandbox }));
    expect(outcomes).toHaveLength(20);
    for (const { status, reason } of outcomes) {
      expect(status).toBe('error');
      expect(reason).toContain('cannot reach the sandbox at http://127.0.0.1:9');
    }
  });

  test('that fails at a program says so, and is no drift', async () => {
    const url = await scripted(() => ({
      json: {
        status: 'SandboxError',
        message: 'no space left on device',
        compile_result: null,
        run_result: null,
        files: {},
      },
    }));
    const sandbox = await openBackend({ sandbox: url, env: {} });
    const tools = using(sandbox);
    const { rollouts } = await plansOf(numberLines(1), tools);
    const [outcome] = await collect(replayMany({ rollouts, tools, backend: sandbox }));
    expect(outcome).toMatchObject({ status: 'error', reason: 'no space left on device', verdict: null });
  });
});

describe('a run that is ended', () => {
  test('goes on where it was: what has an answer is not asked again, errors are', async () => {
    let asked = 0;
    let isBroken = true;
    const url = await scripted((seen) => {
      asked++;
      // Five calls have an answer by then: the fourth differs, so it was asked twice.
      if (isBroken && asked > 6) return { status: 500, json: { detail: 'broken' } };
      return { json: printed(`${/print\((\d+)\)/.exec(seen.body)?.[1]}\n`) };
    });
    const sandbox = await openBackend({ sandbox: url, env: {} });
    const tools = using(sandbox);
    const { path, rollouts } = await plansOf(numberLines(8), tools);
    const run = (resume: boolean, repeat = 1) =>
      collect(
        replayMany({ rollouts, tools, backend: sandbox, concurrency: 1, journal: Journal.of(path), resume, repeat }),
      );
    expect(verdicts(await run(false)).filter((word) => word === 'error')).toHaveLength(3);
    isBroken = false;
    asked = 0;
    expect(verdicts(await run(true))).toEqual(expected(8));
    expect(asked).toBe(3);
    await run(true);
    expect(asked).toBe(3);
    await run(true, 2);
    expect(asked).toBe(3 + 16);
  });

  test('by its signal keeps what it has, and gives no verdict for what was cut off', async () => {
    const sandbox = await backend();
    const tools = using(sandbox);
    const { path, rollouts } = await plansOf(
      ['print(0)', 'print(1)', 'import time\ntime.sleep(60)', 'print(3)'].map((code) =>
        callLine('code_interpreter', { code }, '0'),
      ),
      tools,
    );
    const stop = new AbortController();
    const journal = Journal.of(path);
    const states = new Map<PlannedCall, string>();
    const outcomes = await collect(
      replayMany({
        rollouts,
        tools,
        backend: sandbox,
        concurrency: 1,
        journal,
        signal: stop.signal,
        onState: (plan, { kind }) => {
          states.set(plan, kind);
          if (kind === 'running' && plan === rollouts[2]![0]) setTimeout(() => stop.abort(new Error('enough')), 20);
        },
      }),
    );
    expect(verdicts(outcomes)).toEqual(['normalised', 'different']);
    expect(rollouts.map(([plan]) => journal.entries(REPLAYS, plan!.record).length)).toEqual([1, 1, 0, 0]);
    expect([...states.values()]).toEqual(['done', 'done', 'cancelled', 'cancelled']);
  });

  test('a call can be ended alone; the others have their verdicts', async () => {
    const sandbox = await backend();
    const tools = using(sandbox);
    const { rollouts } = await plansOf(
      ['print(0)', 'import time\ntime.sleep(60)', 'print(0)', 'print(1)'].map((code) =>
        callLine('code_interpreter', { code }, '0'),
      ),
      tools,
    );
    const stops = new Map(rollouts.map(([plan]) => [plan!, new AbortController()]));
    const states = new Map<PlannedCall, string>();
    const outcomes = await collect(
      replayMany({
        rollouts,
        tools,
        backend: sandbox,
        concurrency: 1,
        signalOf: (plan) => stops.get(plan)!.signal,
        onState: (plan, { kind }) => {
          states.set(plan, kind);
          if (kind !== 'running' || plan !== rollouts[1]![0]) return;
          // The one that waits is out at once, the one that runs when its program has ended.
          stops.get(rollouts[2]![0]!)!.abort(new Error('not this one'));
          expect(states.get(rollouts[2]![0]!)).toBe('cancelled');
          stops.get(plan)!.abort(new Error('enough'));
        },
      }),
    );
    expect(verdicts(outcomes)).toEqual(['normalised', 'different']);
    expect([...states.values()]).toEqual(['done', 'cancelled', 'cancelled', 'done']);
  });
});
