import { parsePythonJson } from '../../../core/json/parse.ts';
import { printJson } from '../../../core/json/print.ts';
import { isJsonObject, type JsonValue, objectIn, stringIn } from '../../../core/json/value.ts';
import { numberInAt } from '../../../core/lists/at.ts';
import type { CheckOptions, Run } from '../../../sandbox/check-correctness.ts';
import type { RunCodeResponse } from '../../../sandbox/protocol.ts';

/** Cases that are checked one by one if not all pass. */
const CASES = 10;

export interface CodeScore {
  score: number;
  cases: { passed: boolean; stdout: string; stderr: string }[];
  /** The sandbox failed, which says nothing about the code. */
  error: string | null;
}

/**
 * The score of code tasks when verl has no sandbox (`verl/utils/reward_score/prime_code`): 1 if all cases pass, else the share of
 * the first ten, each run without `fn_name`, so a function that is not always right scores 0. A completion without a fence is taken
 * as code unchanged.
 */
export async function primeCodeScore(
  run: Run,
  completion: string,
  truth: JsonValue | undefined,
  { limiter, signal, timeout = 10 }: CheckOptions,
): Promise<CodeScore> {
  const code = (completion.split('```python').at(-1) ?? '').split('```')[0];
  const task = taskOf(truth);
  if (task === null) return { score: 0, cases: [], error: null };
  const { inputs, outputs, name } = task;
  // verl expects a function's arguments as lines of JSON; it fails on lists.
  if (name !== null && inputs.some((input) => typeof input !== 'string')) return { score: 0, cases: [], error: null };
  // verl pairs each input with its output before running any alone, which raises.
  if (outputs.length < inputs.length) return { score: 0, cases: [], error: null };
  const stop = signal ?? new AbortController().signal;
  const ask = (work: () => Promise<RunCodeResponse>) => (limiter === undefined ? work() : limiter.run(work));
  const cases: CodeScore['cases'] = [];
  for (const [i, input] of inputs.entries()) {
    // One failure settles the result of running all of them.
    if (cases.some(({ passed }) => !passed) && (name !== null || i >= CASES)) break;
    const program = name === null ? `${IMPORTS}${code}` : `${IMPORTS}${code}\n${callSource(name, stringIn(input))}`;
    const stdin = name === null ? (Array.isArray(input) ? input.join('\n') : String(input)) : '';
    const answer = await ask(() =>
      run({ code: program, language: 'python', stdin, run_timeout: timeout }, { signal: stop }),
    );
    if (answer.status === 'SandboxError')
      return { score: 0, cases, error: `the sandbox: ${answer.message || 'it failed'}` };
    const { stdout, stderr, status } = answer.run_result ?? { stdout: '', stderr: '', status: 'Error' };
    const missing = /ModuleNotFoundError: .*/.exec(stderr ?? '')?.[0];
    if (missing !== undefined) return { score: 0, cases, error: `the sandbox lacks a module: ${missing}` };
    const passed = status === 'Finished' && says(stdout ?? '', outputs[i], name !== null);
    cases.push({ passed, stdout: (stdout ?? '').slice(0, 500), stderr: (stderr ?? '').slice(-500) });
  }
  if (cases.every(({ passed }) => passed)) return { score: 1, cases, error: null };
  const first = name === null ? cases.slice(0, CASES) : [];
  return { score: first.filter(({ passed }) => passed).length / Math.max(1, first.length), cases, error: null };
}

/** verl's text before every solution. */
const IMPORTS = `${'string re datetime collections heapq bisect copy math random statistics itertools functools operator io sys json builtins typing'
  .split(' ')
  .map((name) => `from ${name} import *`)
  .join(
    '; ',
  )}; import ${'string, re, datetime, collections, heapq, bisect, copy, math, random, statistics, itertools, functools, operator, io, sys, json'}
`;
const MARK = '\u0000result ';

/** The value as JSON. Values that Python distinguishes from JSON are marked: a tuple within another value, and anything of a non-builtin type. */
const callSource = (name: string, input: string): string => `
import json as _json
def _plain(_value):
    if _value is None or type(_value) in (bool, int, float, str):
        return _value
    if type(_value) is list:
        return [_plain(_one) for _one in _value]
    if type(_value) is tuple:
        return {"tuple of": [_plain(_one) for _one in _value]}
    if type(_value) is dict:
        return {_key: _plain(_one) for _key, _one in _value.items()}
    return {"not": str(_value)}
_args = [_json.loads(_line) for _line in ${JSON.stringify(input)}.split("\\n")]
_call = getattr(Solution(), ${JSON.stringify(name)}) if "Solution" in globals() else globals()[${JSON.stringify(name)}]
_given = _call(*_args)
print(${JSON.stringify(MARK)} + _json.dumps(_plain(list(_given) if type(_given) is tuple else _given)))
`;

/** Equality as in Python, where True is 1. */
function isSameAnswer(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((one, i) => isSameAnswer(one, b[i]));
  if (isJsonObject(a)) {
    if (!isJsonObject(b)) return false;
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length && keys.every((key) => isSameAnswer(a[key], b[key]));
  }
  const plain = (value: JsonValue): JsonValue => (typeof value === 'boolean' ? Number(value) : value);
  return printJson(plain(a)) === printJson(plain(b));
}

const untupled = (value: JsonValue): JsonValue => {
  const tuple = isJsonObject(value) ? value['tuple of'] : undefined;
  return Array.isArray(tuple) ? tuple : value;
};

function says(stdout: string, expected: JsonValue | undefined, isCall: boolean): boolean {
  if (isCall) {
    const at = stdout.lastIndexOf(MARK);
    if (at === -1) return false;
    const given = readAnswer(stdout.slice(at + MARK.length).trim());
    const wanted = typeof expected === 'string' ? readAnswer(expected) : expected;
    if (isSameAnswer(given, wanted)) return true;
    const [first] = Array.isArray(wanted) ? wanted : [];
    return isSameAnswer(given, first) || (Array.isArray(given) && isSameAnswer(given.map(untupled), first));
  }
  if (typeof expected !== 'string') return false;
  const wanted = expected;
  const lines = (text: string): string[] =>
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
  const [mine, other] = [lines(stdout), lines(wanted)];
  if (mine.join('\n') === other.join('\n')) return true;
  const numbers = (from: string[]): number[] => from.flatMap((line) => line.split(/\s+/)).map(Number);
  const [a, b] = [numbers(mine), numbers(other)];
  return (
    a.length === b.length &&
    a.every((value, i) => Math.abs(value - numberInAt(b, i)) <= 1e-8 + 1e-5 * Math.abs(numberInAt(b, i)))
  );
}

function readAnswer(text: string): JsonValue | undefined {
  try {
    return parsePythonJson(text);
  } catch {
    return undefined;
  }
}

function taskOf(
  truth: JsonValue | undefined,
): { inputs: JsonValue[]; outputs: JsonValue[]; name: string | null } | null {
  const value = typeof truth === 'string' ? readAnswer(truth) : truth;
  if (!isJsonObject(value)) return null;
  const { inputs, outputs, fn_name: name } = objectIn(value);
  if (!Array.isArray(inputs) || !Array.isArray(outputs)) return null;
  return { inputs, outputs, name: typeof name === 'string' ? name : null };
}
