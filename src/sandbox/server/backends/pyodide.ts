// Python alone, with nothing installed: Pyodide in a Node process behind a wall of the operating system (walls.ts). Such a
// process serves one run and is killed; a few are pre-warmed, since one takes 0.4 s to get ready. The server's clock ends a
// run, and what the process reports about itself is bounded and trusted only as far as the program's own rights go.

import { once } from 'node:events';
import { openSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { lastItem } from '../../../core/lists/at.ts';
import { errorMessage } from '../../../core/text/thrown.ts';
import { temporaryFolder } from '../leftovers.ts';
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
import { type Cgroups, openGroups } from './cgroups.ts';
import { killWhole } from './kill-whole.ts';
import { RUNNERS, temporaryName } from './languages.ts';
import { watchGroup, watchProcess } from './memory-watch.ts';
import { findPyodide, memoryImage } from './pyodide-image.ts';
import { FILTER_FILE, hold, type PoolOptions, PyodidePool, startBehind, type Warm } from './pyodide-pool.ts';
import { type PyodideJob, u32 } from './pyodide-protocol.ts';
import { startTimer } from './timer.ts';
import { usageOfTree } from './usage.ts';
import { PROBED } from './wall-probe.ts';
import { type Wall, walls } from './walls.ts';

const DEFAULT_MEMORY_MB = 1024;
const MB = 1024 * 1024;
/** For Node, which collects late, on top of Python's heap and what a warmed child holds. */
const SPARE_MB = 128;
/** Node's threads; there are no other processes. */
const MOST_THREADS = 64;
/** start, end, done, and a report of files that could not be returned. */
const FEW_FRAMES = 4;
const CHANNEL_FD = 3;
const MOST_WARM = 2;
/** The time that a late run gets to hand over its files, which are in its process: on a busy machine half a second is too little. */
const HAND_OUT_SECONDS = 2;
/** The time for a child to accept its job. */
const BEGIN_SECONDS = 30;
/** JSON has no infinity. */
const LONGEST_SECONDS = 1e9;
/** From Debian's reserved range, next to bubblewrap's. */
const UID = 64099;

export const pyodide: BackendDeclaration = {
  name: 'pyodide',
  confines: true,
  async open(options) {
    const files = findPyodide();
    const missing: string[] = [];
    for await (const found of walls()) {
      try {
        if ('missing' in found) missing.push(found.missing);
        else return await openBehind(found.wall, files, options);
      } catch (error) {
        missing.push(`${(found as { wall: Wall }).wall.name}: ${errorMessage(error)}`);
      }
    }
    if (options.yesWeak) return openBehind(null, files, options);
    throw new Error(
      `it is a runtime, no wall, and none can be put around it here (${missing.join('; ')}); --backend pyodide --yes-weak runs it all the same, where code from a model may reach your files and sockets`,
    );
  },
};

type BackendOpening = Parameters<BackendDeclaration['open']>[0];
type PyodideFiles = ReturnType<typeof findPyodide>;

/** @throws {Error} for a wall that a trial escaped, or behind which nothing runs */
async function openBehind(
  wall: Wall | null,
  files: PyodideFiles,
  { concurrency, cgroups, log }: BackendOpening,
): Promise<Backend> {
  // A child that this uid cannot start (the program is in root's home) runs as our user; a damaged image is rebuilt.
  const attempts: [uid: number | null, remake: boolean][] = [
    ...(process.getuid?.() === 0 ? [[UID, false] as [number, boolean]] : []),
    [null, false],
    [null, true],
  ];
  let failure: unknown;
  for (const [uid, remake] of attempts) {
    const folder = wall?.filter ? temporaryFolder() : null;
    if (folder !== null) writeFileSync(join(folder, FILTER_FILE), wall?.filter ?? '');
    const image = openSync(await memoryImage(files, remake), 'r');
    const groups = openGroups(cgroups, () => {});
    const size = Math.min(concurrency, MOST_WARM);
    const options: PoolOptions = { files, image, wall, folder, uid, groups, size };
    const backend = new Pyodide(options);
    try {
      await Promise.all([wall === null ? null : provesWall(options), backend.proves()]);
      log(wall === null ? 'pyodide is weak here: no wall is around it' : `pyodide runs behind a wall of ${wall.name}`);
      return backend;
    } catch (error) {
      failure = error;
      await backend.close();
    }
  }
  throw failure;
}

const PROBE_SECONDS = 20;

/** @throws {Error} that says what a process behind the wall can reach, or that none starts */
async function provesWall(options: PoolOptions): Promise<void> {
  const listener = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  const child = startBehind(options, typeof address === 'object' ? (address?.port ?? 0) : 0);
  const stop = startTimer(PROBE_SECONDS, () => killWhole(child));
  const [said, complained] = [new Output(64 * 1024), new Output(64 * 1024)];
  try {
    await Promise.all([
      said.collect(child.stdout!),
      complained.collect(child.stderr!),
      new Promise((resolve) => child.once('error', resolve).once('exit', resolve)),
    ]);
  } finally {
    stop();
    listener.close();
  }
  const lines = said.text().trim().split('\n');
  if (lines.pop() !== PROBED)
    throw new Error(`a trial behind it did not end: ${complained.text().trim().split('\n')[0] ?? ''}`.trim());
  if (lines.length > 0)
    throw new Error(`a trial behind it could ${lines.map((line) => line.slice(PROBED.length + 1)).join(', ')}`);
}

export class Pyodide implements Backend {
  readonly name = 'pyodide';
  readonly languages: Backend['languages'] = new Set(['python']);
  readonly limits = new Set<Limit>(['time', 'memory', 'processes', 'disk', 'output', 'files', 'network']);
  readonly isWeak: boolean;
  readonly #pool: PyodidePool;
  readonly #groups: Cgroups | null;

  constructor(options: PoolOptions) {
    this.isWeak = options.wall === null;
    this.#pool = new PyodidePool(options);
    this.#groups = options.groups;
  }

  /** @throws {Error} when a trial run does not return, or reaches out of its process. */
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
    const stdin = job.inTurns ? Buffer.alloc(0) : Buffer.from(job.stdin ?? '');
    const files = [...job.files].map(([name, content]): [string, Buffer] => [confine(name, directory, true), content]);
    files.push([source, Buffer.from(job.code)]);
    const memoryMb = job.limits.memoryMb ?? DEFAULT_MEMORY_MB;
    const order: PyodideJob = {
      source,
      directory,
      stdin: stdin.length,
      inTurns: job.inTurns ?? false,
      files: files.map(([path, content]) => [path, content.length]),
      fetch: job.fetchFiles.map((name) => confine(name, directory, true)),
      fetchBytes: job.limits.fetchBytes,
      diskMb: job.limits.diskMb,
      memoryMb,
      runTimeout: Math.min(job.runTimeout, LONGEST_SECONDS),
    };
    const warm = await this.#pool.take(signal);
    try {
      return await perform(warm, job, order, [stdin, ...files.map(([, content]) => content)], signal);
    } finally {
      killWhole(warm.child);
    }
  }

  async close(): Promise<void> {
    await this.#pool.close();
    await this.#groups?.close();
  }
}

