import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { parsePythonJson } from '../../src/core/json/parse.ts';
import { Datasets, loadTables } from '../../src/sandbox/datasets/datasets.ts';
import { type EvalTestCase, type RunCode, runCodeResponse, startInstanceRequest } from '../../src/sandbox/protocol.ts';
import { readAction } from '../../src/sandbox/sessions/action.ts';
import { calcReward, SessionClient } from '../../src/sandbox/sessions/client.ts';
import { verdictOf } from '../../src/sandbox/sessions/observation.ts';
import { type SessionOptions, Sessions } from '../../src/sandbox/sessions/sessions.ts';
import { hasPython, plainPython } from './plain-python.ts';
import { type Reply, type ScriptedServer, type Seen, scriptedServer } from './scripted-server.ts';

const directory = mkdtempSync(join(tmpdir(), 'sessions-test-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const cases = [1, 2, 3, 4].map((n) => ({ input: { stdin: `${n}` }, output: { stdout: `${n * n}` } }));
const square = { id: 7, content: 'Square the number', test: cases, labels: {} };
const answers =
  (stdout: string): RunCode =>
  async () =>
    runCodeResponse.parse({
      status: 'Success',
      run_result: { status: 'Finished', return_code: 0, stdout, stderr: '' },
    });

async function opened(run: RunCode, options: Partial<SessionOptions> = {}, tables: string[] = []) {
  const datasets = new Datasets(run, await loadTables(tables));
  const sessions = new Sessions({ run, datasets, ...options });
  const start = async (body: object) => {
    const checked = startInstanceRequest.check(body);
    if (!checked.ok) throw new Error(JSON.stringify(checked.detail));
    return (await sessions.start(checked.value)).sid;
  };
  return { sessions, start };
}
function table(name: string, rows: object[]): string {
  const path = join(directory, `${name}.jsonl`);
  writeFileSync(path, rows.map((row) => JSON.stringify(row)).join('\n'));
  return `${name}=${path}`;
}

describe('the code in an action', () => {
  const call = (args: object | string, name = 'code_interpreter') =>
    `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;
  test.each([
    ['a fenced block', 'I try:\n```python\nprint(1)\n```', 'print(1)'],
    ['a fence that was cut off', '```py\nprint(1)', 'print(1)'],
    ['a tool call', `Let me see. ${call({ code: 'print(1)' })}<|im_end|>`, 'print(1)'],
    ['a tool call whose arguments are text', call(JSON.stringify({ code: 'print(1)' })), 'print(1)'],
    ['a tool call without its end', call({ code: 'print(1)' }).replace('</tool_call>', ''), 'print(1)'],
    ['a bare call in JSON', '{"name":"python","arguments":{"code":"print(1)"}}', 'print(1)'],
    ['bare code', 'def solve():\n    pass', 'def solve():\n    pass'],
    ['a bare expression', 'print(solve(3))', 'print(solve(3))'],
    [
      'bare lines of many kinds',
      'import os, sys  # both\nfrom math import (pi, e)\na, b[0]: int = 1, 2\nx.y **= 2\nif a: print(b)\nassert a == 1',
      'import os, sys  # both\nfrom math import (pi, e)\na, b[0]: int = 1, 2\nx.y **= 2\nif a: print(b)\nassert a == 1',
    ],
    [
      'an assignment',
      'total = 0\nfor i in range(3):\n    total += i\nprint(total)<|im_end|>',
      'total = 0\nfor i in range(3):\n    total += i\nprint(total)',
    ],
    ['not what was only thought', '<think>\n```python\nprint(0)\n```\n</think>\n```python\nprint(1)\n```', 'print(1)'],
  ])('%s', (_name, content, code) => {
    expect(readAction(content, 'python')).toEqual({ programs: [{ code, language: 'python' }] });
  });

  test.each([
    'I think the answer is 3.',
    'for example, this works',
    'import is a keyword of Python',
    'if you ask me: no',
    'The result x = 3',
    '',
    '```python\n```',
  ])('%j holds none', (content) => {
    expect(readAction(content, 'python')).toEqual({ programs: [] });
  });

  test('a hostile action is read in one pass', () => {
    // Quadratic work on these would take minutes, so that the test would run out of time.
    for (const part of ['[]', 'a[', 'x, ', 'if : )', 'f(', ' #', '=', '<|a', '<tool_call>', '</think>', '{', '\n ']) {
      for (const head of ['', 'x', 'assert ', 'def f', 'import x']) {
        readAction(head + part.repeat(200_000), 'python');
        readAction(`${head}${part.repeat(200_000)}\r.`, 'cpp');
      }
    }
  });

  test('the language is the fence’s, the tool’s, or the problem’s', () => {
    const language = (content: string, own: 'python' | 'cpp' | 'bash' = 'python') => {
      const action = readAction(content, own);
      return 'programs' in action ? action.programs.map((one) => one.language) : action;
    };
    expect(language('```bash\nls\n```')).toEqual(['bash']);
    expect(language('```\nls\n```', 'bash')).toEqual(['bash']);
    expect(language(call({ command: 'ls' }, 'bash'))).toEqual(['bash']);
    expect(language(call({ code: 'x', language: 'nodejs' }))).toEqual(['nodejs']);
    expect(language('int main() { return 0; }', 'cpp')).toEqual(['cpp']);
    expect(language(call({ code: 'a' }) + call({ code: 'b' }))).toEqual(['python', 'python']);
  });

  test('a tool call that cannot be read says why', () => {
    expect(readAction('<tool_call>{"name": </tool_call>', 'python')).toEqual({
      fault: 'the tool call is not JSON: Expecting value',
    });
    expect(readAction(call({ text: 'x' }), 'python')).toEqual({ fault: 'the tool call holds no code argument' });
  });
});

