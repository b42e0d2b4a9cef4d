// verl's tests of its SandboxFusion client (tests/utils/reward_score/test_sandbox_fusion_on_cpu.py and its sisters),
// restated: the same cases, the same codes.
import { afterEach, describe, expect, test } from 'vitest';
import { Limiter } from '../../src/core/async/limiter.ts';
import { checkCorrectness, type Run } from '../../src/sandbox/check-correctness.ts';
import { SandboxClient } from '../../src/sandbox/client.ts';
import { codeOf, computeScore } from '../../src/sandbox/compute-score.ts';
import { functionCase } from '../../src/sandbox/function-case.ts';
import {
  type RunCodeInput,
  type RunCodeResponse,
  runCodeRequest,
  runCodeResponse,
} from '../../src/sandbox/protocol.ts';
import { type CaseMetadata, judge } from '../../src/sandbox/verdict.ts';
import { hasPython, plainPython } from './plain-python.ts';
import { printed, type Reply, type ScriptedServer, scriptedServer } from './scripted-server.ts';

let server: ScriptedServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** A sandbox that answers each request as the test says, reached over HTTP. */
async function remote(reply: (request: RunCodeInput, index: number) => Reply | Promise<Reply>): Promise<Run> {
  server = await scriptedServer((seen, index) => reply(JSON.parse(seen.body), index));
  const client = new SandboxClient({ endpoint: server.url, retry: { attempts: 3, firstDelayMs: 1 } });
  return (request, call) => client.runCode(request, call);
}
const failed = (run: object | null, compile: object | null = null) =>
  runCodeResponse.parse({
    status: 'Failed',
    run_result: run && { status: 'Finished', return_code: 1, ...run },
    compile_result: compile && { status: 'Finished', return_code: 1, ...compile },
  });
const success = (stdout: string, run: object = {}) =>
  runCodeResponse.parse({ status: 'Success', run_result: { status: 'Finished', return_code: 0, stdout, ...run } });
const statuses = (metadata: object[]) => metadata.map((one) => (one as CaseMetadata).status);

describe('the verdict on an answer', () => {
  const shown = { index: 0, input: null, expected: 'a' };
  const sandboxError = runCodeResponse.parse({ status: 'SandboxError', message: 'no' });
  const strange = { ...success(''), status: 'Strange' } as unknown as RunCodeResponse;
  test.each<[string, RunCodeResponse | null, string | null, unknown, string]>([
    ['an error of the request', null, 'away', -1, 'api_error'],
    ['no answer and no error', null, null, -1, 'unknown_api_state'],
    ['SandboxError', sandboxError, null, -1, 'sandbox_error'],
    ['it does not compile', failed(null, {}), null, -4, 'compile_error'],
    ['the compiler fails', failed(null, { status: 'Error', return_code: null }), null, -4, 'compile_error'],
    [
      'compiling takes too long',
      failed(null, { status: 'TimeLimitExceeded', return_code: null }),
      null,
      -4,
      'compile_timeout',
    ],
    ['running takes too long', failed({ status: 'TimeLimitExceeded', return_code: null }), null, -3, 'timeout'],
    ['it ends with an error', failed({}), null, -2, 'runtime_error'],
    ['it compiles and ends with an error', failed({}, { return_code: 0 }), null, -2, 'runtime_error'],
    ['it cannot be run', failed({ status: 'Error', return_code: null }), null, -2, 'runtime_error'],
    ['Failed, though all is well', failed({ return_code: 0 }), null, -1, 'unknown_failure'],
    ['Failed without a run', failed(null), null, -1, 'unknown_failure_state'],
    ['the output is right', success('a'), null, true, 'success'],
    ['newlines at the end are forgiven', success('a\n\n'), null, true, 'success'],
    ['other white space is not', success('a '), null, false, 'wrong_answer'],
    ['the output is wrong', success('b'), null, false, 'wrong_answer'],
    ['Success without an end', success('a', { status: 'TimeLimitExceeded' }), null, -1, 'unexpected_success_state'],
    ['a status that is unknown', strange, null, -1, 'unknown_api_status_Strange'],
  ])('%s', (_name, answer, error, result, status) => {
    const judged = judge(shown, answer, error);
    expect([judged.result, judged.metadata.status]).toEqual([result, status]);
  });

  test('any output is right where none is expected', () => {
    expect(judge({ ...shown, expected: null }, success('whatever'), null).result).toBe(true);
    expect(judge({ ...shown, expected: '' }, success('whatever'), null).result).toBe(false);
  });

  test('the metadata has verl’s keys', () => {
    const answer = failed(
      { stdout: 'o', stderr: 'e', execution_time: 0.5 },
      { return_code: 0, execution_time: 0.25, stderr: 'w' },
    );
    expect(judge({ index: 3, input: 'in', expected: 'out' }, answer, null).metadata).toEqual({
      case_index: 3,
      input: 'in',
      expected_output: 'out',
      api_request_error: null,
      api_response: answer,
      status: 'runtime_error',
      stdout: 'o',
      stderr: 'e',
      exit_code: 1,
      duration: 0.5,
      compile_duration: 0.25,
      compile_stderr: 'w',
      api_status: 'Failed',
      compile_status: 'Finished',
      run_status: 'Finished',
    });
  });
});