async function perform(
  warm: Warm,
  job: Job,
  order: PyodideJob,
  contents: readonly Buffer[],
  signal?: AbortSignal,
): Promise<Outcome> {
  const { child, group, listen } = warm;
  hold(warm, true);
  const usage = () => (child.pid === undefined ? null : usageOfTree(child.pid));
  const before = usage();
  job.metered?.(() => {
    const now = usage();
    return now && { ...now, cpuMs: now.cpuMs - (before?.cpuMs ?? 0), ...(group && { bytes: group.bytes }) };
  });
  const [stdout, stderr] = [new Output(job.limits.outputBytes), new Output(job.limits.outputBytes)];
  const files = new Map<string, Buffer>();
  const channel = child.stdio[CHANNEL_FD] as Duplex;
  let began: number | null = null;
  let seconds: number | null = null;
  let code: number | null = null;
  let late = false;
  let hungry = false;
  let isHandedOut = order.fetch.length === 0;
  let tooLarge: string | undefined;
  let stopTimers = () => {};
  const end = () => killWhole(child);
  const expire = () => {
    late = true;
    end();
  };
  const elapsed = () => (began === null ? 0 : (performance.now() - began) / 1000);
  // Nothing the process reports stops this clock: a program may have sent it.
  const begin = () => {
    began = performance.now();
    const isKept = order.fetch.length > 0;
    const stopLate = startTimer(job.runTimeout, () => {
      late ||= code === null;
      if (!isKept) end();
    });
    const stopAll = isKept ? startTimer(job.runTimeout + HAND_OUT_SECONDS, end) : () => {};
    stopTimers = () => {
      stopLate();
      stopAll();
    };
  };
  const excess = () => {
    hungry = true;
    end();
  };
  // A group counts only what is taken from now on.
  const most = (group === null ? (before?.bytes ?? 0) : 0) + (order.memoryMb + SPARE_MB) * MB;
  group?.limit({ memoryBytes: most, processes: MOST_THREADS });
  const stopWatch = group
    ? watchGroup(group, () => child.pid, most / MB, excess)
    : watchProcess(child.pid ?? 0, most / MB, excess);
  // A job that no program starts is ended too.
  const stopWaiting = startTimer(job.runTimeout + BEGIN_SECONDS, () => {
    if (began === null) expire();
  });
  signal?.addEventListener('abort', end, { once: true });
  const watch = job.watch;
  const collected = [
    stdout.collect(child.stdout!, watch && ((chunk) => watch(chunk, expire))),
    stderr.collect(child.stderr!),
  ];
  const exited = new Promise<void>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    child.once('exit', () => resolve());
  });
  channel.on('error', () => {});
  const turns = job.inTurns ? bufferLines(Buffer.from(job.stdin ?? '')) : [];
  listen(
    ({ kind, number, content }) => {
      if (kind === 'start' && began === null) begin();
      else if (kind === 'turn' && job.inTurns) {
        const turn = turns.shift() ?? Buffer.alloc(0);
        channel.write(Buffer.concat([u32(turn.length), turn]));
      } else if (kind === 'end' && code === null) {
        seconds = elapsed();
        code = number;
        if (isHandedOut) end();
      } else if (kind === 'file') {
        const name = job.fetchFiles[number];
        if (name !== undefined) files.set(name, content);
      } else if (kind === 'too large') tooLarge = job.fetchFiles[number];
      else if (kind === 'done') {
        isHandedOut = true;
        // The child also watches its own clock, to have time to hand over its files.
        late ||= code === null;
        end();
      }
    },
    FEW_FRAMES + turns.length + 1 + order.fetch.length,
    job.limits.fetchBytes,
  );
  const meta = Buffer.from(JSON.stringify(order));
  for (const part of [u32(meta.length), meta, ...contents]) channel.write(part);
  await exited;
  stopWaiting();
  stopTimers();
  stopWatch();
  signal?.removeEventListener('abort', end);
  await Promise.all(collected);
  signal?.throwIfAborted();
  if (tooLarge !== undefined) throw new SandboxFault(`fetch_files: ${tooLarge} is over ${job.limits.fetchBytes} bytes`);
  hungry ||= group?.killedForMemory ?? false;
  late ||= (seconds ?? 0) > job.runTimeout;
  // A run that ended by itself has files to show: a state that was not handed over must not pass for an empty one.
  if (code !== null && !isHandedOut && !late && !hungry)
    throw new SandboxFault('the files of the run could not be fetched');
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
function bufferLines(text: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let from = 0; from < text.length; from += lastItem(lines).length) {
    const end = text.indexOf(10, from);
    lines.push(text.subarray(from, end === -1 ? text.length : end + 1));
  }
  return lines;
}