describe('out of order', () => {
  test('a sid that never was, is finished, or was idle for too long', async () => {
    const { sessions, start } = await opened(answers('x'));
    const act = (sid: string) => sessions.act({ sid, content: 'print(1)' });
    await expect(act('5')).rejects.toMatchObject({
      status: 404,
      message: expect.stringMatching(
        /^no session 5: this server began at 20.*, and sessions end with the server that held them; \/start_instance opens another$/,
      ),
    });
    const sid = await start({ instance_hash: 'free' });
    expect(await act(sid)).toEqual({ content: 'x' });
    expect(await sessions.postprocess({ sid })).toEqual({ sid, actions: 1 });
    await expect(act(sid)).rejects.toMatchObject({
      status: 409,
      message: `session ${sid} is finished: no action after /postprocess`,
    });
    expect(await sessions.postprocess({ sid })).toEqual({ sid, actions: 1 });
  });

  test('idle', async () => {
    const { sessions, start } = await opened(answers('x'), { idleSeconds: 0.02 });
    const sid = await start({ instance_hash: 'free' });
    await expect
      .poll(() => sessions.postprocess({ sid }).catch((error) => error.message), { interval: 60 })
      .toBe(`session ${sid} is over: it was idle for 0.02 s, or had to make room`);
    await expect(sessions.computeReward({ sid })).rejects.toMatchObject({ status: 410 });
  });

  test('an action that runs longer than the idle time keeps its session', async () => {
    const slow: RunCode = async (...args) => {
      await new Promise((resolve) => setTimeout(resolve, 700));
      return answers('done')(...args);
    };
    const { sessions, start } = await opened(slow, { idleSeconds: 0.5 });
    const sid = await start({ instance_hash: 'free' });
    expect(await sessions.act({ sid, content: 'print(1)' })).toEqual({ content: 'done' });
    expect(await sessions.postprocess({ sid })).toMatchObject({ actions: 1 });
  });

  test('too many: the least recently used one makes room', async () => {
    const { sessions, start } = await opened(answers('x'), { maxSessions: 2 });
    const [first] = [
      await start({ instance_hash: 1 }),
      await start({ instance_hash: 2 }),
      await start({ instance_hash: 3 }),
    ];
    expect(sessions.size).toBe(2);
    await expect(sessions.postprocess({ sid: first })).rejects.toMatchObject({ status: 410 });
  });

  test('actions of one session take their turns', async () => {
    const events: string[] = [];
    let number = 0;
    const run: RunCode = async (...args) => {
      const mine = ++number;
      events.push(`start ${mine}`);
      await new Promise(setImmediate);
      events.push(`end ${mine}`);
      return answers('')(...args);
    };
    const { sessions, start } = await opened(run);
    const sid = await start({ instance_hash: 'free' });
    await Promise.all([1, 2, 3].map(() => sessions.act({ sid, content: 'print(1)' })));
    expect(events).toEqual(['start 1', 'end 1', 'start 2', 'end 2', 'start 3', 'end 3']);
  });

  test('a sid is a decimal number that fits into an int64, and no two are alike', async () => {
    const { start } = await opened(answers(''));
    const sids = await Promise.all(Array.from({ length: 100 }, () => start({ instance_hash: 1 })));
    for (const sid of sids) {
      expect(sid).toMatch(/^\d{19}$/);
      expect(BigInt(sid)).toBeLessThan(2n ** 63n);
    }
    expect(new Set(sids).size).toBe(100);
  });
});

