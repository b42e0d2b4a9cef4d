import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { mapOrdered } from '../../src/core/async/map-ordered.ts';
import { sameLines } from '../../src/sandbox/datasets/common-oj.ts';
import { Datasets, loadTables } from '../../src/sandbox/datasets/datasets.ts';
import {
  getPromptByIdRequest,
  getPromptsRequest,
  type RunCode,
  type RunCodeRequest,
  runCodeResponse,
  submitRequest,
} from '../../src/sandbox/protocol.ts';
import type { Checked } from '../../src/sandbox/pydantic.ts';
import { hasPython, plainPython } from './plain-python.ts';

const SHARED = new URL('../../../shared/', import.meta.url).pathname;
const HUMAN_EVAL = `${SHARED}data/human-eval/HumanEval.jsonl`;
const MBPP = `${SHARED}data/mbpp/mbpp.jsonl`;
const directory = mkdtempSync(join(tmpdir(), 'datasets-test-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function file(name: string, rows: object[] | string): string {
  const path = join(directory, name);
  writeFileSync(path, typeof rows === 'string' ? rows : rows.map((row) => JSON.stringify(row)).join('\n'));
  return path;
}
function read<T>(checked: Checked<T>): T {
  if (!checked.ok) throw new Error(JSON.stringify(checked.detail));
  return checked.value;
}
const prompts = (dataset: string, config: object, more: object = {}) =>
  read(getPromptsRequest.check({ dataset, config, ...more }));
const byId = (dataset: string, id: unknown, config: object = {}) =>
  read(getPromptByIdRequest.check({ dataset, id, config }));
const submission = (dataset: string, id: unknown, completion: string, config: object = {}) =>
  read(submitRequest.check({ dataset, id, completion, config }));
const fenced = (code: string, language = 'python') => `Here:\n\`\`\`${language}\n${code}\n\`\`\`\n`;

/** A sandbox in which every program ends well, and the programs that it was given. */
function recorder(answer: object = {}): { run: RunCode; asked: RunCodeRequest[] } {
  const asked: RunCodeRequest[] = [];
  const run: RunCode = async (request) => {
    asked.push(request);
    const finished = { status: 'Finished', return_code: 0, stdout: '', stderr: '', execution_time: 0 };
    return runCodeResponse.parse({ status: 'Success', run_result: finished, ...answer });
  };
  return { run, asked };
}

const ROW = { id: 1, content: 'Add', test: { code: 'assert add(1,2)==3' }, labels: { programming_language: 'python' } };
const CASES = [
  { input: { stdin: '1 2' }, output: { stdout: '3' } },
  { input: { stdin: '2 2' }, output: { stdout: '4' } },
  { input: { stdin: '3 3' }, output: { stdout: '6' } },
];
const OJ = { id: 1, content: 'Add two numbers', test: CASES, labels: {} };

describe('which class a dataset is of', () => {
  const datasets = new Datasets(recorder().run);
  test.each([
    ['my_own', {}, 'no eval class found for dataset my_own'],
    ['my_own', { dataset_type: 'NopeDataset' }, 'eval class NopeDataset not found'],
    ['my_own', { dataset_type: 'AutoEvalV4Dataset' }, 'eval class AutoEvalV4Dataset not found'],
    ['mhpp', {}, 'no problems for dataset mhpp on this server: start the server with --dataset mhpp=FILE.jsonl'],
    ['constructor', {}, 'no eval class found for dataset constructor'],
  ])('%s with %j: 400 %s', async (dataset, config, message) => {
    await expect(datasets.listIds(prompts(dataset, config))).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(message),
    });
  });

  test('data of the wrong shape is 400', async () => {
    const config = { dataset_type: 'CommonOJDataset', language: 'python' };
    await expect(datasets.getPrompts(prompts('d', { ...config, provided_data: OJ }))).rejects.toMatchObject({
      status: 400,
      message: 'request.config.provided_data should be a list of str -> str | int',
    });
    const list = { ...config, provided_data: [OJ] };
    await expect(datasets.submit(submission('d', 1, '', list))).rejects.toMatchObject({
      status: 400,
      message: 'request.config.provided_data should be a dict with str -> str | int',
    });
    const { language: _, ...without } = { ...config, provided_data: OJ };
    await expect(datasets.submit(submission('d', 1, '', without))).rejects.toMatchObject({
      status: 400,
      message: 'config.language field must exist for CommonOJDataset, got None',
    });
  });

  test('a problem that lacks a column is 500 with the name of the column', async () => {
    const config = { dataset_type: 'AutoEvalDataset', provided_data: { id: 1, content: 'x' } };
    await expect(datasets.getPromptById(byId('d', 1, config))).rejects.toMatchObject({
      status: 500,
      body: { detail: "'labels'", traceback: [expect.stringContaining('the problem has no "labels"')] },
    });
  });

  test('metrics are asked of the class, which has none', async () => {
    const ask = { dataset: 'mbpp', config: prompts('mbpp', {}).config };
    expect(await datasets.getMetrics({ ...ask, results: [] })).toEqual({});
    expect(await datasets.getMetricsFunction(ask)).toEqual({ function: null });
  });
});

