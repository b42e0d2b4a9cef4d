// /run_jupyter on any backend that runs Python: the driver is the program, and its stdout reports what the cells do. Both
// timeouts are enforced from outside, so nothing in a cell can delay them.
import { randomBytes } from 'node:crypto';
import type { CellRunResult, CommandRunResult, RunJupyterRequest, RunJupyterResponse } from '../protocol.ts';
import { RequestError } from '../request-error.ts';
import { startTimer } from './backends/timer.ts';
import DISPLAY from './jupyter_display.py';
import KERNEL from './jupyter_driver.py';
import TRACEBACK from './jupyter_traceback.py';
import { LineSplitter } from './lines.ts';
import { Output } from './output.ts';
import { decodeFiles } from './paths.ts';
import {
  cutTimeout,
  DEFAULT_RUN_OPTIONS,
  type Executing,
  encodeFiles,
  memoryOf,
  type ProgramOptions,
  wantedFiles,
} from './runner.ts';

/** One program: the kernel uses names from the two parts before it. */
const DRIVER = [TRACEBACK, DISPLAY, KERNEL].join('\n');

export type RunJupyter = (request: RunJupyterRequest, signal?: AbortSignal) => Promise<RunJupyterResponse>;

/** Rejects only when aborted, or with a RequestError if the server is too full. */
export function runJupyterOn(
  backend: Executing,
  { limits, maxRunTimeout }: ProgramOptions = DEFAULT_RUN_OPTIONS,
): RunJupyter {
  return async (request, signal) => {
    const words = request.cells.map((): CellWords => ({ frame: word(), own: word() }));
    const cells = new Cells(words, request.cell_timeout, limits.outputBytes);
    try {
      const { run, files } = await backend.execute(
        {
          language: 'python',
          code: DRIVER,
          stdin: words
            .map(({ frame, own }, cell) => `${frame} ${own} ${JSON.stringify(request.cells[cell])}\n`)
            .join(''),
          inTurns: true,
          files: decodeFiles(request.files),
          fetchFiles: wantedFiles(request.fetch_files),
          compileTimeout: 0,
          runTimeout: Number.isNaN(request.total_timeout) ? 0 : Math.min(request.total_timeout, maxRunTimeout),
          limits: { ...limits, memoryMb: memoryOf(request.memory_limit_MB, limits) },
          watch: (chunk, stop) => cells.push(chunk, stop),
        },
        signal,
      );
      const late = run?.status === 'TimeLimitExceeded';
      const whole = run?.return_code === 0 && cells.finished === request.cells.length;
      const driver: CommandRunResult | null = run && { ...run, stdout: echo(request) };
      const said = late && request.total_timeout > maxRunTimeout ? cutTimeout(maxRunTimeout) : '';
      return answer(whole ? 'Success' : 'Failed', said, {
        driver,
        cells: cells.results(late ? timedOut(request) : null),
        files: encodeFiles(files),
      });
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof RequestError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      return answer('SandboxError', `exception on running jupyter: ${reason} None`);
    } finally {
      cells.close();
    }
  };
}

const answer = (
  status: RunJupyterResponse['status'],
  message: string,
  rest: Pick<RunJupyterResponse, 'driver' | 'cells' | 'files'> = { driver: null, cells: [], files: {} },
): RunJupyterResponse => ({
  status,
  message,
  driver: rest.driver,
  cells: rest.cells,
  executor_pod_name: process.env.MY_POD_NAME ?? null,
  files: rest.files,
});

/** Upstream's driver prints its configuration; callers see it in driver.stdout. */
function echo({ kernel, cells, cell_timeout, total_timeout }: RunJupyterRequest): string {
  const config = JSON.stringify({ kernel, cells, cell_timeout: 'CELL', total_timeout: 'TOTAL' }, null, 2)
    .replace(/"CELL"(?=,\n {2}"total_timeout": "TOTAL"\n\}$)/, printedFloat(cell_timeout))
    .replace(/"TOTAL"(?=\n\}$)/, printedFloat(total_timeout));
  return `config: \n${config}\n`;
}

