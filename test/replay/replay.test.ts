// Recorded calls run again, on dumps whose truth is known.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { DumpRecord } from '../../src/core/dump/dump-file.ts';
import type { JsonObject } from '../../src/core/json/value.ts';
import {
  diffOf,
  editCall,
  historyOf,
  openBackend,
  planCalls,
  type ReplayOutcome,
  ReplayTools,
  replayCall,
  replayMany,
  rulesWithout,
  standingOutcome,
  standingWord,
} from '../../src/replay/index.ts';
import { Journal } from '../../src/replay/journal/journal.ts';
import { VERL_TOOLS } from '../engine/verl-tools.ts';
import { backend, callLine, closeBackend, madeLine, rowsOf, SANDBOX } from './fixture.ts';

afterAll(closeBackend);

const CODES = [
  'print(2 + 2)',
  'rate = 0.1\nprint(200000 + 200000 * rate)',
  'for i in range(200):\n    print(i * i)',
  'print(undefined_name)',
  'import sys\nprint("out")\nprint("err", file=sys.stderr)',
  'import sys\nsys.exit(3)',
  'x = [1, 2',
  'pass',
  'print({"b", "a", "c", "d", "e"})',
  'print(object())',
  'import time\nprint("took", time.perf_counter(), "s")',
  'print("第一段\\u2028 \\x1b[31mred")',
];

interface Options {
  repeat?: number;
  session?: boolean;
  tools?: ReplayTools;
  keys?: JsonObject;
}

async function replayAll(
  rows: readonly DumpRecord[],
  { repeat = 1, session = false, tools = new ReplayTools() }: Options = {},
) {
  const sandbox = await backend();
  tools.use(sandbox.run);
  const outcomes: ReplayOutcome[] = [];
  const rollouts = rows.map((row) => planCalls(row, { tools, session }));
  for await (const { outcome } of replayMany({ rollouts, tools, backend: sandbox, repeat })) outcomes.push(outcome);
  return outcomes;
}
const words = (outcomes: readonly ReplayOutcome[]) => outcomes.map(({ status, verdict }) => `${status} ${verdict}`);

describe('calls that the engine recorded', () => {
  test.each(['verl', 'rollout-viewer'] as const)(
    'are all the same on the same backend, in a %s dump',
    async (writer) => {
      for (const side of ['left', 'middle', 'right'] as const) {
        const { rows } = await rowsOf([
          await madeLine(CODES, { writer, side }),
          await madeLine(CODES.slice(0, 3), { writer, limit: null }),
        ]);
        const outcomes = await replayAll(rows);
        expect(outcomes).toHaveLength(CODES.length + 3);
        expect(outcomes.filter(({ status }) => status !== 'same')).toEqual([]);
        expect(outcomes[2]).toMatchObject({ compared: 'shown_part', reason: '256 of 1,054 characters' });
        expect(
          outcomes.filter(({ verdict }) => verdict === 'normalised').every(({ reason }) => reason?.includes('but for')),
        ).toBe(true);
      }
    },
  );

  test('that were changed afterwards are found, and no other', async () => {
    const line = await madeLine(CODES.slice(0, 4), { limit: null });
    const { output } = JSON.parse(line) as { output: string };
    const seeded = {
      ...JSON.parse(line),
      output: output.replace('<tool_response>\n4\n', '<tool_response>\n5\n').replace('\n39601\n', '\n39602\n'),
    };
    const { rows } = await rowsOf([line, JSON.stringify(seeded)]);
    const outcomes = await replayAll(rows);
    expect(words(outcomes.slice(0, 4)).every((word) => word.startsWith('same'))).toBe(true);
    expect(words(outcomes.slice(4))).toEqual(['drift different', 'same same', 'drift different', 'same same']);
    expect(outcomes[4]).toMatchObject({ recorded: { text: '5\n' }, result: { text: '4\n' }, turn: 1, call: 0 });
    expect(diffOf(outcomes[6]!)).toContainEqual(expect.objectContaining({ op: 'removed', text: '39602' }));
  });

  test('that fail now, or no longer fail, are named so', async () => {
    const { rows } = await rowsOf([
      callLine('code_interpreter', { code: 'print(1 / 0)' }, '4'),
      callLine(
        'code_interpreter',
        { code: 'print(4)' },
        'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\nZeroDivisionError: division by zero',
      ),
      callLine('code_interpreter', { code: 'while True: pass', timeout: 0.3 }, '4'),
      callLine('code_interpreter', { code: 'x = 1 / 0' }, ''),
    ]);
    const outcomes = await replayAll(rows);
    expect(words(outcomes)).toEqual(['drift now_fails', 'drift now_succeeds', 'error infra', 'drift now_fails']);
    expect(outcomes.map(({ reason }) => reason)).toEqual([
      'exit status 1',
      null,
      expect.stringContaining('did not end within the time limit'),
      'exit status 1',
    ]);
    expect(outcomes[0]?.attempts[0]).toMatchObject({
      exit_status: 1,
      stdout: '',
      stderr: expect.stringContaining('ZeroDivisionError'),
    });
  });

  test.skipIf(SANDBOX !== 'bubblewrap')('each have a different hash seed (skipped without bubblewrap)', async () => {
    const letters = '[c for c in {"a", "b", "c", "d", "e", "f", "g", "h"}]';
    const { rows } = await rowsOf([callLine('code_interpreter', { code: `print(${letters})` }, 'other')]);
    const [outcome] = await replayAll(rows, { repeat: 3 });
    expect(words([outcome!])).toEqual(['drift flaky']);
  });

  test('that come out differently each time are flaky, and a drifted one is not', async () => {
    const { rows } = await rowsOf([
      callLine('code_interpreter', { code: 'import random\nprint(random.random())' }, '0.5'),
      callLine('code_interpreter', { code: 'print(5)' }, '4'),
      callLine('code_interpreter', { code: 'print(4)' }, '4'),
    ]);
    const outcomes = await replayAll(rows, { repeat: 3 });
    expect(words(outcomes)).toEqual(['drift flaky', 'drift different', 'same normalised']);
    expect(outcomes[0]).toMatchObject({ reason: '3 outcomes in 3 runs: 1 ×, 1 ×, 1 ×' });
    expect(outcomes[0]?.outcomes).toHaveLength(3);
    expect(outcomes[1]?.outcomes).toEqual([{ result: '5\n', count: 3, verdict: 'different' }]);
    const { min, median, max } = outcomes[1]!.time!;
    expect(min <= median && median <= max && min > 0).toBe(true);
  });

  test('with nothing to compare are unknown, and show the new result', async () => {
    const { rows } = await rowsOf([
      callLine('code_interpreter', { code: 'print(4)' }, 'no stdout here'),
      callLine('code_interpreter', { code: 'print(4)' }, null),
    ]);
    const outcomes = await replayAll(rows);
    expect(words(outcomes)).toEqual(['unknown null', 'unknown null']);
    expect(outcomes).toMatchObject([
      { result: { text: '4\n' }, compared: 'none', reason: 'the record shows only "no stdout here"' },
      { result: { text: '4\n' }, reason: 'no result of this call was recorded' },
    ]);
  });
});

