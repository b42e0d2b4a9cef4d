// The declaration of a class of problems: how a row becomes a prompt, and when a completion is accepted.

import { errorMessage } from '../../core/text/thrown.ts';
import type { RunCode, RunCodeRequest, RunCodeResponse, SubmitRequest, TestConfig } from '../protocol.ts';
import {
  type EvalResult,
  type ProblemId,
  type Prompt,
  problemId,
  type RunCodeInput,
  runCodeRequest,
} from '../protocol.ts';
import { RequestError } from '../request-error.ts';
import { customBlocks } from './custom-extraction.ts';
import { extractCode, LANGUAGE_OF } from './extraction.ts';

/** A problem, in its class's columns. */
export type ProblemRow = Record<string, unknown>;

export interface Grading {
  run: RunCode;
  /** Test cases of one problem that run at the same time. */
  casesAtOnce: number;
  /** Called for each answer once it is judged, since the space for their output is limited. */
  keep: (answer: RunCodeResponse) => RunCodeResponse;
  signal?: AbortSignal | undefined;
}

export interface DatasetClass {
  /** Upstream's class name, as used in `config.dataset_type`. */
  readonly name: string;
  /** The datasets that upstream registers for it. */
  readonly datasets: readonly string[];
  /** The columns that each row must have; a list means any one of them. */
  readonly columns: readonly (string | readonly string[])[];
  /** Whether a row of a dataset unknown to upstream belongs to this class, judged by its content. */
  recognises(row: ProblemRow): boolean;
  /** A completion is a program that reads stdin, rather than a function that tests call. */
  readonly wantsProgram?: true;
  /** Python that computes metrics from results. */
  readonly metricsFunction?: string;
  prompt(row: ProblemRow, config: TestConfig, dataset: string): Prompt;
  /** For rows that are asked in more than one way. */
  prompts?(rows: readonly ProblemRow[], config: TestConfig, dataset: string): Prompt[];
  evaluate(row: ProblemRow, request: SubmitRequest, grading: Grading): Promise<EvalResult>;
  /** Splits the row into rows with one test each, for callers that count tests; null if its test is indivisible. */
  split?(row: ProblemRow): ProblemRow[] | null;
}

/** @throws {RequestError} 500 with Python's message for a missing key, as upstream answers */
function column(row: ProblemRow, name: string): unknown {
  if (row[name] === undefined) {
    throw new RequestError(500, `'${name}'`, `KeyError: '${name}': the problem has no "${name}"`);
  }
  return row[name];
}

/** A column that holds JSON text, or the parsed value itself. */
export function jsonColumn(row: ProblemRow, name: string): unknown {
  const value = column(row, name);
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch (error) {
    throw new RequestError(500, `"${name}" of the problem is not JSON: ${errorMessage(error)}`);
  }
}

export function labelsOf(row: ProblemRow): Record<string, unknown> {
  const labels = jsonColumn(row, 'labels');
  return typeof labels === 'object' && labels !== null ? (labels as Record<string, unknown>) : {};
}

export const textColumn = (row: ProblemRow, name: string): string => String(column(row, name));

/** `id`, or the name HumanEval and MultiPL-E use for it. */
export function problemIdOf(row: ProblemRow): ProblemId {
  const id = problemId.safeParse(row.id ?? row.task_id ?? row.name);
  if (id.success) return id.data;
  throw new RequestError(500, "'id'", 'the problem has no "id"');
}

export const withoutKey = (row: ProblemRow, key: string): ProblemRow =>
  Object.fromEntries(Object.entries(row).filter(([name]) => name !== key));

/** The completion's code; with `custom_extract_logic` its blocks compete with those found here. */
export async function codeIn(request: SubmitRequest, language: string, { run, signal }: Grading): Promise<string> {
  const { completion, config } = request;
  if (config.custom_extract_logic === null) return extractCode(completion, language);
  const words = Object.fromEntries(LANGUAGE_OF);
  const custom = await customBlocks(config.custom_extract_logic, completion, words, run, signal);
  return extractCode(completion, language, custom);
}

/**
 * Runs a program that a dataset built.
 * @throws {RequestError} 500 when the sandbox itself failed, which is no evidence about the completion
 */
export async function grade(input: RunCodeInput | RowRequest, { run, signal }: Grading): Promise<RunCodeResponse> {
  const checked = runCodeRequest.check(input);
  if (!checked.ok) {
    const faults = checked.detail.map(({ loc, msg }) => `${loc.slice(1).join('.')}: ${msg}`);
    throw new RequestError(500, `the problem cannot be run: ${faults.join('; ')}`);
  }
  const answer = await run(checked.value, signal);
  if (answer.status === 'SandboxError') throw new RequestError(500, `failed to request sandbox: ${answer.message}`);
  return answer;
}

/** A request whose language or files come from a row, and so may have any type. */
type RowRequest = Omit<Partial<RunCodeRequest>, 'language' | 'files'> & {
  code: string;
  language: unknown;
  files?: unknown;
};

type More = Partial<Pick<EvalResult, 'accepted' | 'extra' | 'test_code' | 'extracted_type'>> & {
  test_info?: Record<string, unknown> | null;
};

/** The result of a problem decided by a single run. */
export function singleRun(
  request: SubmitRequest,
  code: string,
  fullCode: string,
  answer: RunCodeResponse,
  { accepted = answer.status === 'Success', extra, test_code, extracted_type, test_info }: More = {},
): EvalResult {
  return {
    id: request.id,
    accepted,
    extracted_code: code,
    full_code: fullCode,
    test_code: test_code ?? null,
    tests: [{ passed: accepted, exec_info: answer, test_info: test_info ?? null }],
    extracted_type: extracted_type ?? null,
    extra: extra ?? null,
  };
}