describe('check_correctness', () => {
  const two = { inputs: ['1', '2'], outputs: ['1', '2'] };

  test('what it asks of the sandbox', async () => {
    const asked: RunCodeInput[] = [];
    const run: Run = async (request) => {
      asked.push(request);
      return success(request.stdin ?? '');
    };
    const { results } = await checkCorrectness(run, two, 'code', { timeout: 5, memoryLimitMb: 7, language: 'cpp' });
    expect(results).toEqual([true, true]);
    expect(asked[0]).toEqual({
      code: 'code',
      language: 'cpp',
      stdin: '1',
      compile_timeout: 5,
      run_timeout: 5,
      memory_limit_MB: 7,
    });
  });

  test.each<[string, object, unknown[], string[]]>([
    ['success', success('1'), [true, false], ['success', 'wrong_answer']],
    ['wrong output', success('x'), [false, false], ['wrong_answer', 'wrong_answer']],
    ['compile error', failed(null, {}), [-4, -4], ['compile_error', 'compile_error_skipped']],
    ['runtime error', failed({}), [-2, -2], ['runtime_error', 'runtime_error']],
    ['timeout', failed({ status: 'TimeLimitExceeded', return_code: null }), [-3, -3], ['timeout', 'timeout']],
  ])('%s', async (_name, answer, results, words) => {
    const run = await remote(() => ({ json: answer }));
    const checked = await checkCorrectness(run, two, 'code');
    expect(checked.results).toEqual(results);
    expect(statuses(checked.metadata)).toEqual(words);
  });

  test('a 504 in one case leaves the others alone', async () => {
    const run = await remote(({ stdin }) =>
      stdin === '2' ? { status: 504, text: '' } : { json: printed(stdin ?? '') },
    );
    const { results, metadata } = await checkCorrectness(
      run,
      { inputs: ['1', '2', '3'], outputs: ['1', '2', '3'] },
      'c',
    );
    expect(results).toEqual([true, -1, true]);
    expect(metadata[1]).toMatchObject({
      status: 'api_error',
      api_request_error: expect.stringMatching(/^API Call Failed: .* answered 504/),
    });
    expect(server?.seen.filter((one) => JSON.parse(one.body).stdin === '2')).toHaveLength(3);
  });

  test('a hundred cases at once keep their order', async () => {
    const numbers = Array.from({ length: 100 }, (_, index) => String(index));
    const run = await remote(async ({ stdin }) => {
      await new Promise((resolve) => setTimeout(resolve, (Number(stdin) * 7) % 11));
      const kind = Number(stdin) % 4;
      if (kind === 1) return { json: printed('wrong') };
      if (kind === 2) return { json: failed({}) };
      if (kind === 3) return { json: failed({ status: 'TimeLimitExceeded', return_code: null }) };
      return { json: printed(stdin ?? '') };
    });
    const { results, metadata } = await checkCorrectness(run, { inputs: numbers, outputs: numbers }, 'code');
    expect(results).toEqual(numbers.map((_, index) => [true, false, -2, -3][index % 4]));
    expect(metadata.map((one) => (one as CaseMetadata).case_index)).toEqual(numbers.map(Number));
  });

  test('after the first case that does not compile the later ones count for nothing, the earlier ones stay', async () => {
    const aborted: string[] = [];
    const run: Run = async ({ stdin }, { signal }) => {
      if (stdin === '0') return success('0');
      if (stdin === '1') return failed(null, {});
      return new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => {
          aborted.push(stdin ?? '');
          reject(signal.reason);
        }),
      );
    };
    const inputs = ['0', '1', '2', '3', '4'];
    const { results, metadata } = await checkCorrectness(run, { inputs, outputs: inputs }, 'code', { concurrency: 3 });
    expect(results).toEqual([true, -4, -4, -4, -4]);
    expect(statuses(metadata)).toEqual(['success', 'compile_error', ...Array(3).fill('compile_error_skipped')]);
    expect(aborted).toEqual(['2']);
  });

  test('a shared limiter is never exceeded, by several problems at once', async () => {
    const limiter = new Limiter(5);
    let flying = 0;
    let most = 0;
    const run: Run = async ({ stdin }) => {
      most = Math.max(most, ++flying);
      await new Promise((resolve) => setTimeout(resolve, 2));
      flying--;
      return success(stdin ?? '');
    };
    const inputs = Array.from({ length: 10 }, (_, index) => String(index));
    const checks = [1, 2, 3].map(() => checkCorrectness(run, { inputs, outputs: inputs }, 'code', { limiter }));
    expect((await Promise.all(checks)).flatMap((one) => one.results)).toEqual(Array(30).fill(true));
    expect([most, limiter.currentCount]).toEqual([5, 0]);
  });

  test.each([null, undefined, 5, {}, { inputs: ['1'] }, { inputs: '1', outputs: ['1'] }])(
    '%j is no set of cases',
    async (inOuts) => {
      expect(await checkCorrectness(() => Promise.reject(new Error()), inOuts, 'c')).toEqual({
        results: [-1],
        metadata: [{ error: 'Invalid input/output data' }],
      });
    },
  );

  test('no cases, and cases that do not pair', async () => {
    const never: Run = () => Promise.reject(new Error('was run'));
    expect(await checkCorrectness(never, { inputs: [], outputs: [] }, 'c')).toEqual({ results: [], metadata: [] });
    const { results, metadata } = await checkCorrectness(never, { inputs: ['1', '2'], outputs: ['1'] }, 'c');
    expect(results).toEqual([-1, -1]);
    expect(metadata[0]).toMatchObject({ error: expect.stringContaining('Input/output count mismatch') });
  });

  test('a language that the sandbox has not is reported without a request', async () => {
    const never: Run = () => Promise.reject(new Error('was run'));
    const { results, metadata } = await checkCorrectness(never, two, 'c', { language: 'cobol' });
    expect(results).toEqual([-1, -1]);
    expect(metadata[0]).toMatchObject({ status: 'api_error', api_request_error: 'Unsupported language: cobol' });
  });

  test('a fault of our own is distinguished from a fault of the sandbox', async () => {
    const { results, metadata } = await checkCorrectness(() => Promise.reject(new Error('bug')), two, 'c');
    expect(results).toEqual([-1, -1]);
    expect(metadata[0]).toMatchObject({ status: 'internal_error', api_request_error: 'Internal execution error: bug' });
  });

  test('an abort ends it', async () => {
    const abort = new AbortController();
    const run: Run = () => {
      abort.abort(new Error('enough'));
      return Promise.reject(new Error('cut'));
    };
    await expect(checkCorrectness(run, two, 'c', { signal: abort.signal })).rejects.toThrow('enough');
  });

  test('stdin may be null or empty; an output of null accepts anything', async () => {
    const asked: unknown[] = [];
    const run: Run = async ({ stdin }) => {
      asked.push(stdin);
      return success('x');
    };
    const { results } = await checkCorrectness(run, { inputs: [null, ''], outputs: [null, 'x'] }, 'c');
    expect([results, asked]).toEqual([
      [true, true],
      [null, ''],
    ]);
  });
});