describe('what the model sees', () => {
  const seen = async (answer: object) => {
    const { sessions, start } = await opened(async () => runCodeResponse.parse(answer));
    const sid = await start({ instance_hash: 'free' });
    return (await sessions.act({ sid, content: '```python\nx\n```' })).content;
  };
  const run = (more: object) => ({ status: 'Finished', return_code: 0, stdout: '', stderr: '', ...more });
  test.each([
    ['output and errors', { status: 'Success', run_result: run({ stdout: 'a\n', stderr: 'b\n' }) }, 'a\nb\n'],
    ['a silent success', { status: 'Success', run_result: run({}) }, ''],
    ['a silent failure', { status: 'Failed', run_result: run({ return_code: 7 }) }, 'Error: exit code 7'],
    [
      'a timeout, with what came before',
      { status: 'Failed', run_result: run({ status: 'TimeLimitExceeded', return_code: null, stdout: 'so far' }) },
      'so far\nError: timed out after 30 s',
    ],
    [
      'a compile error',
      { status: 'Failed', compile_result: run({ return_code: 1, stderr: 'x was not declared' }) },
      'x was not declared',
    ],
  ])('%s', async (_name, answer, content) => {
    expect(await seen(answer)).toBe(content);
  });

  test('nothing of a sandbox that failed: the action is tried once more, then the client is told', async () => {
    const replies = [
      { status: 'SandboxError', message: 'no runner' },
      { status: 'Success', run_result: run({ stdout: 'a' }) },
    ];
    const { sessions, start } = await opened(async () => runCodeResponse.parse(replies.shift()));
    const sid = await start({ instance_hash: 'free' });
    expect(await sessions.act({ sid, content: '```python\nx\n```' })).toEqual({ content: 'a' });
    await expect(seen({ status: 'SandboxError', message: 'no runner' })).rejects.toMatchObject({
      status: 503,
      message: 'the sandbox could not run the action: no runner; ask again later',
    });
  });

  test('prose is answered, not run', async () => {
    const { sessions, start } = await opened(() => Promise.reject(new Error('was run')));
    const sid = await start({ instance_hash: 'free' });
    expect(await sessions.act({ sid, content: 'I think it is 3.' })).toEqual({
      content: 'Error: the action holds no code',
    });
    expect(await sessions.act({ sid, content: '<tool_call>{' })).toMatchObject({
      content: expect.stringMatching(/^Error: the tool call is not JSON/),
    });
  });
});

