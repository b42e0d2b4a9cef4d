// Recorded answers of a real SandboxFusion to /submit, /get_prompt_by_id and /get_metrics_function, one exchange a line: ours
// must make the same of the same row and the same run. The program is not run again; the recorded run takes its place.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Datasets, loadTables } from '../../src/sandbox/datasets/datasets.ts';
import { getPromptByIdRequest, type RunCode, runCodeResponse, submitRequest } from '../../src/sandbox/protocol.ts';
import type { Checked } from '../../src/sandbox/pydantic.ts';
import { recordedLines, sharedData } from '../support/shared-data.ts';

const SUITE = join(sharedData, 'sandboxfusion-suite');
const there = existsSync(SUITE);
const lines = (name: string) => recordedLines(join(SUITE, name));

interface Answer {
  id: string;
  of: number;
  path: string;
  status: number;
  json: Record<string, unknown> & { tests?: { exec_info: object }[] };
}
interface Case {
  id: string;
  requests: { json: Record<string, unknown> }[];
}

const files = new Map<string, unknown[]>();
/** `{"$data": [file, key, …]}` refers to a value in data/. */
function filled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(filled);
  if (typeof value !== 'object' || value === null) return value;
  const { $data: path } = value as { $data?: [string, ...(string | number)[]] };
  if (!path) return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filled(one)]));
  const [name, ...keys] = path;
  if (!files.has(name)) {
    const text = readFileSync(`${SUITE}/data/${name}`, 'utf8');
    files.set(name, name.endsWith('.jsonl') ? lines(`data/${name}`) : JSON.parse(text));
  }
  return keys.reduce((one, key) => (one as Record<string, unknown>)[key], files.get(name) as unknown);
}

function read<T>(checked: Checked<T>): T {
  if (!checked.ok) throw new Error(JSON.stringify(checked.detail));
  return checked.value;
}

/** Programs that are of our own writing, by the class they belong to. */
const OWN_PROGRAM: [RegExp, string[]][] = [
  [/live_code_bench/, ['test_code']],
  [/palmath/, ['full_code']],
];

describe.skipIf(!there)('recorded answers (skipped without ../shared/data/sandboxfusion-suite)', async () => {
  const cases = new Map((there ? (lines('cases.jsonl') as Case[]) : []).map((one) => [one.id, one]));
  const answers = there ? (lines('answers.jsonl') as Answer[]) : [];
  const registry = there ? JSON.parse(readFileSync(`${SUITE}/data/registry.json`, 'utf8')) : {};
  const options = Object.entries(registry as Record<string, { file?: string }>).flatMap(([name, { file }]) =>
    file ? [`${name}=${SUITE}/data/${file}`] : [],
  );
  const tables = await loadTables(options);
  const asked = (answer: Answer) => filled(cases.get(answer.id)?.requests[answer.of]?.json) as Record<string, unknown>;
  const named = (path: string) =>
    answers
      .filter((answer) => answer.path === path && answer.status === 200)
      .map((answer) => [`${answer.id} ${answer.of}`, answer] as const);

  /** A random flag in the program, and logic that runs in the sandbox, are not the same twice. */
  const once = (answer: Answer) => {
    const { config } = asked(answer) as { config: { custom_extract_logic: unknown; extra: Record<string, unknown> } };
    return config.custom_extract_logic === null && !config.extra.append_flag;
  };

  test.each(named('/submit').filter(([, answer]) => once(answer)))('%s', async (_, answer) => {
    const recorded = answer.json.tests?.map((one) => one.exec_info) ?? [];
    const run: RunCode = async () =>
      runCodeResponse.parse(
        JSON.parse(JSON.stringify(recorded[0]).replaceAll('"<SECONDS>"', '0').replaceAll('<SECONDS>', '0')),
      );
    const own = OWN_PROGRAM.find(([pattern]) => pattern.test(answer.id))?.[1] ?? [];
    const result = await new Datasets(run, tables).submit(read(submitRequest.check(asked(answer))));
    const compared = (value: object) =>
      Object.fromEntries(
        Object.entries(value)
          .filter(([key]) => key !== 'tests' && !own.includes(key))
          .map(([key, one]) => [key, key === 'full_code' ? withoutPrelude(String(one)) : one]),
      );
    expect(compared(result)).toEqual(compared(answer.json));
    expect(result.tests.map((one) => [one.passed, one.test_info])).toEqual(
      (answer.json.tests as unknown as typeof result.tests).map((one) => [one.passed, one.test_info]),
    );
  });

  test.each(named('/get_prompt_by_id'))('%s', async (_, answer) => {
    const datasets = new Datasets(async () => runCodeResponse.parse({ status: 'Success' }), tables);
    expect(await datasets.getPromptById(read(getPromptByIdRequest.check(asked(answer))))).toEqual(answer.json);
  });
});

/** Which modules a Python program may take for granted differs by numpy, which is only imported where it is used. */
const withoutPrelude = (code: string): string =>
  code.replace(/^import math\nimport re\n[\s\S]*?\nfrom collections import \*\n/, '');
