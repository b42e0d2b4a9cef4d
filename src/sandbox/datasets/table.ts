// `--dataset NAME=FILE`: a local JSONL file of problems, in the columns of its class. HumanEval and MBPP are also
// accepted as published.

import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { parsePythonJson } from '../../core/json/parse.ts';
import { reasonOf } from '../../core/text/problems.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import { type DatasetClass, type ProblemRow, problemIdOf } from './dataset.ts';
import { CLASS_NAMES, classNamed, classOfRow, missingColumns, registeredClass } from './registry.ts';

export interface Table {
  rows: ProblemRow[];
  /** Problems by the text of their id: 11 and "11" are the same problem. */
  byId: Map<string, ProblemRow>;
  /** By other names people use for a problem: HumanEval's number, and its task_id. */
  byName: Map<string, ProblemRow>;
  kind: DatasetClass;
}

/** @throws {Error} naming the file and line of anything that is not a problem or has no class */
export async function readTable(name: string, file: string, className?: string): Promise<Table> {
  const named = className === undefined ? undefined : classNamed(className);
  if (className !== undefined && named === undefined) {
    throw new Error(`dataset ${name}: no class ${className}; known are ${CLASS_NAMES}`);
  }
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new Error(
      `dataset ${file}: ${reasonOf(error)}; --dataset NAME=FILE names a file of problems, one JSON object per line`,
    );
  });
  return tableOf(name, file, text, named);
}

/** @param file the source of the text, for messages */
export function tableOf(name: string, file: string, text: string, named?: DatasetClass): Table {
  const lines = text.split('\n').map((line, index) => ({ line, where: `${file}:${index + 1}` }));
  const rows = lines.flatMap(({ line, where }) => (line.trim() === '' ? [] : [{ row: rowOf(line, where), where }]));
  const [first] = rows;
  if (first === undefined) throw new Error(`dataset ${file}: no problems in it`);
  const kind = named ?? classOf(name, file, first.row);
  if (kind === undefined) {
    throw new Error(
      `dataset ${first.where}: no class judges such a problem. Known are ${CLASS_NAMES}: a file of one of them is taken under its dataset's name, or by its columns`,
    );
  }
  const byId = new Map<string, ProblemRow>();
  const byName = new Map<string, ProblemRow>();
  for (const { row, where } of rows) {
    const missing = missingColumns(kind, row);
    if (missing.length > 0) throw new Error(`dataset ${where}: ${kind.name} needs the column ${missing.join(', ')}`);
    const id = String(problemIdOf(row));
    if (byId.has(id)) throw new Error(`dataset ${where}: id ${id} appears twice`);
    byId.set(id, row);
  }
  for (const { row } of rows) for (const other of otherNames(row)) if (!byId.has(other)) byName.set(other, row);
  return { rows: rows.map(({ row }) => row), byId, byName, kind };
}

/** Upstream's files are called code_eval_NAME.jsonl. */
const classOf = (name: string, file: string, row: ProblemRow): DatasetClass | undefined =>
  registeredClass(name) ?? registeredClass(basename(file).replace(/^code_eval_|\.jsonl$/g, '')) ?? classOfRow(row);

function otherNames(row: ProblemRow): string[] {
  const labels = row.labels as { task_id?: unknown } | null | undefined;
  const task = row.task_id ?? (typeof labels === 'object' ? labels?.task_id : undefined);
  if (typeof task !== 'string') return [];
  const number = /^HumanEval\/(\d+)$/.exec(task)?.[1];
  return number === undefined ? [task] : [task, number];
}

function rowOf(line: string, where: string): ProblemRow {
  let row: unknown;
  try {
    row = parsePythonJson(line.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new Error(`dataset ${where}: not JSON: ${errorMessage(error)}`);
  }
  if (typeof row !== 'object' || row === null || Array.isArray(row)) {
    throw new Error(`dataset ${where}: expected an object, a problem in the columns of its class`);
  }
  return published(row as ProblemRow);
}

/** MBPP as published: task_id, text, test_list. */
function published(row: ProblemRow): ProblemRow {
  if (!('text' in row && 'test_list' in row && 'task_id' in row)) return row;
  const { task_id: id, text: content, test_list, challenge_test_list = [], test_setup_code = '' } = row;
  return { id, content, test_list, labels: { challenge_test_list, test_setup_code } };
}