describe('--dataset NAME=FILE', () => {
  test.each([
    ['nonsense', '--dataset: expected NAME=FILE, got nonsense'],
    ['a=/does/not/exist.jsonl', /^dataset \/does\/not\/exist.jsonl: no such file or directory/],
  ])('%s', async (option, message) => {
    await expect(loadTables([option])).rejects.toThrow(message);
  });

  test.each([
    ['empty', '', 'no problems in it'],
    ['broken', '{"id":1,"content":"","test":[],"labels":{}}\n\n{"id":', 'broken.jsonl:3: not JSON: Expecting value'],
    [
      'foreign',
      '{"question":1}',
      /foreign.jsonl:1: no class judges such a problem. Known are AiderBenchmarkDataset, .*VerilogDataset/,
    ],
    ['scalar', '5', 'scalar.jsonl:1: expected an object'],
    ['double', `${JSON.stringify(OJ)}\n${JSON.stringify(OJ)}`, 'double.jsonl:2: id 1 appears twice'],
  ])('%s file is reported by its line', async (name, text, message) => {
    await expect(loadTables([`d=${file(`${name}.jsonl`, text)}`])).rejects.toThrow(message);
  });

  test('rows in upstream’s layout, with offset and limit, an id beyond 2^53, and the class by their shape', async () => {
    const rows = [1, 2, 3].map((id) => ({ ...OJ, id }));
    const path = file('oj.jsonl', rows);
    writeFileSync(
      path,
      `${readFileSync(path, 'utf8')}\n${JSON.stringify(OJ).replace('"id":1', '"id":5671949450826943757')}`,
    );
    const tables = await loadTables([`oj=${path}`, `auto=${file('auto.jsonl', [ROW])}`]);
    const datasets = new Datasets(recorder().run, tables);
    expect(datasets.listDatasets()).toEqual(['oj', 'auto', 'humaneval_python', 'mbpp']);
    expect(await datasets.listIds(prompts('oj', {}))).toEqual([1, 2, 3, 5671949450826943757n]);
    expect(await datasets.listIds(prompts('oj', {}, { offset: 1, limit: 1 }))).toEqual([2]);
    // In SQLite, which upstream asks, an offset below zero does not count, nor does a limit.
    expect(await datasets.listIds(prompts('oj', {}, { offset: -1, limit: 1 }))).toEqual([1]);
    expect(await datasets.listIds(prompts('oj', {}, { offset: 1, limit: -1 }))).toEqual(
      (await datasets.listIds(prompts('oj', {}))).slice(1),
    );
    const [prompt] = await datasets.getPrompts(prompts('oj', { language: 'cpp' }));
    expect(prompt?.prompt).toMatch(/^Add two numbers\n\nWrite a complete C\+\+ program/);
    expect(await datasets.getPromptById(byId('auto', '1'))).toEqual({ id: 1, prompt: 'Add', labels: ROW.labels });
    await expect(datasets.getPromptById(byId('oj', 9))).rejects.toMatchObject({
      status: 500,
      body: { detail: "'NoneType' object is not iterable", traceback: [expect.stringContaining('has no problem 9')] },
    });
  });
});

