// The dataset endpoints: list the problems, give their prompts, and judge completions.
import { mapOrdered } from '../../core/async/map-ordered.ts';
import type {
  EvalResult,
  GetMetricsFunctionRequest,
  GetMetricsRequest,
  GetPromptByIdRequest,
  GetPromptsRequest,
  ProblemId,
  Prompt,
  RunCode,
  SubmitRequest,
  TestConfig,
} from '../protocol.ts';
import { RequestError } from '../request-error.ts';
import { CARRIED, carriedTable, isCarried } from './carried.ts';
import type { DatasetClass, ProblemRow } from './dataset.ts';
import { KeptOutputs } from './kept-outputs.ts';
import { CLASS_NAMES, classNamed, registeredClass } from './registry.ts';
import { readTable, type Table } from './table.ts';

/** Upstream's local configuration runs three cases of a problem at once. */
const CASES_AT_ONCE = 3;

/** Extraction makes several passes over a completion. */
const LONGEST_COMPLETION = 8 * 1024 * 1024;

/** Every method rejects with a RequestError that holds the HTTP answer. */
export class Datasets {
  readonly #run: RunCode;
  readonly #tables: ReadonlyMap<string, Table>;
  readonly #casesAtOnce: number;
  readonly #outputs = new KeptOutputs();

  /** @param run runs programs: a backend behind the server's queue, which holds the limit for all cases together */
  constructor(run: RunCode, tables: ReadonlyMap<string, Table> = new Map(), casesAtOnce: number = CASES_AT_ONCE) {
    this.#casesAtOnce = casesAtOnce;
    this.#run = run;
    this.#tables = tables;
  }