describe.skipIf(!hasPython)('a session of real programs (skipped without python3)', () => {
  test('what earlier actions defined is there, silently; an exception keeps what came before it', async () => {
    const { sessions, start } = await opened(plainPython);
    const sid = await start({ instance_hash: 'free' });
    const act = async (content: string) => (await sessions.act({ sid, content })).content;
    expect(await act('def twice(x):\n    return 2 * x\nprint("defined")')).toBe('defined\n');
    expect(await act('```python\ny = twice(4)\nopen("f", "w").write("kept")\n1/0\n```')).toMatch(/ZeroDivisionError/);
    expect(await act('print(y, open("f").read())')).toBe('8 kept\n');
    expect(await act('raise ValueError("here")')).toMatch(
      /File "<action>", line 1, in <module>\n {4}raise ValueError\("here"\)\n/,
    );
  });

  test('a function’s tests see what earlier actions defined; a fence or a main part in the code does no harm', async () => {
    const problem = {
      task_id: 3,
      text: 'Triple it.',
      test_list: ['assert triple(2) == 6', 'assert HELP.count("`") == 3'],
    };
    const { sessions, start } = await opened(plainPython, {}, [table('functions', [problem])]);
    const sid = await start({ instance_hash: 3 });
    const act = (code: string) =>
      sessions.act({ sid, content: JSON.stringify({ name: 'python', arguments: { code } }) });
    await act('def triple(x):\n    return 3 * x\nif __name__ == "__main__":\n    print(triple(1))\nraise SystemExit');
    expect(await act('HELP = """\n```\n"""\nprint(triple(3))')).toEqual({ content: '9\n' });
    expect(await sessions.computeReward({ sid })).toEqual({ reward: 1, f2p_count: 2, f2p_total: 2 });
  });

  const python = (code: string) => `\`\`\`python\n${code}\n\`\`\``;
  const bash = (code: string) => `\`\`\`bash\n${code}\n\`\`\``;
  async function free() {
    const { sessions, start } = await opened(plainPython);
    const sid = await start({ instance_hash: 'free' });
    return async (content: string) => (await sessions.act({ sid, content })).content;
  }

  test('files, the shell’s folder, variables and functions persist, for Python too', async () => {
    const act = await free();
    expect(
      await act(bash('mkdir -p sub && cd sub && echo hi > f.txt\nexport NAME=there\nshout() { echo "$1!"; }')),
    ).toBe('');
    expect(await act(bash('cat f.txt; shout "$NAME"; basename "$PWD"; exit 3'))).toBe('hi\nthere!\nsub\n');
    expect(await act(bash('shout still; false'))).toBe('still!\n');
    expect(await act(python('print(open("f.txt").read().strip(), end="")\nopen("g", "w").write("g")'))).toBe('hi');
    expect(await act(bash('rm f.txt; ls'))).toBe('g\n');
    expect(await act(bash('ls -d ../sub'))).toBe('../sub\n');
  });

  test('nothing with an effect is run twice; what cannot be kept is bound again', async () => {
    const act = await free();
    const first = `import random as r, collections
log = open('log', 'a')
log.write('once\\n'); log.flush()
class Box(collections.namedtuple('Base', 'x')):
    def twice(self): return 2 * self.x
shared = [Box(r.random())]; same = shared
double = lambda x: 2 * x
def add(a, b=len(shared)):
    return a + b
numbers = (n for n in range(3))`;
    expect(await act(python(first))).toBe('');
    const second = `same.append(1)
print(shared[0].twice() == 2 * shared[0].x, len(shared), double(4), add(1), list(numbers), r.__name__)
print(open('log').read().count('once'))`;
    expect(await act(python(second))).toBe('True 2 8 2 [0, 1, 2] random\n1\n');
    expect(await act(python('del double\nimport os; os.chdir("/")'))).toBe('');
    expect(await act(python('import os; print("double" in globals(), os.getcwd())'))).toBe('False /\n');
  });

  test('a right program that reads stdin learns that it passed, a wrong one how far it came', async () => {
    const { sessions, start } = await opened(plainPython, {}, [table('judged', [square])]);
    const sid = await start({ instance_hash: 'judged/7' });
    const act = async (content: string) => (await sessions.act({ sid, content })).content;
    expect(await act(python('print(2 + 3)'))).toBe('5\n');
    expect(await act(python('print(int(input()) + 2)'))).toBe(
      'Not accepted: 1 of 4 tests passed; the first that failed has another answer.',
    );
    expect(await act(python('print(1 // 0, input())'))).toBe(
      'Not accepted: 0 of 4 tests passed; the first that failed ended with ZeroDivisionError.',
    );
    expect(await act(python('print(int(input()) ** 2)'))).toBe('Accepted: 4 of 4 tests passed.');
    expect(await act(python('print("a trial")'))).toBe('a trial\n');
    expect(await sessions.computeReward({ sid })).toEqual({ reward: 1, f2p_count: 4, f2p_total: 4 });
  });

  test('MBPP and HumanEval count each assertion where the test is a flat list of them', async () => {
    const { sessions, start } = await opened(plainPython);
    const reward = async (instance_hash: string, code: string) => {
      const sid = await start({ instance_hash });
      const { content } = await sessions.act({ sid, content: python(code) });
      return { content, ...(await sessions.computeReward({ sid })) };
    };
    expect(await reward('mbpp/11', 'def remove_Occ(s, c):\n    return "heo"')).toMatchObject({
      content: 'Not accepted: 1 of 3 tests passed; the first that failed ended with AssertionError.',
      f2p_count: 1,
      f2p_total: 3,
    });
    const close = 'def has_close_elements(numbers, threshold):\n    return True';
    expect(await reward('HumanEval/0', close)).toMatchObject({ f2p_count: 4, f2p_total: 7 });
    // Its check() computes before it asserts.
    const whole = 'def poly(xs, x):\n    return 0\ndef find_zero(xs):\n    return 0.0';
    expect(await reward('HumanEval/32', whole)).toMatchObject({ f2p_total: 1 });
  });

  test('an observation holds nothing of a hidden test, whatever the judged code prints', async () => {
    const { sessions, start } = await opened(plainPython);
    const answer = async (instance_hash: string, code: string) => {
      const sid = await start({ instance_hash });
      return (await sessions.act({ sid, content: python(code) })).content;
    };
    const leaks = [
      'def truncate_number(x):\n    return 0',
      'def truncate_number(x):\n    raise KeyError(x)',
      'import sys\ndef truncate_number(x):\n    print(repr(x), file=sys.stderr)\n    sys.exit(3)',
      'import sys\ndef truncate_number(x):\n    sys.stderr.write(str(x).replace(".", "_")); sys.stdout.write(str(x))\n    return "ValueError: %s" % x',
      'class E(Exception): pass\ndef truncate_number(x):\n    raise E(x)',
    ];
    for (const code of leaks) {
      const content = await answer('HumanEval/2', code);
      expect(content).toMatch(
        /^Not accepted: \d of \d tests passed; the first that failed ended with (?:\w+Error|an error)\.$/,
      );
    }
    const input = 'import sys\nraise ValueError(input())';
    const judged = await opened(plainPython, {}, [table('judged', [square])]);
    const sid = await judged.start({ instance_hash: 'judged/7' });
    expect((await judged.sessions.act({ sid, content: python(input) })).content).toBe(
      'Not accepted: 0 of 4 tests passed; the first that failed ended with ValueError.',
    );
  });

  test('of a compiler the model reads what its own code says', () => {
    const code = 'int twice(int x) { return x * y; }';
    const stderr = [
      "main.cpp:1:31: error: 'y' was not declared in this scope",
      '    1 | int twice(int x) { return x * y; }',
      '      |                               ^',
      "main.cpp:9:20: error: no match for 'secret(int)'",
      '    9 |   assert(twice(41) == 82);',
      "main.cpp:10:3: error: cannot convert 'const char [6]' to 'int'",
    ].join('\n');
    const compiled = { status: 'Finished', return_code: 1, stdout: '', stderr, execution_time: 0 } as const;
    const failed = { passed: false, exec_info: { compile_result: compiled, run_result: null } };
    const said = verdictOf([failed] as unknown as EvalTestCase[], code);
    expect(said).toContain("'y' was not declared");
    expect(said).not.toMatch(/secret|41|82|const char/);
  });

  test('the reward is the share of the problem’s tests that the last code passes', async () => {
    const { sessions, start } = await opened(plainPython, {}, [table('squares', [square])]);
    const sid = await start({ instance_hash: 7 });
    await sessions.act({ sid, content: '```python\nn = 2\nprint(n * n)\n```' });
    await sessions.act({ sid, content: 'That is it.' });
    await sessions.postprocess({ sid });
    const reward = { reward: 0.25, f2p_count: 1, f2p_total: 4 };
    expect(await sessions.computeReward({ sid })).toEqual(reward);
    expect(await sessions.computeReward({ sid })).toEqual(reward);
  });
});

