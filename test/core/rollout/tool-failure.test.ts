import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readToolSchemas } from '../../../src/core/chat/tool-schemas.ts';
import { shownAdvantages } from '../../../src/core/rollout/advantage.ts';
import { askedForms } from '../../../src/core/rollout/answer-forms.ts';
import { failureOf } from '../../../src/core/rollout/tool-failure.ts';

describe('a tool result that is an error', () => {
  test.each([
    ['Error: user not found', 'rejected', null],
    ['Error when executing tool: x', 'tool_failure', 'tool'],
    ["Unknown function 'f'", 'unknown_tool', 'model'],
    ['HTTP Error 500: Internal Server Error', 'unavailable', 'world'],
    ['HTTP Error 404: Not Found', 'http', null],
    ['429 Too Many Requests', 'rate_limit', 'world'],
    ['Gateway Timeout (504)', 'unavailable', 'world'],
    ['Execution timed out', 'timeout', null],
    ['Command timed out after 30 s', 'timeout', null],
    ['{"error": "no such city"}', 'rejected', null],
    ['no stdout here', 'no_answer', null],
    ["NameError: name 'x' is not defined", 'exception', 'model'],
    [
      'Traceback (most recent call last):\n  File "a.py", line 1\nModuleNotFoundError: No module named \'a\'',
      'missing_module',
      'world',
    ],
    ['Traceback (most recent call last):\n  File "a.py", line 1\nMemoryError', 'out_of_memory', null],
    ['  File "a.py", line 1\nTraceback (most recent call last):\nSyntaxError: invalid syntax', 'syntax', 'model'],
    ['Connection refused', 'unavailable', 'world'],
    ["ImportError: cannot import name 'solve' from 'sympy'", 'missing_module', null],
    ['Traceback (most recent call last):\n  File "a.py", line 1, in <mod', 'exception', null],
    ["PermissionError: [Errno 13] Permission denied: '/root/x'", 'exception', null],
    ["FileNotFoundError: [Errno 2] No such file or directory: 'x.csv'", 'exception', null],
    ['bash: line 1: pyhton: command not found\n', 'exception', null],
    ['/bin/sh: jq: not found', 'exception', null],
    ['zsh-5.9: ls1: command not found', 'exception', null],
  ])('%s', (text, kind, fault) => {
    expect(failureOf(text, null)).toMatchObject({ kind, fault });
  });

  test.each([
    '42',
    '',
    'The word Error: is on page 500.',
    '{"error": null, "result": 1}',
    '{"errors": []}',
    'A page about HTTP Error 500 and how to mend it',
    'timeouts are set to 30 s',
    'def f():\n    raise ValueError("x")',
    '500 people came',
    'The page says that the file is not found',
    'Errors were found in 3 files',
  ])('is not: %s', (text) => {
    expect(failureOf(text, null)).toBeNull();
  });

  test("a user's own pattern comes first, for its tool alone", () => {
    const own = [
      {
        tool: 'search',
        pattern: /^nothing found/i,
        kind: 'rejected' as const,
        fault: 'model' as const,
        says: 'no hit',
      },
    ];
    expect(failureOf('Nothing found.', 'search', own)).toMatchObject({ kind: 'rejected', says: 'no hit', start: 0 });
    expect(failureOf('Nothing found.', 'calc', own)).toBeNull();
    const stricter = [{ ...own[0]!, tool: null, pattern: /429/ }];
    expect(failureOf('429 Too Many Requests', 'any', stricter)).toMatchObject({ kind: 'rejected' });
  });

  test('of several tracebacks the last one counts; one that is quoted within a line is not', () => {
    const trace = (error: string) => `Traceback (most recent call last):\n  File "a.py", line 1\n${error}\n`;
    expect(failureOf(`${trace('MemoryError')}\n${trace('ValueError: x')}`, null)).toMatchObject({ kind: 'exception' });
    expect(
      failureOf(`${'a long line of text before it, quoted: '.repeat(2)}${trace('ValueError: x')}`, null),
    ).toBeNull();
    const cut = 'Traceback (most recent call last):\n  File "a.py", line 1';
    expect(failureOf(cut, null)).toMatchObject({ kind: 'exception', start: cut.indexOf('  File') });
  });
});