describe("the tool's text", () => {
  const code = 'import sys\nprint("out")\nprint("warning", file=sys.stderr)';
  test('may be stdout alone, as the record shows', async () => {
    const { rows } = await rowsOf([callLine('code_interpreter', { code }, 'out\n')]);
    expect(await replayAll(rows)).toMatchObject([
      { status: 'same', reason: 'the tool shows stdout, or stderr after a failure' },
    ]);
  });

  test('that hides what fails now is not the same', async () => {
    const fails = 'print("out")\nprint(oops)';
    const trace = 'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\nNameError: x';
    const turn = (result: string) =>
      (JSON.parse(callLine('code_interpreter', { code: fails }, result)) as { output: string }).output;
    const { rows } = await rowsOf([
      callLine('code_interpreter', { code: fails }, 'out\n'),
      callLine('code_interpreter', {}, null, { output: `${turn(trace)}\n${turn('out\n')}` }),
    ]);
    const outcomes = await replayAll(rows);
    expect(outcomes[0]).toMatchObject({
      verdict: 'now_fails',
      reason: 'exit status 1; stdout is the same, and behind it the program fails',
    });
    expect(outcomes[2]).toMatchObject({ status: 'drift', verdict: 'now_fails' });
  });
});

describe('what cannot be run here', () => {
  test('is skipped with the reason, and never drift', async () => {
    const { rows } = await rowsOf([
      callLine('code_interpreter', { code: 'import no_such_module_anywhere as np\nprint(np.sum([2, 2]))' }, '4'),
      callLine('get_weather', { city: 'Oslo' }, 'rain'),
      callLine('code_interpreter', { code: 'select 4', language: 'sql' }, '4'),
      callLine('code_interpreter', { code: 'x', language: 'klingon' }, '4'),
      callLine('code_interpreter', { text: 'no code' }, '4'),
      '{"input": "user\\nx\\nassistant\\n", "output": "<tool_call>\\n{\\"name\\": \\n</tool_call>"}',
    ]);
    const outcomes = await replayAll(rows, { repeat: 2 });
    expect(words(outcomes)).toEqual(Array(6).fill('skipped null'));
    const { name } = await backend();
    expect(outcomes.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/^environment \(no_such_module_anywhere is not in /),
      expect.stringMatching(/^no tool here runs get_weather; /),
      `environment (sql is not in ${name})`,
      'environment (no sandbox knows the language klingon)',
      'its arguments hold no code',
      expect.stringMatching(/^the call was never run: not JSON/),
    ]);
    expect(outcomes[0]?.attempts).toHaveLength(1);
  });

  test('numpy is not in Pyodide', async () => {
    const pyodide = await openBackend({ sandbox: 'pyodide', env: {} });
    try {
      const tools = new ReplayTools();
      tools.use(pyodide.run);
      const { rows } = await rowsOf([callLine('code_interpreter', { code: 'import numpy' }, '')]);
      const [plan] = planCalls(rows[0]!, { tools });
      expect(
        await replayCall(
          { ...plan!, recorded: { text: '4\n', reward: null, metrics: null } },
          { tools, backend: pyodide },
        ),
      ).toMatchObject({
        status: 'skipped',
        reason: 'environment (numpy is not in Pyodide)',
      });
    } finally {
      await pyodide.close();
    }
  });

  test('a module that was missing then too is compared', async () => {
    const text =
      'Traceback (most recent call last):\n  File "/tmp/tmpab12cd34/tmpab12cd34.py", line 1, in <module>\n    import no_such\nModuleNotFoundError: No module named \'no_such\'\n';
    const { rows } = await rowsOf([callLine('code_interpreter', { code: 'import no_such' }, text)]);
    expect(words(await replayAll(rows))).toEqual(['same normalised']);
  });
});