describe('where the tests come from', () => {
  test('a hash that is an id of one dataset, NAME/ID where several have it, HumanEval’s own name', async () => {
    const human = { task_id: 'HumanEval/7', prompt: 'def f():\n', entry_point: 'f', test: 'def check(f): pass' };
    const tables = [table('a', [square]), table('b', [square]), table('he', [human])];
    const { sessions, start } = await opened(answers('4'), {}, tables);
    const rewarded = async (instance_hash: string | number) => {
      const sid = await start({ instance_hash });
      await sessions.act({ sid, content: 'print(4)' });
      return sessions.computeReward({ sid });
    };
    await expect(rewarded(7)).rejects.toMatchObject({
      status: 400,
      message: 'problem 7 is in a and b: ask for a/7',
    });
    expect(await rewarded('b/7')).toEqual({ reward: 0.25, f2p_count: 1, f2p_total: 4 });
    expect(await rewarded('HumanEval/7')).toEqual({ reward: 1, f2p_count: 1, f2p_total: 1 });
    expect(await rewarded('unheard of')).toEqual({
      reward: 0,
      f2p_count: 0,
      f2p_total: 0,
      message: 'no tests are known for instance unheard of',
    });
  });

  test('a problem in the request, or a stated reward', async () => {
    const { sessions, start } = await opened(answers('9'));
    const provided = { dataset_type: 'CommonOJDataset', provided_data: square };
    const sid = await start({ instance_hash: 'x', config: provided });
    expect(await sessions.computeReward({ sid })).toMatchObject({ reward: 0, message: 'no action held code' });
    const other = await start({ instance_hash: 'x', config: provided });
    await sessions.act({ sid: other, content: 'print(9)' });
    expect(await sessions.computeReward({ sid: other })).toMatchObject({ reward: 0.25 });
    const stated = await start({ instance_hash: 'x', reward: 0.9 });
    expect(await sessions.computeReward({ sid: stated })).toMatchObject({ reward: 0.9 });
  });

  test('a missing problem is reported at the start', async () => {
    const { start } = await opened(answers(''));
    await expect(start({ instance_hash: 'x', dataset: 'nope' })).rejects.toMatchObject({ status: 400 });
  });
});