describe.skipIf(!hasPython)('with real programs (skipped without python3)', () => {
  const run: Run = async (request, { signal }) => {
    const checked = runCodeRequest.check(request);
    if (!checked.ok) throw new Error(JSON.stringify(checked.detail));
    return plainPython(checked.value, signal);
  };
  const check = async (inOuts: object, code: string, options: object = {}) => {
    const { results, metadata } = await checkCorrectness(run, inOuts, code, options);
    return { results, errors: metadata.map((one) => (one as CaseMetadata).stderr ?? '') };
  };

  test('stdin and stdout', async () => {
    const { results } = await check({ inputs: ['1', '2', 'x'], outputs: ['2', '5', ''] }, 'print(int(input()) * 2)');
    expect(results).toEqual([true, false, -2]);
  });

  test('a function by its name, and a method of Solution', async () => {
    const cases = { fn_name: 'occurrences', inputs: ['["a", "b", "a"]\n"a"', '[]\n"z"\n'], outputs: ['2', '0'] };
    expect((await check(cases, 'def occurrences(items, item):\n    return items.count(item)')).results).toEqual([
      true,
      true,
    ]);
    const method =
      'class Solution:\n    def occurrences(self, items: List[str], item: str) -> int:\n        return Counter(items)[item]';
    expect((await check(cases, method)).results).toEqual([true, true]);
  });

  test('arguments may be lists, results are printed as JSON or as text', async () => {
    const cases = {
      fn_name: 'f',
      inputs: [[[1, 2]], ['text'], [null], [true]],
      outputs: [[1, 2], 'text', 'null', 'true'],
    };
    expect((await check(cases, 'def f(x):\n    return x')).results).toEqual([true, true, true, true]);
  });

  test('an error in a function is reported and is no pass, even if no output is expected', async () => {
    const one = { fn_name: 'f', inputs: ['1'], outputs: [''] };
    const wrong: [string, RegExp][] = [
      ['def g(x): pass', /WrapperError: there is no function or Solution method named f/],
      [
        'def f(x):\n    raise ValueError(x)',
        /WrapperError: f raised\n.*File "solution.py", line 2, in f\n {4}raise ValueError\(x\)/s,
      ],
      ['def f(x:', /WrapperError: the solution could not be loaded\n.*SyntaxError/s],
    ];
    for (const [code, message] of wrong) {
      const { results, errors } = await check(one, code);
      expect(results).toEqual([-2]);
      expect(errors[0]).toMatch(message);
    }
    const { errors } = await check({ ...one, inputs: ['{'] }, 'def f(x): pass');
    expect(errors[0]).toMatch(/WrapperError: an argument is not JSON/);
  });

  test('the solution is a module: __future__ first, its main part does not run, other languages are left alone', async () => {
    const code =
      'from __future__ import annotations\ndef f(x: Foo): return x\nif __name__ == "__main__":\n    print("main")\n# 😀 "\\';
    expect((await check({ fn_name: 'f', inputs: ['"é"'], outputs: ['é'] }, code)).results).toEqual([true]);
    expect(functionCase('x', 'f')).toContain('"x"');
    const asked: string[] = [];
    const record: Run = async (request) => {
      asked.push(request.code);
      return success('');
    };
    await checkCorrectness(record, { fn_name: 'f', inputs: ['1'], outputs: [''] }, 'int f', { language: 'cpp' });
    expect(asked).toEqual(['int f']);
  });

  test('asserts', async () => {
    const cases = { assert_case: ['assert f(1) == 2', 'assert f(1) == 3'] };
    expect((await check(cases, 'def f(x): return x + 1')).results).toEqual([true, -2]);
  });

  test('compute_score: the share of cases, the last python block, the first ten when continuous', async () => {
    const cases = { inputs: ['1', '2', '3', '4'], outputs: ['1', '2', '9', '9'] };
    const answer = 'First:\n```python\nprint("no")\n```\nBetter:\n```python\nprint(input())\n```';
    expect((await computeScore(run, answer, cases)).score).toBe(0.5);
    expect((await computeScore(run, answer, JSON.stringify(cases))).score).toBe(0.5);
    const many = Array.from({ length: 12 }, (_, index) => String(index));
    const outputs = many.map((text, index) => (index < 10 ? text : 'no'));
    expect((await computeScore(run, answer, { inputs: many, outputs }, { continuous: true })).score).toBe(1);
    expect((await computeScore(run, answer, { inputs: many, outputs })).score).toBeCloseTo(10 / 12);
  });
});

