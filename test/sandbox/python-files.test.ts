// The programs in Python that the server gives to its interpreters, by what they say without one of its sandboxes.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import LIVE_CODE_BENCH from '../../src/sandbox/datasets/live_code_bench.py';
import PAL_MATH from '../../src/sandbox/datasets/pal_math.py';

const source = join(import.meta.dirname, '../../src');
const python = spawnSync('python3', ['-c', '']).status === 0;

test.skipIf(!python)('every program in Python is one (skipped without python3)', () => {
  const files = readdirSync(source, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.py'));
  expect(files.length).toBeGreaterThan(8);
  const parse = 'import ast, sys\nfor name in sys.argv[1:]: ast.parse(open(name).read(), name)';
  execFileSync('python3', ['-c', parse, ...files.map((name) => join(source, name))]);
});

test('constants on both sides of a pipe agree', () => {
  const text = (name: string) => readFileSync(join(source, 'sandbox', name), 'utf8');
  const number = (name: string, pattern: RegExp) => Number(pattern.exec(text(name))?.[1]?.replaceAll('_', ''));
  expect(number('server/backends/zygote.py', /^_HEAD = (\d+)/m)).toBe(
    number('server/backends/slot-run.ts', /^const HEAD = (\d+)/m),
  );
  expect(number('server/backends/pyodide_run.py', /by_signal = (\w+)/)).toBe(
    number('server/backends/pyodide-protocol.ts', /BY_SIGNAL = (\w+)/),
  );
});

const asked = (program: string, question: string): unknown =>
  JSON.parse(execFileSync('python3', ['-c', `${program}\n${question}`], { encoding: 'utf8' }));

test.skipIf(!python)(
  'PalMath compares numbers, texts without their dress, and element by element (skipped without python3)',
  () => {
    const functions = PAL_MATH.slice(0, PAL_MATH.indexOf("with open('answer.json')"));
    const pairs = [
      ['0.5', '50'],
      ['\\\\frac{1}{2}', '0.5'],
      ['x=3', '3'],
      ['(1, 2)', '[1,2]'],
      ['\\\\frac12', '1/2'],
      ['3', '4'],
      ['a', 'b'],
      ['', '[]'],
    ];
    const list = pairs.map(([got, want]) => `('${got}', '${want}')`).join(', ');
    expect(asked(functions, `print(json.dumps([equal(plain(got), plain(want)) for got, want in [${list}]]))`)).toEqual([
      true,
      true,
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
  },
);

test.skipIf(!python)('LiveCodeBench names the first case that fails, and why (skipped without python3)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'live-code-bench-'));
  writeFileSync(join(folder, 'testing_util.py'), LIVE_CODE_BENCH);
  const cases = { inputs: ['1 2', '3 4'], outputs: ['3', '7'] };
  const judged = (code: string): string | null => {
    writeFileSync(join(folder, 'test_cases.txt'), JSON.stringify(cases));
    writeFileSync(join(folder, 'code.py'), code);
    const run = spawnSync('python3', ['-c', 'import testing_util; testing_util.main(seconds=5, most=20)'], {
      cwd: folder,
      encoding: 'utf8',
    });
    return run.status === 0 ? null : (/'error_message': '([^']+)'/.exec(run.stdout)?.[1] ?? run.stdout + run.stderr);
  };
  expect(judged('print(sum(map(int, input().split())))')).toBeNull();
  expect(judged('print(3)')).toBe('Wrong Answer');
  expect(judged('1 / 0')).toBe('Runtime Error');
  expect(judged('def')).toBe('Compilation Error');
  expect(judged('import os\nos._exit(0)')).toBe('Runtime Error');
});