describe('the client', () => {
  let server: ScriptedServer;
  afterEach(() => server?.close());
  async function client(reply: (seen: Seen) => Reply) {
    server = await scriptedServer(reply);
    return new SessionClient({ endpoint: server.url, retry: { attempts: 2, firstDelayMs: 1 } });
  }
  const sid = '5671949450826943757';

  test('an episode, with a sid beyond 2^53 sent as a number', async () => {
    const replies: Record<string, Reply> = {
      '/start_instance': { text: `{"sid": ${sid}}` },
      '/process_action': { json: { content: 'No errors found in test.' } },
      '/postprocess': { json: {} },
      '/compute_reward': { json: { reward: 0.9, f2p_count: 9, f2p_total: 10 } },
    };
    const sessions = await client((seen) => replies[seen.path] ?? { status: 404 });
    expect(await sessions.startInstance(3864552457764042195n)).toBe(sid);
    expect(await sessions.processAction(sid, 'x')).toEqual({ content: 'No errors found in test.', error: null });
    expect(await sessions.postprocess(sid)).toEqual({ answer: {}, error: null });
    expect(await sessions.computeReward(sid)).toMatchObject({ reward: 0.9, error: null });
    expect(server.seen.map((one) => one.body)).toEqual([
      '{"instance_hash":3864552457764042195}',
      `{"sid":"${sid}","content":"x"}`,
      `{"sid":"${sid}"}`,
      `{"sid":"${sid}"}`,
    ]);
  });

  test('start without a sid is an error; everything after it continues with a message and the cause', async () => {
    const sessions = await client(() => ({ status: 500, json: { detail: 'broken' } }));
    await expect(sessions.startInstance(1)).rejects.toThrow('answered 500: broken');
    expect(await sessions.processAction(sid, 'x')).toMatchObject({ content: 'Error', error: { status: 500 } });
    expect(await sessions.postprocess(sid)).toMatchObject({ answer: null, error: { status: 500 } });
    expect(await sessions.computeReward(sid)).toMatchObject({ reward: 0, error: { status: 500 } });
  });

  test('an observation without content is "Error"; an action is never sent twice', async () => {
    const sessions = await client(() => ({ json: {} }));
    expect(await sessions.processAction(sid, 'x')).toMatchObject({ content: 'Error' });
    const busy = await client(() => ({ status: 503, text: '' }));
    await busy.processAction(sid, 'x');
    expect(server.seen).toHaveLength(1);
  });

  test('an abort is no "Error"', async () => {
    const sessions = await client(() => 'silence');
    const abort = new AbortController();
    const action = sessions.processAction(sid, 'x', abort.signal);
    abort.abort(new Error('stopped'));
    await expect(action).rejects.toThrow('stopped');
  });

  // Python's value of each: float(calc_reward(json)), 0.0 if it raises.
  test.each([
    ['{"reward": 0.9}', 0.9],
    ['{"reward": 1}', 1],
    ['{"reward": true}', 1],
    ['{"reward": "0.5"}', 0.5],
    ['{"reward": "much"}', 0],
    ['{"reward": null, "f2p_count": 1, "f2p_total": 2}', 0],
    ['{"reward": [1]}', 0],
    ['{"f2p_count": 1, "f2p_total": 2}', 0.5],
    ['{"f2p_count": true, "f2p_total": 2}', 0.5],
    ['{"f2p_count": 1, "f2p_total": 0}', 0],
    ['{"f2p_count": "1", "f2p_total": 2}', 0],
    ['{"f2p_count": 1}', 0],
    ['{}', 0],
    ['[]', 0],
    ['null', 0],
    ['"reward"', 0],
    ['{"f2p_count": 10000000000000000000, "f2p_total": 20000000000000000000}', 0.5],
  ])('calc_reward of %s is %d', (text, reward) => {
    expect(calcReward(parsePythonJson(text))).toBe(reward);
  });
});