  /** Datasets with problems, and the bundled ones; a registered name without a file is not offered. */
  listDatasets(): string[] {
    return [...new Set([...this.#tables.keys(), ...CARRIED])];
  }

  /**
   * The problem that an instance's hash names: its id, or NAME/ID if several datasets have that id. Problems of the
   * bundled data sets are found only by NAME/ID and by HumanEval's own names: a bare number belongs to some other trainer.
   * @throws {RequestError} 400 when it is ambiguous
   */
  async find(instance: string): Promise<{ dataset: string; id: ProblemId } | undefined> {
    const slash = instance.lastIndexOf('/');
    const [name, rest] = [instance.slice(0, Math.max(0, slash)), instance.slice(slash + 1)];
    const named = this.#tables.get(name) ?? (isCarried(name) ? await carriedTable(name) : undefined);
    if (named?.byId.has(rest) || named?.byName.has(rest)) return { dataset: name, id: rest };
    const holders = [...this.#tables].filter(([, table]) => table.byId.has(instance)).map(([dataset]) => dataset);
    if (holders.length > 1) {
      throw new RequestError(
        400,
        `problem ${instance} is in ${holders.join(' and ')}: ask for ${holders[0]}/${instance}`,
      );
    }
    if (holders[0] !== undefined) return { dataset: holders[0], id: instance };
    return /^HumanEval\/\d+$/.test(instance) && !this.#tables.has('humaneval_python')
      ? { dataset: 'humaneval_python', id: instance }
      : undefined;
  }

  async listIds(request: GetPromptsRequest): Promise<ProblemId[]> {
    return (await this.getPrompts(request)).map((prompt) => prompt.id);
  }

  /** Whether a completion is a program that reads stdin, rather than a function that tests call. */
  wantsProgram(request: { dataset: string; config: TestConfig }): boolean {
    return this.#classOf(request).wantsProgram === true;
  }

  async getPrompts(request: GetPromptsRequest): Promise<Prompt[]> {
    const kind = this.#classOf(request);
    const rows = await this.#rows(request);
    if (kind.prompts) return kind.prompts(rows, request.config, request.dataset);
    return rows.map((row) => kind.prompt(row, request.config, request.dataset));
  }

  async getPromptById(request: GetPromptByIdRequest): Promise<Prompt> {
    return this.#classOf(request).prompt(await this.#row(request), request.config, request.dataset);
  }

  /** The result carries the id as the caller gave it. */
  async submit(request: SubmitRequest, signal?: AbortSignal): Promise<EvalResult> {
    const kind = this.#classOf(request);
    if (request.completion.length > LONGEST_COMPLETION) {
      throw new RequestError(413, `the completion is over ${LONGEST_COMPLETION} characters`);
    }
    const outputs = this.#outputs.open();
    const grading = { run: this.#run, casesAtOnce: this.#casesAtOnce, signal, keep: outputs.keep };
    try {
      return await kind.evaluate(await this.#row(request), request, grading);
    } finally {
      outputs.close();
    }
  }

  /** Like submit, but a test that is a flat list of assertions becomes one case per assertion, and all of them run. */
  async submitEach(request: SubmitRequest, signal?: AbortSignal): Promise<Pick<EvalResult, 'tests'>> {
    const kind = this.#classOf(request);
    const rows = kind.split?.(await this.#row(request)) ?? null;
    if (rows === null || rows.length < 2) return this.submit(request, signal);
    const { keep, close } = this.#outputs.open();
    const judge = async (row: ProblemRow, own: AbortSignal) => {
      const grading = { run: this.#run, casesAtOnce: this.#casesAtOnce, signal: own, keep };
      const { tests } = await kind.evaluate(row, request, grading);
      return tests.map((test) => ({ ...test, exec_info: keep(test.exec_info) }));
    };
    try {
      return { tests: (await mapOrdered(rows, judge, { concurrency: this.#casesAtOnce, signal })).flat() };
    } finally {
      close();
    }
  }

  /** Also upstream's answer: no class computes metrics. */
  async getMetrics(request: GetMetricsRequest): Promise<Record<string, unknown>> {
    this.#classOf(request);
    return {};
  }

  async getMetricsFunction(request: GetMetricsFunctionRequest): Promise<{ function: string | null }> {
    return { function: this.#classOf(request).metricsFunction ?? null };
  }

  #classOf({ dataset, config }: { dataset: string; config: TestConfig }): DatasetClass {
    const registered = registeredClass(dataset) ?? this.#tables.get(dataset)?.kind;
    if (registered) return registered;
    if (config.dataset_type === null) throw new RequestError(400, `no eval class found for dataset ${dataset}`);
    const named = classNamed(config.dataset_type);
    if (named) return named;
    const known = `config.dataset_type is one of ${CLASS_NAMES}`;
    throw new RequestError(400, `eval class ${config.dataset_type} not found`, known);
  }

  /** Offset and limit are ignored for data that came with the request, as upstream. */
  async #rows({ dataset, config, offset, limit }: GetPromptsRequest): Promise<ProblemRow[]> {
    const given = provided(config);
    if (given === null) {
      const rows = (await this.#table(dataset)).rows.slice(Math.max(0, offset));
      // SQLite semantics, since upstream keeps its tables there.
      return limit < 0 ? rows : rows.slice(0, limit);
    }
    if (Array.isArray(given)) return given;
    throw new RequestError(400, 'request.config.provided_data should be a list of str -> str | int');
  }

  async #row({ dataset, config, id }: { dataset: string; config: TestConfig; id: ProblemId }): Promise<ProblemRow> {
    const given = provided(config);
    if (Array.isArray(given)) {
      throw new RequestError(400, 'request.config.provided_data should be a dict with str -> str | int');
    }
    if (given !== null) return given;
    const table = await this.#table(dataset);
    const row = table.byId.get(String(id)) ?? table.byName.get(String(id));
    if (row) return row;
    const explanation = `dataset ${dataset} has no problem ${String(id)}; it has ${table.rows.length}, see /list_ids`;
    throw new RequestError(500, "'NoneType' object is not iterable", explanation);
  }

  async #table(dataset: string): Promise<Table> {
    const table = this.#tables.get(dataset);
    if (table) return table;
    if (isCarried(dataset)) return carriedTable(dataset);
    const how = `start the server with --dataset ${dataset}=FILE.jsonl, or send config.provided_data`;
    throw new RequestError(400, `no problems for dataset ${dataset} on this server: ${how}`);
  }
}

/** Empty data counts as missing, as in Python. */
function provided({ provided_data: data }: TestConfig): ProblemRow | ProblemRow[] | null {
  return data === null || Object.keys(data).length === 0 ? null : data;
}

/**
 * Reads the tables given with `--dataset`.
 * @param options each NAME=FILE, or NAME:CLASS=FILE if neither name nor rows identify the class
 * @throws {Error} naming the option, file and line
 */
export async function loadTables(options: readonly string[]): Promise<Map<string, Table>> {
  const tables = new Map<string, Table>();
  for (const option of options) {
    const [, name, className, file] = /^([^=:]+)(?::(\w+))?=(.+)$/s.exec(option) ?? [];
    if (name === undefined || file === undefined) throw new Error(`--dataset: expected NAME=FILE, got ${option}`);
    tables.set(name, await readTable(name, file, className));
  }
  return tables;
}
