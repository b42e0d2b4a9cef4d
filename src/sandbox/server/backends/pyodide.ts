// Python alone, with nothing installed: Pyodide in a Node process that has lost its network, its files and its way to
// evaluate code (pyodide-harden.ts, the flags in pyodide-image.ts). Such a process serves one run and is killed; a few
// are warmed ahead, for one takes 0.4 s to be ready.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { Output } from '../output.ts';
import { confine } from '../paths.ts';
import {
  type Backend,
  type BackendDeclaration,
  DEFAULT_LIMITS,
  type Job,
  type Limit,
  type Outcome,
  SandboxFault,
} from './backend.ts';
import { RUNNERS, temporaryName } from './languages.ts';
import { watchMemory } from './memory-watch.ts';
import { findPyodide, memoryImage, nodeFlags, type PyodideFiles } from './pyodide-image.ts';
import { type PyodideJob, type PyodideReport, parsePyodideReport } from './pyodide-protocol.ts';
import { startTimer } from './timer.ts';
import { Warden } from './warden.ts';

const DEFAULT_MEMORY_MB = 1024;
/** What Node and the image take beside Python's heap. */
const OVERHEAD_MB = 512;
const MOST_WARM = 2;
const START_SECONDS = 30;
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
      const backend = new Pyodide(files, image, uid, Math.min(concurrency, MOST_WARM));
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

/** A child that says `ready` and then waits for its only job. */
interface Warm {
  child: ChildProcess;
  ready: Promise<void>;
  stderr: Output;
  listen(onReport: (report: PyodideReport) => void): void;
}

class Pyodide implements Backend {
  readonly name = 'pyodide';
  readonly languages: Backend['languages'] = new Set(['python']);
  readonly limits = new Set<Limit>(['time', 'memory', 'processes', 'disk', 'output', 'files', 'network']);
  readonly #files: PyodideFiles;
  readonly #image: number;
  readonly #uid: number | null;
  readonly #size: number;
  readonly #warm: Warm[] = [];
  readonly #living = new Set<ChildProcess>();
  readonly #warden = new Warden();
  #closed = false;

  constructor(files: PyodideFiles, image: number, uid: number | null, size: number) {
    this.#files = files;
    this.#image = image;
    this.#uid = uid;
    this.#size = size;
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
      limits: DEFAULT_LIMITS,
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
      stdin: Buffer.from(job.stdin ?? '').toString('base64'),
      files: [...files, [source, Buffer.from(job.code).toString('base64')]],
      fetch: job.fetchFiles.map((name) => confine(name, directory, true)),
      fetchBytes: job.limits.fetchBytes,
      diskMb: job.limits.diskMb,
      memoryMb,
    };
    const warm = await this.#take(signal);
    try {
      return await perform(warm, job, order, memoryMb, signal);
    } finally {
      warm.child.kill('SIGKILL');
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const child of this.#living) child.kill('SIGKILL');
    closeSync(this.#image);
    await this.#warden.close();
  }

  /** The oldest warm child; another takes its place in the pool at once. */
  async #take(signal?: AbortSignal): Promise<Warm> {
    const warm = this.#warm.shift() ?? this.#start();
    while (!this.#closed && this.#warm.length < this.#size) this.#warm.push(this.#start());
    try {
      await new Promise<void>((resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
        warm.ready.then(resolve, reject);
      });
      return warm;
    } catch (error) {
      warm.child.kill('SIGKILL');
      throw error;
    }
  }

  #start(): Warm {
    if (this.#closed) throw new SandboxFault('the sandbox is closed');
    const child = spawn(process.execPath, nodeFlags(this.#files), {
      ...(this.#uid !== null && { uid: this.#uid, gid: this.#uid }),
      env: {},
      cwd: '/',
      // The image as an open file: the permission model need not allow its path, nor a dropped uid reach it.
      stdio: ['pipe', 'pipe', 'pipe', 'pipe', this.#image],
    });
    this.#living.add(child);
    this.#warden.guard(child);
    child.once('exit', () => this.#living.delete(child));
    const stderr = new Output(64 * 1024);
    let listener = (_: PyodideReport) => {};
    const ready = new Promise<void>((resolve, reject) => {
      const stop = startTimer(START_SECONDS, () => child.kill('SIGKILL'));
      const collect = (chunk: Buffer) => stderr.push(chunk);
      child.stderr!.on('data', collect);
      child.once('error', reject);
      child.once('exit', () => reject(new SandboxFault(`Pyodide did not start: ${stderr.text().trim()}`)));
      listener = (report) => {
        if (report.kind !== 'ready') return;
        stop();
        child.stderr!.off('data', collect);
        resolve();
      };
    });
    ready.catch(() => {}); // told to whoever takes it
    createInterface({ input: child.stdio[3] as Readable }).on('line', (line) => {
      const report = parsePyodideReport(line);
      if (report) listener(report);
      else child.kill('SIGKILL');
    });
    const listen = (onReport: (report: PyodideReport) => void) => {
      listener = onReport;
    };
    // A pool that waits for work must not keep a finished program alive.
    child.unref();
    for (const stream of child.stdio) (stream as unknown as { unref?(): void } | null)?.unref?.();
    return { child, ready, stderr, listen };
  }
}

async function perform(
  { child, listen }: Warm,
  job: Job,
  order: PyodideJob,
  memoryMb: number,
  signal?: AbortSignal,
): Promise<Outcome> {
  child.ref();
  for (const stream of child.stdio) (stream as unknown as { ref?(): void } | null)?.ref?.();
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
  const stopWatch = watchMemory(child.pid!, memoryMb + OVERHEAD_MB, () => {
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
  listen((report) => {
    if (report.kind === 'start' && began === null) {
      began = performance.now();
      stopTimer = startTimer(job.runTimeout, expire);
    } else if (report.kind === 'end' && code === null) {
      stopTimer();
      seconds = elapsed();
      code = report.code;
    } else if (report.kind === 'file') {
      const content = Buffer.from(report.content, 'base64');
      const name = job.fetchFiles[report.index];
      fetched += content.length;
      if (name !== undefined && fetched <= job.limits.fetchBytes) files.set(name, content);
      else tooLarge = name;
    } else if (report.kind === 'too large') tooLarge = job.fetchFiles[report.index];
    else if (report.kind === 'done') child.kill('SIGKILL');
  });
  const stdin = child.stdin as Writable;
  stdin.on('error', () => {});
  stdin.end(JSON.stringify(order));
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