test('a rollout alone, and a group with a score that is missing or no number, have no advantage', () => {
  expect(shownAdvantages([1])).toEqual([null]);
  expect(shownAdvantages([1, Number.NaN, 0])).toEqual([null, null, null]);
  expect(shownAdvantages([1, null])).toEqual([null, null]);
  expect(shownAdvantages([1, 0]).map((one) => one?.toFixed(3))).toEqual(['0.707', '-0.707']);
});

describe('what the text of a result states by itself', () => {
  const PYTHON = 'Traceback (most recent call last):\n  File "a.py", line 1\nValueError: x';

  test.each([
    ['{"content": [{"type": "text", "text": "no such file"}], "isError": true}', 'rejected'],
    ['{"stdout": "", "stderr": "boom", "exit_code": 1}', 'exception'],
    ['{"status": "Failed", "run_result": {"return_code": 124, "stdout": ""}}', 'timeout'],
    ['{"result": null, "error": "no such city"}', 'rejected'],
    ["{'error': 'no such city'}", 'rejected'],
    ['a.txt\n\nCommand exited with code 2', 'exception'],
    ['boom\n[exit code 1]', 'exception'],
    ['[The command completed with exit code 1.]', 'exception'],
    ['<returncode>1</returncode>\n<output>\n</output>', 'exception'],
    ['Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nno', 'exception'],
    ['Command: false\nOutput: (empty)\nExit Code: 1\nSignal: (none)', 'exception'],
  ])('is a failure: %s', (text, kind) => {
    expect(failureOf(text, null)?.kind).toBe(kind);
  });

  test.each([
    `<returncode>0</returncode>\n<output>\n${PYTHON}\n</output>`,
    `Exit code: 0\n${PYTHON}`,
    JSON.stringify({ exit_code: 0, stdout: PYTHON }),
    '{"error": "none", "value": 1}',
    '{"output": "3", "error": "DeprecationWarning: old"}',
    '{"order": 1, "status": "cancelled"}',
    '{"success": false, "board": "....", "message": "Not solved yet."}',
    'The log says:\nexit code: 1\nand goes on',
    '{"a": {"isError": true}}',
  ])('is no failure: %s', (text) => {
    expect(failureOf(text, null)).toBeNull();
  });

  test('an exit status counts before the note that the tool worked, and a recorded one before the text', () => {
    const failed = 'Output: \nExit Code: 1';
    expect(failureOf(failed, null, [], { isFailure: false, evidence: 'status success' })?.kind).toBe('exception');
    expect(failureOf(failed, null, [], { isFailure: false, evidence: 'exit status 0', isExit: true })).toBeNull();
  });
});

describe('what is done once, or not at all, to be fast', () => {
  test('a text without words is no failure by any pattern', () => {
    // A pattern of the user that matches nothing has every other one tried.
    const never = { tool: null, pattern: /(?!)/, kind: 'other', fault: null, says: '' } as const;
    const text = fc.string({
      unit: fc.constantFrom(...' \n\t0123456789.,:;-+*/%()[]{}<>"\'#!?=_|^~@&$'),
      maxLength: 60,
    });
    fc.assert(
      fc.property(text, (said) => {
        expect(failureOf(said, null)).toEqual(failureOf(said, null, [never]));
      }),
      { numRuns: 500 },
    );
    for (const said of ['404', ' 500\n', '[]', '-1', '1: 2: 3', '{"": ""}'])
      expect(failureOf(said, null)).toEqual(failureOf(said, null, [never]));
  });

  test('forms and tools are those of their prompt, whichever was asked about before', () => {
    const prompts = [
      'Put it in \\boxed{}.',
      'Give it after ####.',
      '<tools>\n{"name": "a"}\n</tools>',
      '<tools>\n{"name": "b"}\n</tools>',
      '',
    ];
    const answers = (prompt: string) => [askedForms(prompt).map(({ name }) => name), readToolSchemas(prompt)];
    const known = new Map(prompts.map((prompt) => [prompt, JSON.stringify(answers(prompt))]));
    expect(new Set(known.values()).size).toBe(prompts.length);
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...prompts), { maxLength: 12 }), (order) => {
        for (const prompt of order) expect(JSON.stringify(answers(prompt))).toBe(known.get(prompt));
      }),
    );
  });
});
