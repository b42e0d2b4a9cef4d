// Texts that once held the server for seconds, or ended it: of a form that a pattern, a number or a list took the square
// of their length for. Each takes milliseconds now, and would take hours.
import { describe, expect, test } from 'vitest';
import { JsonError, parsePythonJson } from '../../src/core/json/parse.ts';
import { autoEval } from '../../src/sandbox/datasets/auto-eval.ts';
import { fencedBlocks } from '../../src/sandbox/datasets/extraction.ts';
import { runCodeRequest } from '../../src/sandbox/protocol.ts';
import { parseFloatText } from '../../src/sandbox/pydantic.ts';
import { LineSplitter } from '../../src/sandbox/server/lines.ts';
import { loneSurrogate } from '../../src/sandbox/server/runner.ts';
import { judge } from '../../src/sandbox/verdict.ts';

describe('in a time that grows with the length', () => {
  test('a float of digits and a letter', () => {
    const text = `${'1'.repeat(4_000_000)}x`;
    expect(parseFloatText(text)).toBeUndefined();
    expect(parseFloatText('1'.repeat(4_000_000))).toBe(Number.POSITIVE_INFINITY);
    for (const [given, value] of Object.entries({
      '1.': 1,
      '.5': 0.5,
      '1_0.5e1': 105,
      '-inf': Number.NEGATIVE_INFINITY,
    }))
      expect(parseFloatText(given)).toBe(value);
  });

  test('an integer beyond the digits that Python takes is refused as Python refuses it', () => {
    const digits = '1'.repeat(4_000_000);
    const body = `{"code":"1","language":"python","memory_limit_MB":${digits}}`;
    expect(() => parsePythonJson(body)).toThrow(JsonError);
    const checked = runCodeRequest.check({ code: '1', language: 'python', memory_limit_MB: digits });
    expect(checked).toMatchObject({ ok: false, detail: [{ type: 'int_parsing_size' }] });
    expect(parsePythonJson(`[${'1'.repeat(4300)}]`)).toEqual([BigInt('1'.repeat(4300))]);
  });

  test('newlines before a last letter', () => {
    const stdout = `${'\n'.repeat(2_000_000)}x`;
    const run = { status: 'Finished' as const, execution_time: 0, return_code: 0, stdout, stderr: '' };
    const answer = {
      status: 'Success' as const,
      message: '',
      compile_result: null,
      run_result: run,
      executor_pod_name: null,
      files: {},
    };
    const shown = { index: 0, input: null, expected: 'x\n\n' };
    expect(judge(shown, answer, null).result).toBe(false);
  });

  test('a completion of backticks', () => {
    expect(fencedBlocks('`'.repeat(1_000_000))).toEqual([]);
    fencedBlocks(`\`\`\`\n${'x```'.repeat(250_000)}`);
    expect(fencedBlocks('```python\na\n\n  ```')).toEqual([{ priority: 30, language: 'python', code: 'a' }]);
  });

  test('a Go completion of imports that never end', async () => {
    const row = { id: 1, content: '', test: JSON.stringify({ code: '' }), labels: { programming_language: 'go' } };
    let code = '';
    const request = {
      dataset: 'd',
      id: 1,
      completion: `\`\`\`go\nimport (\n"fmt"\n)\n${'import (\n'.repeat(200_000)}\`\`\``,
      config: { custom_extract_logic: null, extra: {} },
    } as unknown as Parameters<typeof autoEval.evaluate>[1];
    await autoEval.evaluate(row, request, {
      run: async (program) => {
        code = program.code;
        return {
          status: 'Success',
          message: '',
          compile_result: null,
          run_result: null,
          executor_pod_name: null,
          files: {},
        };
      },
      casesAtOnce: 1,
      keep: (answer) => answer,
    });
    expect(code).toContain('import "fmt"');
  });

  test('half a surrogate pair at the end of a long text', () => {
    const text = `${'a'.repeat(20_000_000)}\ud800`;
    expect(loneSurrogate(text)).toContain('position 20000000');
  });
});

describe('lines of a hostile channel', () => {
  test('an endless line is dropped once it is too long, and the next one is read', () => {
    const read: string[] = [];
    let tooLong = 0;
    const lines = new LineSplitter(
      1000,
      (line) => read.push(line.toString()),
      () => tooLong++,
    );
    lines.push(Buffer.from('first\nsec'));
    lines.push(Buffer.from('ond\n'));
    for (let part = 0; part < 10_000; part++) lines.push(Buffer.alloc(1000, 'x'));
    lines.push(Buffer.from('\nlast\n'));
    expect([read, tooLong]).toEqual([['first', 'second', 'last'], 1]);
  });
});