describe('tools', () => {
  test('a program that was killed is said to be, and a time limit of the user’s holds', async () => {
    const codes = ['import os\nprint("so far", flush=True)\nos.kill(os.getpid(), 9)', 'import time\ntime.sleep(40)'];
    const { rows } = await rowsOf(codes.map((code) => callLine('code_interpreter', { code, timeout: 30 }, '4')));
    const outcomes = await replayAll(rows, { tools: new ReplayTools({ timeout: 4 }) });
    expect(words(outcomes)).toEqual(['drift now_fails', 'error infra']);
    if (SANDBOX === 'bubblewrap') expect(outcomes[0]!.reason).toBe('killed (signal 9)');
    expect(outcomes[1]!.reason).toContain('time limit');
    // Its own limit is 30 s.
    expect(outcomes[1]!.attempts[0]!.run_time).toBeLessThan(30);
  });

  test('that judge take create_kwargs from tools_kwargs, else gts, and say which', async () => {
    const args = { answer: '#### 4' };
    const recorded = "Current parsed answer='#### 4' reward=1.0";
    const kwargs = { calc_gsm8k_reward: { create_kwargs: { ground_truth: '5' } } };
    const { rows } = await rowsOf([
      callLine('calc_gsm8k_reward', args, recorded),
      callLine('calc_gsm8k_reward', args, recorded, { tools_kwargs: kwargs }),
      callLine('calc_gsm8k_reward', args, recorded, { gts: null }),
      callLine('calc_gsm8k_reward', args, recorded, { extra_info: { tools_kwargs: kwargs }, gts: null }),
    ]);
    const outcomes = await replayAll(rows);
    expect(words(outcomes)).toEqual(['same same', 'drift different', 'skipped null', 'drift different']);
    expect(outcomes[0]?.reason).toBe('with gts as ground_truth');
    expect(outcomes[1]?.reason).toContain("create_kwargs of the record's tools_kwargs");
    expect(outcomes[2]?.reason).toContain('neither tools_kwargs nor gts');
    expect(outcomes[3]?.reason).toContain('extra_info.tools_kwargs');
    expect(outcomes[0]?.backend).toBe('built in');
  });

  test.runIf(SANDBOX === 'bubblewrap')(
    'that the user maps to a language run as that (skipped without bubblewrap)',
    async () => {
      const tools = new ReplayTools({ mapped: { execute_bash: 'bash', python: 'python' } });
      const { rows } = await rowsOf([
        callLine('execute_bash', { command: 'echo $((2 + 2))' }, '4'),
        callLine('python', 'print(2 + 2)', '4'),
      ]);
      expect(words(await replayAll(rows, { tools }))).toEqual(['same normalised', 'same normalised']);
      expect(() => new ReplayTools({ mapped: { x: 'cobol' } })).toThrow(
        "--tool x=cobol: 'cobol' is not a language of SandboxFusion",
      );
    },
  );

  test('of a tool file name the server, and errors name the file', () => {
    const path = join(mkdtempSync(join(tmpdir(), 'tools-')), 'tools.yaml');
    writeFileSync(path, VERL_TOOLS);
    expect(new ReplayTools({ tools: path }).sandboxUrl).toBe('http://127.0.0.1:1/run_code');
    expect(() => new ReplayTools({ tools: `${path}x` })).toThrow(/tools.yamlx: no such file or directory/);
  });
});