test('the cases behind the first one that does not compile are skipped, whichever of them answers first', async () => {
  const broken = failed(null, {});
  const after = (turns: number) => new Promise<void>((resolve) => setTimeout(resolve, turns));
  // A sandbox that does not heed its signal: the third case answers last, and does not compile either.
  const run: Run = async (request) => {
    const index = Number((request as RunCodeInput).stdin);
    await after(index * 20);
    return index === 1 ? success('1\n') : broken;
  };
  const cases = { inputs: ['0', '1', '2'], outputs: ['0', '1', '2'] };
  const { results, metadata } = await checkCorrectness(run, cases, 'x');
  expect(results).toEqual([-4, -4, -4]);
  expect(statuses(metadata)).toEqual(['compile_error', 'compile_error_skipped', 'compile_error_skipped']);
});

describe('compute_score without a sandbox', () => {
  const never: Run = () => Promise.reject(new Error('was run'));
  test.each([
    ['no code', { inputs: [], outputs: [] }, 'Invalid completion (missing code block)'],
    ['```python\nx\n```', '{"inputs":', 'Invalid test_cases JSON format'],
    ['```python\nx\n```', {}, 'Invalid input/output data'],
  ])('%j with %j: 0, %s', async (completion, cases, error) => {
    expect(await computeScore(never, completion, cases)).toEqual({ score: 0, metadata: [{ error }] });
  });

  test.each([
    ['```python\na\n```', '\na\n'],
    ['```python\na\n``` ```python\nb', '\nb'],
    ['```\na\n```', '\na\n'],
    ['```js\na\n``` ```\nb\n```', 'a\n'],
    ['none', undefined],
  ])('the code of %j', (completion, code) => {
    expect(codeOf(completion)).toBe(code);
  });
});