describe('CommonOJ', () => {
  const config = (extra: object = {}, more: object = {}) => ({
    dataset_type: 'CommonOJDataset',
    language: 'python',
    provided_data: OJ,
    extra,
    ...more,
  });
  const stopAtTwo: RunCode = async (request) =>
    runCodeResponse.parse({
      status: request.stdin === '2 2' ? 'Failed' : 'Success',
      run_result: { status: 'Finished', return_code: 0, stdout: request.stdin === '1 2' ? '3\n' : '6\n' },
    });

  test('stops at the first case that fails, whatever the others did', async () => {
    const result = await new Datasets(stopAtTwo).submit(submission('d', 1, fenced('x'), config()));
    expect(result).toMatchObject({ id: 1, accepted: false, extracted_code: 'x', full_code: null, extra: null });
    expect(result.tests.map((one) => one.passed)).toEqual([true, false]);
    expect(result.tests.map((one) => one.test_info)).toEqual(CASES.slice(0, 2));
  });

  test('run_all_cases goes on', async () => {
    const result = await new Datasets(stopAtTwo).submit(
      submission('d', 1, fenced('x'), config({ run_all_cases: true })),
    );
    expect(result.tests.map((one) => one.passed)).toEqual([true, false, true]);
  });

  test('no code is run as an empty program; no tests are accepted', async () => {
    const { run, asked } = recorder();
    const none = await new Datasets(run).submit(submission('d', 1, 'I do not know', config()));
    expect([none.accepted, none.extracted_code, asked[0]?.code]).toEqual([false, '', '']);
    const empty = config({}, { provided_data: { ...OJ, test: [] } });
    expect(await new Datasets(run).submit(submission('d', 1, '', empty))).toMatchObject({ accepted: true, tests: [] });
  });

  test('time limits: 20 s, or 10 s for what is compiled, or what the config says', async () => {
    const { run, asked } = recorder();
    const datasets = new Datasets(run);
    const one = { provided_data: { ...OJ, test: CASES.slice(0, 1) } };
    await datasets.submit(submission('d', 1, '', config({}, one)));
    await datasets.submit(submission('d', 1, '', config({}, { ...one, language: 'cpp' })));
    await datasets.submit(
      submission('d', 1, '', config({}, { ...one, language: 'cpp', run_timeout: 1, compile_timeout: 2 })),
    );
    expect(asked.map((request) => [request.run_timeout, request.compile_timeout])).toEqual([
      [20, 10],
      [10, 10],
      [1, 2],
    ]);
  });

  test('long texts of passed cases lose their middle unless asked for', async () => {
    const long = { input: { stdin: 'i'.repeat(2000) }, output: { stdout: '' } };
    const data = { provided_data: { ...OJ, test: [long] } };
    const datasets = new Datasets(recorder().run);
    const short = await datasets.submit(submission('d', 1, '', config({}, data)));
    expect(short.tests[0]?.test_info).toMatchObject({ input: { stdin: `${'i'.repeat(500)}...${'i'.repeat(500)}` } });
    const full = await datasets.submit(submission('d', 1, '', config({ return_full_case: true }, data)));
    expect(full.tests[0]?.test_info).toEqual(long);
  });

  test('a sandbox that fails says nothing about the completion', async () => {
    const broken = recorder({ status: 'SandboxError', message: 'no such runner' }).run;
    await expect(new Datasets(broken).submit(submission('d', 1, '', config()))).rejects.toMatchObject({
      status: 500,
      message: 'Failed to check stdio test case: failed to request sandbox: no such runner',
    });
  });

  test('an abort reaches the running cases and ends the submission', async () => {
    const abort = new AbortController();
    const hanging: RunCode = (_request, signal) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
        abort.abort(new Error('hung up'));
      });
    await expect(new Datasets(hanging).submit(submission('d', 1, '', config()), abort.signal)).rejects.toThrow(
      'hung up',
    );
  });

  test.each([
    ['3\n', '3', true],
    [' Yes \nNO\n\n', 'yes\nno', true],
    ['1\n2', '1', false],
    ['1 2', '1  2', false],
    ['0.333333', '0.3333333', true],
    ['1e-3', '0.001', true],
    ['1.1', '1.0', false],
    ['nan', 'NaN', true],
    ['inf', '1e999', false],
    ['0x10', '16', false],
    ['', '', true],
  ])('%j against %j: %s', (actual, expected, same) => {
    expect(sameLines(actual, expected)).toBe(same);
  });
});