describe('a notebook', () => {
  const cells = ['x = 20', 'x += 1\nprint(x)', 'print(x * 2)'];
  const line = () => {
    const results = ['', '21\n', '42\n'];
    const turns = cells.map(
      (code, i) => (JSON.parse(callLine('code_interpreter', { code }, results[i]!)) as { output: string }).output,
    );
    return callLine('code_interpreter', {}, null, { output: turns.join('\n') });
  };

  test('keeps its state with --session, and without where the record proves it', async () => {
    const { rows } = await rowsOf([line()]);
    expect(words(await replayAll(rows))).toEqual(['same same', 'same same', 'same same']);
    const alone = await replayAll(rows);
    expect(alone[2]).toMatchObject({ predecessors: [0, 1], reason: 'in a session with call 0, 1, which makes x' });
    const outcomes = await replayAll(rows, { session: true });
    expect(outcomes.map(({ status }) => status)).toEqual(['same', 'same', 'same']);
    expect(outcomes.map(({ predecessors }) => predecessors)).toEqual([[], [0], [0, 1]]);
  });

  test('is what a tool with `stateful: true` asks for, and a single call runs its predecessors', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'tools-')), 'tools.yaml');
    writeFileSync(path, VERL_TOOLS.replace('type: native', 'type: native\n      stateful: true'));
    const tools = new ReplayTools({ tools: path });
    const sandbox = await backend();
    tools.use(sandbox.run);
    const { rows } = await rowsOf([line()]);
    const [plan] = planCalls(rows[0]!, { tools, call: 2 });
    expect(await replayCall(plan!, { tools, backend: sandbox })).toMatchObject({
      status: 'same',
      predecessors: [0, 1],
    });
    const edited = await replayCall(editCall(plan!, { code: 'print(x * 3)' }), { tools, backend: sandbox });
    expect(edited).toMatchObject({ verdict: 'different', result: { text: '63\n' }, edited: true });
  });
});

describe('a single call', () => {
  const open = async (code: string, result: string | null) => {
    const { path, rows } = await rowsOf([callLine('code_interpreter', { code }, result)]);
    const sandbox = await backend();
    const tools = new ReplayTools();
    tools.use(sandbox.run);
    return { path, sandbox, tools, plan: planCalls(rows[0]!, { tools })[0]! };
  };

  test('reports its state, and is cancelled at once', async () => {
    const { plan, sandbox, tools } = await open('import time\ntime.sleep(30)', '4');
    const stop = new AbortController();
    const states: string[] = [];
    const running = replayCall(plan, {
      tools,
      backend: sandbox,
      signal: stop.signal,
      onState: ({ kind }) => {
        states.push(kind);
        setTimeout(() => stop.abort(new Error('cancelled')), 50);
      },
    });
    await expect(running).rejects.toThrow('cancelled');
    expect(states).toEqual(['running']);
  });

  test('that is edited is marked, keeps its history, and does not count for the record', async () => {
    const { path, plan, sandbox, tools } = await open('print(4)', '4');
    const journal = Journal.of(path);
    const replay = async (one: typeof plan) => {
      for await (const { outcome } of replayMany({ rollouts: [[one]], tools, backend: sandbox, journal }))
        return outcome;
      throw new Error('no outcome');
    };
    await replay(plan);
    await replay(editCall(plan, { code: 'print(5)' }));
    await replay(editCall(plan, { code: 'print(6)' }));
    expect(historyOf(journal, plan).map(({ edited, result }) => [edited, result?.text])).toEqual([
      [false, '4\n'],
      [true, '5\n'],
      [true, '6\n'],
    ]);
    const again = Journal.of(path);
    expect(standingOutcome(again, plan)).toMatchObject({ verdict: 'normalised', recorded: { text: '4' } });
    expect(standingWord(again, plan.record)).toBe('normalised');
    expect(historyOf(again, plan)[2]).toMatchObject({ verdict: 'different', arguments: { code: 'print(6)' } });
  });

  test('a step that was written again does not inherit verdicts', async () => {
    const { path, plan, sandbox, tools } = await open('print(4)', '4');
    const journal = Journal.of(path);
    for await (const _ of replayMany({ rollouts: [[plan]], tools, backend: sandbox, journal }));
    const { rows } = await rowsOf([callLine('code_interpreter', { code: 'print(4)' }, '5')]);
    const [other] = planCalls(rows[0]!, { tools });
    expect(standingOutcome(journal, other!)).toBeNull();
  });

  test('is judged without the rules that are switched off', async () => {
    const { plan, sandbox, tools } = await open('print(object())', '<object object at 0x7f0000001111>\n');
    const run = (off: string[]) => replayCall(plan, { tools, backend: sandbox, rules: rulesWithout(off) });
    expect(await run([])).toMatchObject({ status: 'same', reason: 'but for addresses' });
    expect(await run(['addresses'])).toMatchObject({ status: 'drift', verdict: 'flaky' });
  });
});
