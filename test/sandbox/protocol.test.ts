// The embedded server must refuse a bad body with the words of the real one: each recorded 422 is asked of the
// request tables directly. (The server's own conformance test replays them over HTTP.)
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonError, parsePythonJson } from '../../src/core/json/parse.ts';
import { printJson } from '../../src/core/json/print.ts';
import type { JsonValue } from '../../src/core/json/value.ts';
import {
  getPromptByIdRequest,
  getPromptsRequest,
  runCodeRequest,
  runCodeResponse,
  runJupyterRequest,
  sessionRequest,
  startInstanceResponse,
  submitRequest,
} from '../../src/sandbox/protocol.ts';
import type { Issue } from '../../src/sandbox/pydantic.ts';

const GOLDEN = new URL('../../fixtures/sandboxfusion/recorded.jsonl', import.meta.url);
const requests = {
  '/run_code': runCodeRequest,
  '/run_jupyter': runJupyterRequest,
  '/submit': submitRequest,
  '/list_ids': getPromptsRequest,
};

interface Exchange {
  name: string;
  request: { path: string; json?: unknown; raw?: string | null; headers?: Record<string, string> };
  response: { http_status: number; json: { detail: Issue[] } };
}
const exchanges = readFileSync(GOLDEN, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Exchange);

const withoutMinor = (detail: Issue[]) =>
  detail.map((issue) => (issue.url ? { ...issue, url: issue.url.replace(/\/\d+\.\d+\//, '/X/') } : issue));

describe('recorded 422 answers', () => {
  for (const { name, request, response } of exchanges.filter((one) => one.response.http_status === 422)) {
    test(name, () => {
      const check = requests[request.path as keyof typeof requests];
      const isJson = (request.headers?.['content-type'] ?? 'application/json').includes('json');
      let body = request.json;
      if (body === undefined && isJson && request.raw) {
        try {
          body = parsePythonJson(request.raw);
        } catch (error) {
          const { message, offset } = error as JsonError;
          const issue = { type: 'json_invalid', loc: ['body', offset], msg: 'JSON decode error', input: {} };
          expect([{ ...issue, ctx: { error: message } }]).toEqual(response.json.detail);
          return;
        }
      } else if (body === undefined) body = request.raw;
      const result = check.check(body);
      expect(result.ok ? [] : withoutMinor(result.detail)).toEqual(withoutMinor(response.json.detail));
    });
  }
});

describe('what pydantic coerces', () => {
  const run = (fields: object) => {
    const result = runCodeRequest.check({ code: '', language: 'python', ...fields });
    return result.ok ? result.value : result.detail.map((issue) => `${issue.loc.join('.')}: ${issue.type}`);
  };

  test('defaults', () => {
    expect(run({})).toEqual({
      code: '',
      language: 'python',
      compile_timeout: 10,
      run_timeout: 10,
      memory_limit_MB: -1,
      stdin: null,
      files: {},
      fetch_files: [],
    });
  });

  test.each([
    ['run_timeout', '5', 5],
    ['run_timeout', ' 1e1 ', 10],
    ['run_timeout', '1_0', 10],
    ['run_timeout', 'inf', Number.POSITIVE_INFINITY],
    ['run_timeout', true, 1],
    ['run_timeout', Number.NaN, Number.NaN],
    ['memory_limit_MB', 1024.0, 1024],
    ['memory_limit_MB', '12.0', 12],
    ['memory_limit_MB', '-1', -1],
    ['stdin', null, null],
  ])('%s: %j is read as %j', (field, value, expected) => {
    expect(run({ [field]: value })).toMatchObject({ [field]: expected });
  });

  test.each([
    ['run_timeout', null, 'body.run_timeout: float_type'],
    ['run_timeout', '', 'body.run_timeout: float_parsing'],
    ['memory_limit_MB', 1.5, 'body.memory_limit_MB: int_from_float'],
    ['memory_limit_MB', 'many', 'body.memory_limit_MB: int_parsing'],
    ['memory_limit_MB', '5.', 'body.memory_limit_MB: int_parsing'],
    ['memory_limit_MB', 1e20, 'body.memory_limit_MB: int_parsing_size'],
    ['memory_limit_MB', Number.POSITIVE_INFINITY, 'body.memory_limit_MB: finite_number'],
    ['code', null, 'body.code: string_type'],
    ['files', [], 'body.files: dict_type'],
    ['fetch_files', [1], 'body.fetch_files.0: string_type'],
  ])('%s: %j is refused as %s', (field, value, expected) => {
    expect(run({ [field]: value })).toEqual([expected]);
  });

  test.each([
    [true, []],
    ['off', []],
    [1, []],
    [2, ['bool_parsing']],
    ['maybe', ['bool_parsing']],
    [2.5, ['bool_type']],
    [1e20, ['bool_type']],
    [[], ['bool_type']],
  ])('is_fewshot: %j is reported as %j', (is_fewshot, expected) => {
    const result = getPromptsRequest.check({ dataset: 'd', config: { is_fewshot } });
    expect(
      result.ok ? [] : result.detail.map(({ type, loc }) => (loc.join('.') === 'body.config.is_fewshot' ? type : loc)),
    ).toEqual(expected);
  });

  test('a file named __proto__ stays a file', () => {
    const read = run({ files: JSON.parse('{"__proto__":"aGk="}') });
    expect(Object.entries((read as { files: object }).files)).toEqual([['__proto__', 'aGk=']]);
  });

  test('an id is an int or a str; anything else is an error for both', () => {
    const ask = (id: unknown) => getPromptByIdRequest.check({ dataset: 'd', config: {}, id });
    expect(ask('11')).toMatchObject({ value: { id: '11' } });
    expect(ask(11)).toMatchObject({ value: { id: 11 } });
    const refused = ask(null);
    expect(refused.ok ? [] : refused.detail.map((issue) => issue.loc.join('.'))).toEqual([
      'body.id.int',
      'body.id.str',
    ]);
  });
});

test('an answer that leaves keys out is completed with nulls', () => {
  expect(runCodeResponse.parse({ status: 'Success', run_result: { status: 'Finished' } })).toEqual({
    status: 'Success',
    message: '',
    compile_result: null,
    run_result: { status: 'Finished', execution_time: null, return_code: null, stdout: null, stderr: null },
    executor_pod_name: null,
    files: {},
  });
});

describe('ids beyond 2^53', () => {
  const digits = '5671949450826943757';
  test.each([`{"sid":${digits}}`, `{"sid":"${digits}"}`])('%s keeps its digits', (text) => {
    expect(sessionRequest.check(parsePythonJson(text))).toEqual({ ok: true, value: { sid: digits } });
    expect(startInstanceResponse.parse(parsePythonJson(text))).toEqual({ sid: digits });
  });
  test('and are written back as they came', () => {
    expect(printJson(parsePythonJson(`[${digits},"${digits}",1]`))).toBe(`[${digits},"${digits}",1]`);
  });
});

describe('JSON as Python reads it', () => {
  test('any JSON survives being read and written', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.boolean(), (value, slow) => {
        // A long integer beside the value sends it through the parser of our own.
        const text = slow ? `[${JSON.stringify(value)},12345678901234567890]` : `[${JSON.stringify(value)}]`;
        expect(JSON.parse(printJson((parsePythonJson(text) as JsonValue[])[0]))).toEqual(
          JSON.parse(JSON.stringify(value)),
        );
      }),
    );
  });

  // Messages and positions as CPython 3.11 gives them.
  test.each([
    ['', 'Expecting value', 0],
    ['{"code": ', 'Expecting value', 9],
    ['{"a":1,}', 'Expecting property name enclosed in double quotes', 7],
    ['[1,]', 'Expecting value', 3],
    ['"abc', 'Unterminated string starting at', 0],
    ['{"a" 1}', "Expecting ':' delimiter", 5],
    ['[1 2]', "Expecting ',' delimiter", 3],
    ['"\\x"', 'Invalid \\escape', 1],
    ['"\\u12"', 'Invalid \\uXXXX escape', 2],
    ['1 2', 'Extra data', 2],
    ['"😀\n"', 'Invalid control character at', 2],
  ])('%j: %s at %i', (text, message, position) => {
    expect(() => parsePythonJson(text)).toThrow(new JsonError(message, position));
    try {
      parsePythonJson(text);
    } catch (error) {
      expect((error as JsonError).offset).toBe(position);
    }
  });

  test('NaN and Infinity are numbers; nesting without end is an error, not a crash', () => {
    expect(parsePythonJson('[NaN,Infinity,-Infinity]')).toEqual([Number.NaN, Infinity, -Infinity]);
    expect(() => parsePythonJson(`${'[NaN,'.repeat(100_000)}`)).toThrow(JsonError);
  });
});