describe('AutoEval', () => {
  const config = (test: object, labels: object = {}, extra: object = {}) => ({
    dataset_type: 'AutoEvalDataset',
    provided_data: { id: 0, content: 'Write add', test, labels: { programming_language: 'python', ...labels } },
    extra,
  });
  const program = async (completion: string, ...given: Parameters<typeof config>) => {
    const { run, asked } = recorder();
    const result = await new Datasets(run).submit(submission('d', 0, completion, config(...given)));
    expect(result.full_code).toBe(asked[0]?.code);
    return { ...asked[0], extra: result.extra, accepted: result.accepted };
  };

  test('the test goes after the code, without the code’s own entry point', async () => {
    const code = 'def add(a, b):\n    return a + b\n\nif __name__ == "__main__":\n    print(add(1, 2))';
    expect(await program(fenced(code), { code: 'assert add(1,2)==3', asset: '{"a.txt":"aGk="}' })).toMatchObject({
      code: 'def add(a, b):\n    return a + b\nassert add(1,2)==3',
      files: { 'a.txt': 'aGk=' },
      run_timeout: 20,
      compile_timeout: 40,
      extra: {},
    });
  });

  test('or around #<INSERT>, as a literal when asked', async () => {
    const test = { code: 'a\n#<INSERT>\nb' };
    expect((await program(fenced('x = "1"'), test)).code).toBe('a\nx = "1"\nb');
    expect((await program(fenced('x = "1"'), test, {}, { repr_code: true })).code).toBe(`a\n'x = "1"'\nb`);
  });

  test('with append_flag a program that leaves early is not accepted', async () => {
    const left = await program(fenced('exit()'), { code: 'assert False' }, {}, { append_flag: true });
    expect(left.accepted).toBe(false);
    expect(left.code).toMatch(/\n\nprint\("[0-9a-f]{20}"\)$/);
  });

  test('jest: the report becomes jest_cases', async () => {
    const cases = [{ status: 'passed', fullName: 'a b', title: 'b', ancestorTitles: ['a'], failureMessages: [] }];
    const report = JSON.stringify({ testResults: [{ testFilePath: 'f.ts', testResults: cases }] });
    const { run, asked } = recorder({ files: { 'jest-report.json': Buffer.from(report).toString('base64') } });
    const labels = { programming_language: 'html', execution_language: 'jest' };
    const result = await new Datasets(run).submit(
      submission('d', 0, fenced('<p>', 'html'), config({ code: 'test()' }, labels)),
    );
    expect(asked[0]).toMatchObject({ language: 'jest', fetch_files: ['jest-report.json'], code: 'test()' });
    expect(Buffer.from(asked[0]?.files['index.html'] ?? '', 'base64').toString()).toBe('<p>');
    expect(result.extra).toEqual({
      jest_cases: [{ passed: true, full_name: 'a b', file: 'f.ts', suite: 'a', test: 'b', failure_messages: [] }],
    });
  });

  test('go: one package clause, imports first', async () => {
    const code = 'package main\nimport "fmt"\nimport (\n\t"os"\n)\nfunc F() {}';
    const { code: whole } = await program(
      fenced(code, 'go'),
      { code: 'package p\nimport "testing"\nfunc T() {}' },
      { programming_language: 'go' },
    );
    expect(whole).toMatch(/^package p\n\nimport "fmt"\nimport "testing"\nimport "os"\n\n/);
    expect(whole?.match(/package|import/g)).toHaveLength(4);
  });

  test('a test without code is refused clearly', async () => {
    await expect(program('', {})).rejects.toThrow('"test" of the problem is not {code, asset}');
  });

  test('java: every type goes into a separate file, for junit', async () => {
    const code =
      'import java.util.List;\n\nclass A {\n    int f() { return 1; }\n}\n\npublic class B {\n    int g;\n}\n';
    const { run, asked } = recorder();
    const given = config(
      { code: '\nclass BTest {\n    @Test\n    void g() {}\n}\n' },
      { programming_language: 'java' },
    );
    const result = await new Datasets(run).submit(submission('d', 0, fenced(code, 'java'), given));
    expect(asked[0]).toMatchObject({ language: 'junit', code: '', compile_timeout: 40 });
    const files = Object.entries(asked[0]?.files ?? {}).map(([name, text]) => [
      name,
      Buffer.from(String(text), 'base64').toString(),
    ]);
    expect(files.map(([name]) => name)).toEqual(['A.java', 'B.java', 'BTest.java']);
    expect(files[1]?.[1]).toMatch(
      /^import org\.junit.*\nimport static .*\nimport java\.util\.List;\n\npublic class B \{/,
    );
    expect(result.full_code).toContain('// BTest.java\n\n');
  });

  test('the prompt follows the template, or context and examples', async () => {
    const datasets = new Datasets(recorder().run);
    const ask = async (labels: object, more: object = {}) =>
      (await datasets.getPromptById(byId('d', 0, { ...config({ code: '' }, labels), ...more }))).prompt;
    expect(await ask({})).toBe('Write add');
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how Python's string.Template names a value
    const template = 'Q: ${question} $$5 $other $locale';
    expect(await ask({ prompt_template: template }, { locale: 'en' })).toBe('Q: Write add $5 $other en');
    expect(await ask({ context: 'C' })).toBe('C\n\nQuestion:Write add\n\nAnswer:\n');
    expect(await ask({ fewshot: 'F' }, { is_fewshot: true, locale: 'zh' })).toBe('F\n\n问题：Write add\n\n答案：\n');
    await expect(ask({}, { is_fewshot: true })).rejects.toThrow('Missing fewshot for id 0');
  });
});

describe.skipIf(!existsSync(HUMAN_EVAL) || !hasPython)(
  'the published files (skipped without ../shared/data and python3)',
  () => {
    const lines = (path: string) =>
      readFileSync(path, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Record<string, string>);
    const verdicts = (datasets: Datasets, items: [string, unknown, string, object][]) =>
      mapOrdered(
        items,
        async ([dataset, id, completion, config]) =>
          (await datasets.submit(submission(dataset, id, completion, config))).accepted,
        { concurrency: 4 },
      );

    test('HumanEval: the canonical solutions pass, as continuation and as a whole answer; a wrong one does not', async () => {
      const datasets = new Datasets(
        plainPython,
        await loadTables([`humaneval_python=${HUMAN_EVAL}`, `mine=${HUMAN_EVAL}`]),
      );
      const problems = lines(HUMAN_EVAL);
      expect(await datasets.listIds(prompts('humaneval_python', {}))).toEqual(problems.map((row) => row.task_id));
      const some = problems.filter((_, index) => index % 16 === 0);
      const id = (row: Record<string, string>) => Number(row.task_id?.split('/')[1]);
      const whole = (row: Record<string, string>) => fenced(`${row.prompt}${row.canonical_solution}`);
      const freeform = { extra: { is_freeform: true } };
      expect(
        await verdicts(datasets, [
          ...some.map((row): [string, unknown, string, object] => [
            'humaneval_python',
            id(row),
            row.canonical_solution ?? '',
            {},
          ]),
          ...some.map((row): [string, unknown, string, object] => ['mine', String(id(row)), whole(row), freeform]),
        ]),
      ).toEqual([...some, ...some].map(() => true));
      expect(
        await verdicts(datasets, [
          ['humaneval_python', 0, '    return None', {}],
          ['mine', 0, '    return None', {}],
          ['mine', 0, 'no code', freeform],
        ]),
      ).toEqual([false, false, false]);
    });

    test('MBPP: the reference solutions pass, the solution of another problem does not', async () => {
      const datasets = new Datasets(plainPython, await loadTables([`mbpp=${MBPP}`]));
      const problems = lines(MBPP).filter((_, index) => index % 80 === 0);
      const items = problems.map((row): [string, unknown, string, object] => [
        'mbpp',
        row.task_id,
        fenced(row.code ?? ''),
        {},
      ]);
      expect(await verdicts(datasets, items)).toEqual(items.map(() => true));
      expect(await verdicts(datasets, [['mbpp', 2, items[0]?.[2] ?? '', {}]])).toEqual([false]);
      const prompt = await datasets.getPromptById(byId('mbpp', '11'));
      expect(prompt.prompt).toMatch(
        /^You are an expert Python programmer.*pass these tests:\n\nassert remove_Occ\("hello","l"\) == "heo"\n/,
      );
    });
  },
);

describe.skipIf(!hasPython)('custom_extract_logic runs in the sandbox (skipped without python3)', () => {
  const config = (custom_extract_logic: string) => ({
    dataset_type: 'CommonOJDataset',
    language: 'python',
    provided_data: { ...OJ, test: CASES.slice(0, 1) },
    custom_extract_logic,
  });

  test('its blocks compete with the others', async () => {
    const logic = `
print('noise')
blocks = extract_fenced_code(completion)
submit_code_blocks([CodeBlock(priority=40, language='python', code=blocks[-1].code)])`;
    const completion = fenced('print(0)') + fenced('print(3)');
    const result = await new Datasets(plainPython).submit(submission('d', 1, completion, config(logic)));
    expect([result.extracted_code, result.accepted]).toEqual(['print(3)', true]);
  });

  test.each(['null', '{', '[{"priority": "9", "language": "", "code": 1}]'])(
    'what it writes in place of blocks does not count: %s',
    async (written) => {
      const logic = `import os\nopen('code-blocks.json', 'w').write('${written}')\nos._exit(0)`;
      const call = new Datasets(plainPython).submit(submission('d', 1, '', config(logic)));
      await expect(call).rejects.toThrow('it handed over no list of blocks');
    },
  );

  test('its mistakes are reported', async () => {
    const call = new Datasets(plainPython).submit(submission('d', 1, '', config('1/0')));
    await expect(call).rejects.toThrow(/custom_extract_logic failed in the sandbox: .*ZeroDivisionError/s);
  });
});

// The server's conformance test replays these over HTTP; here they show quickly which class is at fault.
describe.skipIf(!existsSync(`${SHARED}golden`) || !hasPython)(
  'recorded submissions (skipped without ../shared/golden)',
  () => {
    interface Exchange {
      name: string;
      request: { path: string; json: unknown };
      response: { http_status: number; json: object };
    }
    const golden = existsSync(`${SHARED}golden`)
      ? readFileSync(`${SHARED}golden/sandboxfusion.jsonl`, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Exchange)
      : [];
    const submitted = golden.filter(
      ({ request, response }) => request.path === '/submit' && response.http_status === 200,
    );
    const stable = (result: object) =>
      JSON.parse(
        JSON.stringify(result)
          .replace(/"execution_time":[\d.e-]+/g, '"execution_time":0')
          .replace(/File \\"[^"]+\.py\\"/g, 'File'),
      ) as object;
    test.skipIf(!existsSync(MBPP))(
      'the prompt of an MBPP problem is word for word the recorded one (skipped without ../shared/data)',
      async () => {
        const datasets = new Datasets(plainPython, await loadTables([`mbpp=${MBPP}`]));
        // Upstream's table begins with problem 11, where the test split does.
        const prompt = await datasets.getPrompts(prompts('mbpp', {}, { offset: 10, limit: 1 }));
        expect(prompt).toEqual(golden.find(({ name }) => name === 'get_prompts_limit1')?.response.json);
      },
    );
    test.each(submitted)('$name', async ({ request, response }) => {
      const result = await new Datasets(plainPython).submit(read(submitRequest.check(request.json)));
      // Python 3.10 marks the failing expression with carets of another length.
      const withoutCarets = (text: string) => text.replace(/\\n +\^+/g, '');
      const compared = (value: object) => JSON.parse(withoutCarets(JSON.stringify(stable(value)))) as object;
      expect(compared(result)).toEqual(compared(response.json));
    });
  },
);