const printedFloat = (value: number): string => (Number.isInteger(value) ? value.toFixed(1) : String(value));

function timedOut({ cell_timeout, total_timeout }: RunJupyterRequest): Record<string, unknown> {
  const evalue = `the cell was ended: cell_timeout ${printedFloat(cell_timeout)} s, total_timeout ${printedFloat(total_timeout)} s`;
  return { ename: 'TimeoutError', evalue, traceback: [`\x1b[31mTimeoutError\x1b[39m: ${evalue}`] };
}

interface NotebookCell {
  stdout: Output;
  stderr: Output;
  display: Record<string, unknown>[];
  error: Record<string, unknown>[];
}

const word = (): string => randomBytes(16).toString('hex');

/** The words that begin lines about a cell: no cell can learn `frame`, which marks its begin and end; `own` reports its actions. */
interface CellWords {
  frame: string;
  own: string;
}

/** Assembles the driver's events. Garbage that a program writes among them is dropped. */
class Cells {
  readonly #cells: NotebookCell[] = [];
  readonly #words: readonly CellWords[];
  readonly #cellTimeout: number;
  readonly #limit: number;
  readonly #lines: LineSplitter;
  #stop = () => {};
  #stopTimer = () => {};
  #displayed = 0;
  finished = 0;

  constructor(words: readonly CellWords[], cellTimeout: number, limit: number) {
    this.#words = words;
    this.#cellTimeout = cellTimeout;
    this.#limit = limit;
    // A line longer than the kept output cannot be kept. The driver writes ASCII.
    this.#lines = new LineSplitter(8 * limit, (line) => {
      const text = line.toString('latin1');
      const isRunning = this.#cells.length > this.finished;
      const words = this.#words[isRunning ? this.finished : this.#cells.length];
      if (words === undefined) return;
      if (text === `${words.frame} start`) this.#start(isRunning);
      else if (text === `${words.frame} end`) this.#end(isRunning);
      else if (isRunning && text.startsWith(`${words.own} `)) this.#take(text.slice(words.own.length + 1));
    });
  }

  push(chunk: Buffer, stop: () => void): void {
    this.#stop = stop;
    this.#lines.push(chunk);
  }

  #start(isRunning: boolean): void {
    if (isRunning) return;
    this.#cells.push({ stdout: new Output(this.#limit), stderr: new Output(this.#limit), display: [], error: [] });
    if (this.#cellTimeout > 0) this.#stopTimer = startTimer(this.#cellTimeout, this.#stop);
  }

  #end(isRunning: boolean): void {
    if (!isRunning) return;
    this.#stopTimer();
    this.finished = this.#cells.length;
  }

  #take(line: string): void {
    let event: Record<string, unknown>;
    try {
      event = JSON.parse(line) as Record<string, unknown>;
    } catch {
      return;
    }
    const { kind, text, data } = event;
    const cell = this.#cells.at(-1);
    if (!cell) return;
    if ((kind === 'stdout' || kind === 'stderr') && typeof text === 'string') cell[kind].push(Buffer.from(text));
    else if (kind === 'display' && typeof data === 'object' && data !== null) {
      this.#displayed += line.length;
      if (this.#displayed <= 4 * this.#limit) cell.display.push(data as Record<string, unknown>);
      else cell.stderr.push(Buffer.from(`[display cut: over ${4 * this.#limit} characters]\n`));
    } else if (kind === 'error' && cell.error.length === 0) {
      const { ename, evalue, traceback } = event;
      cell.error.push({ ename, evalue, traceback });
    }
  }

  /** @param ended the error of a cell that was running when time ran out */
  results(ended: Record<string, unknown> | null): CellRunResult[] {
    return this.#cells.map(({ stdout, stderr, display, error }, index) => ({
      stdout: stdout.text(),
      stderr: stderr.text(),
      display,
      error: ended && index >= this.finished ? [...error, ended] : error,
    }));
  }

  close(): void {
    this.#stopTimer();
  }
}
