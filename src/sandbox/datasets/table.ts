// `--dataset NAME=FILE`: a local JSONL file of problems. Upstream's table layout (id, content, test, labels) is taken
// as it is; the published HumanEval and MBPP files are brought into it.
import { readFile } from 'node:fs/promises';
import { parsePythonJson } from '../../json/parse.ts';
import { reasonOf } from '../../text/problems.ts';
import { autoEval } from './auto-eval.ts';
import { commonOj } from './common-oj.ts';
import type { DatasetClass, Row } from './dataset.ts';
import { humanEval } from './human-eval.ts';
import { mbpp } from './mbpp.ts';

export interface Table {
  rows: Row[];
  /** Problems by the text of their id (11 and "11" are the same problem), and of HumanEval's task_id. */
  byId: Map<string, Row>;
  /** What the rows' shape says, where the dataset's name says nothing. */
  shape: DatasetClass;
}

/** A layout that is known by its keys, and how a row of it becomes a row of ours. */
interface Layout {
  keys: string[];
  convert(row: Row): Row;
}

const LAYOUTS: Layout[] = [
  {
    keys: ['task_id', 'prompt', 'entry_point', 'test'],
    convert: (row) => ({
      id: Number(/\d+$/.exec(String(row.task_id))?.[0] ?? Number.NaN),
      content: row.prompt,
      test: row.test,
      labels: { task_id: row.task_id, entry_point: row.entry_point, programming_language: 'python' },
    }),
  },
  {
    keys: ['task_id', 'text', 'test_list'],
    convert: (row) => ({
      id: row.task_id,
      content: row.text,
      test: row.test_list,
      labels: { challenge_test_list: row.challenge_test_list ?? [], test_setup_code: row.test_setup_code ?? '' },
    }),
  },
  { keys: ['id', 'content', 'test', 'labels'], convert: (row) => row },
];

/** @throws {Error} naming the file and line of what is not a problem */
export async function readTable(file: string): Promise<Table> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new Error(
      `dataset ${file}: ${reasonOf(error)}; --dataset NAME=FILE names a file of problems, one JSON object a line`,
    );
  });
  const rows = text
    .split('\n')
    .flatMap((line, index) => (line.trim() === '' ? [] : [rowOf(line, `${file}:${index + 1}`)]));
  const [first] = rows;
  if (first === undefined) throw new Error(`dataset ${file}: no problems in it`);
  const byId = new Map<string, Row>();
  for (const [index, row] of rows.entries()) {
    const id = String(row.id);
    if (byId.has(id)) throw new Error(`dataset ${file}: id ${id} stands twice (problem ${index + 1})`);
    byId.set(id, row);
  }
  for (const row of rows) {
    const name = (row.labels as { task_id?: unknown } | null)?.task_id;
    if (typeof name === 'string' && !byId.has(name)) byId.set(name, row);
  }
  return { rows, byId, shape: shapeOf(first) };
}

function rowOf(line: string, where: string): Row {
  let row: unknown;
  try {
    row = parsePythonJson(line.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new Error(`dataset ${where}: not JSON: ${(error as Error).message}`);
  }
  const layout = LAYOUTS.find(({ keys }) => keys.every((key) => typeof row === 'object' && row !== null && key in row));
  if (layout) return layout.convert(row as Row);
  throw new Error(
    `dataset ${where}: expected the keys id, content, test, labels (or HumanEval's task_id, prompt, entry_point, test; or MBPP's task_id, text, test_list)`,
  );
}

function shapeOf({ test }: Row): DatasetClass {
  let value = test;
  try {
    if (typeof test === 'string') value = JSON.parse(test);
  } catch {
    // Python text: HumanEval's.
  }
  if (Array.isArray(value)) return typeof value[0] === 'string' ? mbpp : commonOj;
  if (typeof value === 'object' && value !== null) return autoEval;
  return humanEval;
}
