// Python alone, with nothing installed: Pyodide in a Node process that has lost its network, its files and its way to
// evaluate code (pyodide-harden.ts, the flags in pyodide-image.ts). Such a process serves one run and is killed; a few
// are warmed ahead, for one takes 0.4 s to be ready.
import { openSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { Output } from '../output.ts';
import { confine } from '../paths.ts';
import {
  type Backend,
  type BackendDeclaration,
  DEFAULT_RUN_LIMITS,
  type Job,
  type Limit,
  type Outcome,
  SandboxFault,
} from './backend.ts';
import { RUNNERS, temporaryName } from './languages.ts';
import { watchProcess } from './memory-watch.ts';
import { findPyodide, memoryImage } from './pyodide-image.ts';
import { hold, PyodidePool, type Warm } from './pyodide-pool.ts';
import type { PyodideJob } from './pyodide-protocol.ts';
import { startTimer } from './timer.ts';
import { usageOfTree } from './usage.ts';

const DEFAULT_MEMORY_MB = 1024;
/** The memory of Node and the image beside Python's heap. */
const OVERHEAD_MB = 512;
const MOST_WARM = 2;
/** The time that a late run gets to hand out its files, which live in its process. */
const HAND_OUT_SECONDS = 0.5;
/** JSON has no infinity. */
const LONGEST_SECONDS = 1e9;
/** From Debian's reserve, beside bubblewrap's. */
const UID = 64099;

export const pyodide: BackendDeclaration = {
  name: 'pyodide',
  confines: true,
  async open({ concurrency }) {
    const files = findPyodide();
    // A child that this uid cannot start (the program lies in root's home) runs as who we are; a damaged image is remade.
    const attempts: [uid: number | null, remake: boolean][] = [
      ...(process.getuid?.() === 0 ? [[UID, false] as [number, boolean]] : []),
      [null, false],
      [null, true],
    ];
    let failure: unknown;
    for (const [uid, remake] of attempts) {
      const image = openSync(await memoryImage(files, remake), 'r');
      const backend = new Pyodide(new PyodidePool(files, image, uid, Math.min(concurrency, MOST_WARM)));
      try {
        await backend.proves();
        return backend;
      } catch (error) {
        failure = error;
        await backend.close();
      }
    }
    throw failure;
  },
};

class Pyodide implements Backend {
  readonly name = 'pyodide';
  readonly languages: Backend['languages'] = new Set(['python']);
  readonly limits = new Set<Limit>(['time', 'memory', 'processes', 'disk', 'output', 'files', 'network']);
  readonly #pool: PyodidePool;

  constructor(pool: PyodidePool) {
    this.#pool = pool;
  }

  /** @throws {Error} when a trial run does not come back, or reaches out of its process. */
  async proves(): Promise<void> {
    const code = [
      'import socket',
      'try:',
      '    socket.create_connection(("127.0.0.1", 9), 1)',
      '    print("network")',
      'except Exception: pass',
      'try:',
      '    import pyodide_js; pyodide_js.mountNodeFS("/h", "/")',
      '    print("files")',
      'except Exception: pass',
      'print("ran")',
    ].join('\n');
    const { run } = await this.execute({
      language: 'python',
      code,
      stdin: null,
      files: new Map(),
      fetchFiles: [],
      compileTimeout: 10,
      runTimeout: 10,
      limits: DEFAULT_RUN_LIMITS,
    });
    if (run?.stdout !== 'ran\n') throw new Error(`a trial run failed: ${run?.stdout} ${run?.stderr}`.trim());
  }

  async execute(job: Job, signal?: AbortSignal): Promise<Outcome> {
    signal?.throwIfAborted();
    if (!RUNNERS[job.language]) throw new SandboxFault(`'${job.language}'`);
    if (!this.languages.has(job.language)) {
      throw new SandboxFault(`the sandbox runs in Pyodide, which has only python, not ${job.language}`);
    }
    const directory = `/tmp/${temporaryName()}`;
    const source = `${directory}/${temporaryName()}.py`;
    const files = [...job.files].map(([name, content]): [string, string] => [
      confine(name, directory, true),
      content.toString('base64'),
    ]);
    const memoryMb = job.limits.memoryMb ?? DEFAULT_MEMORY_MB;
    const order: PyodideJob = {
      source,
      directory,
      stdin: job.inTurns ? '' : Buffer.from(job.stdin ?? '').toString('base64'),
      inTurns: job.inTurns ?? false,
      files: [...files, [source, Buffer.from(job.code).toString('base64')]],
      fetch: job.fetchFiles.map((name) => confine(name, directory, true)),
      fetchBytes: job.limits.fetchBytes,
      diskMb: job.limits.diskMb,
      memoryMb,
      runTimeout: Math.min(job.runTimeout, LONGEST_SECONDS),
    };
    const warm = await this.#pool.take(signal);
    try {
      return await perform(warm, job, order, memoryMb, signal);
    } finally {
      warm.child.kill('SIGKILL');
    }
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

async function perform(
  warm: Warm,
  job: Job,
  order: PyodideJob,
  memoryMb: number,
  signal?: AbortSignal,
): Promise<Outcome> {
  const { child, listen } = warm;
  hold(warm, true);
  const usage = () => (child.pid === undefined ? null : usageOfTree(child.pid));
  const before = usage()?.cpuMs ?? 0;
  job.metered?.(() => {
    const now = usage();
    return now && { ...now, cpuMs: now.cpuMs - before };
  });
  const [stdout, stderr] = [new Output(job.limits.outputBytes), new Output(job.limits.outputBytes)];
  const files = new Map<string, Buffer>();
  let began: number | null = null;
  let seconds: number | null = null;
  let code: number | null = null;
  let late = false;
  let hungry = false;
  let tooLarge: string | undefined;
  let fetched = 0;
  let stopTimer = () => {};
  const abort = () => child.kill('SIGKILL');
  const expire = () => {
    late = true;
    child.kill('SIGKILL');
  };
  const stopWatch = watchProcess(child.pid!, memoryMb + OVERHEAD_MB, () => {
    hungry = true;
    child.kill('SIGKILL');
  });
  signal?.addEventListener('abort', abort, { once: true });
  const watch = job.watch;
  const collected = [
    stdout.collect(child.stdout!, watch && ((chunk) => watch(chunk, expire))),
    stderr.collect(child.stderr!),
  ];
  const elapsed = () => (began === null ? 0 : (performance.now() - began) / 1000);
  const exited = new Promise<void>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    child.once('exit', () => resolve());
  });
  const stdin = child.stdin as Writable;
  stdin.on('error', () => {});
  const turns = job.inTurns ? linesOf(Buffer.from(job.stdin ?? '')) : [];
  listen((report) => {
    if (report.kind === 'start' && began === null) {
      began = performance.now();
      stopTimer = startTimer(job.runTimeout + (order.fetch.length > 0 ? HAND_OUT_SECONDS : 0), expire);
    } else if (report.kind === 'end' && code === null) {
      stopTimer();
      seconds = elapsed();
      code = report.code;
      late ||= seconds > job.runTimeout;
    } else if (report.kind === 'turn') {
      const turn = turns.shift();
      if (turn) stdin.write(turn);
      else stdin.end();
    } else if (report.kind === 'late' && code === null) {
      late = true;
      seconds ??= elapsed();
    } else if (report.kind === 'file') {
      const content = Buffer.from(report.content, 'base64');
      const name = job.fetchFiles[report.index];
      fetched += content.length;
      if (name !== undefined && fetched <= job.limits.fetchBytes) files.set(name, content);
      else tooLarge = name;
    } else if (report.kind === 'too large') tooLarge = job.fetchFiles[report.index];
    else if (report.kind === 'done') child.kill('SIGKILL');
  });
  stdin.write(`${JSON.stringify(order)}\n`);
  await exited;
  stopTimer();
  stopWatch();
  signal?.removeEventListener('abort', abort);
  await Promise.all(collected);
  signal?.throwIfAborted();
  if (tooLarge !== undefined) throw new SandboxFault(`fetch_files: ${tooLarge} is over ${job.limits.fetchBytes} bytes`);
  const said = hungry && !late ? '[killed: over the memory limit of the run]\n' : '';
  return {
    compile: null,
    run: {
      status: late ? 'TimeLimitExceeded' : 'Finished',
      execution_time: seconds ?? elapsed(),
      return_code: late ? null : (code ?? -9),
      stdout: stdout.text(),
      stderr: stderr.text() + said,
    },
    files,
  };
}

/** Each with its newline. */
function linesOf(text: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let from = 0; from < text.length; from += lines.at(-1)!.length) {
    const end = text.indexOf(10, from);
    lines.push(text.subarray(from, end === -1 ? text.length : end + 1));
  }
  return lines;
}
