// The process of one Pyodide run, behind a wall (server/backends/walls.ts). It is started ahead, hardens itself, loads
// Python from a memory image, says `ready`, waits for one job, runs it, returns the fetched files and is killed. Nothing
// in it is reused.
//   argv: Pyodide's folder; with `--make FILE` it writes a memory image instead; with `--probe PORT` it tries the wall
//   fd 1 and 2 the program's stdout and stderr; 3 the server (pyodide-protocol.ts); 4 the memory image

import { fstatSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { errorCode } from '../../core/text/thrown.ts';
import BOOTSTRAP from '../server/backends/pyodide_run.py';
import {
  closeMounts,
  freezeIntrinsics,
  harden,
  limitDisk,
  limitMemory,
  limitTime,
  type MemoryFiles,
  seal,
} from '../server/backends/pyodide-harden.ts';
import { BY_SIGNAL, type FrameKind, frame, PRELOADED, type PyodideJob } from '../server/backends/pyodide-protocol.ts';
import { probeWall } from '../server/backends/wall-probe.ts';

// Only the parts used here. Pyodide's own types need the DOM, and the package is found by path at run time.
interface Pyodide {
  runPython(code: string): unknown;
  makeMemorySnapshot(): Uint8Array;
  setInterruptBuffer(buffer: { 0: number }): void;
  setStdin(options: { read: (buffer: Uint8Array) => number; isatty: boolean }): void;
  setStdout(options: { write: (buffer: Uint8Array) => number; isatty: boolean }): void;
  setStderr(options: { write: (buffer: Uint8Array) => number; isatty: boolean }): void;
  FS: MemoryFiles & {
    mkdirTree(path: string): void;
    writeFile(path: string, content: Uint8Array): void;
    readFile(path: string): Uint8Array;
    stat(path: string): { mode: number; size: number };
    isFile(mode: number): boolean;
    chdir(path: string): void;
  };
  globals: { get(name: string): (...args: unknown[]) => number };
}

/** Never woken: a wait on it is a sleep. */
const sleeper = new Int32Array(new SharedArrayBuffer(4));
const CHANNEL = 3;
const [folder = '', verb = '', target = ''] = process.argv.slice(2);
if (verb === '--probe') await probeWall(Number(target));
const making = verb === '--make';
const snapshot = making ? null : readImage(4);
harden();

const { loadPyodide } = (await import(pathToFileURL(`${folder}/pyodide.mjs`).href)) as {
  loadPyodide(options: Record<string, unknown>): Promise<Pyodide>;
};
const python = await loadPyodide({
  indexURL: `${folder}/`,
  // `import js` sees nothing.
  jsglobals: Object.freeze(Object.create(null)),
  // The image fixes the hash seed for all runs anyway, so it is a known one.
  env: { HOME: '/root', LANG: 'C.UTF-8', PYTHONHASHSEED: '0' },
  ...(making ? { _makeSnapshot: true } : { _loadSnapshot: snapshot }),
});

if (making) {
  python.runPython(PRELOADED);
  writeFileSync(target, python.makeMemorySnapshot());
  process.exit(0);
}

python.runPython(BOOTSTRAP);
const run = python.globals.get('__rollout_viewer_run');
const turn = python.globals.get('__rollout_viewer_turn');
seal();
closeMounts(python.FS);
report('ready');
const job = JSON.parse(readWhole(readWhole(4).readUInt32LE()).toString('utf8')) as PyodideJob;
const input = readWhole(job.stdin);
for (const [path, length] of job.files) {
  python.FS.mkdirTree(path.slice(0, path.lastIndexOf('/')) || '/');
  python.FS.writeFile(path, readWhole(length));
}
python.FS.mkdirTree(job.directory);
python.FS.chdir(job.directory);
let inputRead = 0;
python.setStdin({
  isatty: false,
  read(buffer) {
    const length = input.copy(buffer, 0, inputRead, inputRead + buffer.length);
    inputRead += length;
    return length;
  },
});
python.setStdout({ isatty: false, write: (bytes) => writeWhole(1, bytes) });
python.setStderr({ isatty: false, write: (bytes) => writeWhole(2, bytes) });
limitMemory(job.memoryMb);
limitDisk(python.FS, job.diskMb);
if (job.fetch.length > 0) python.setInterruptBuffer(limitTime(job.runTimeout, handOut));
freezeIntrinsics();

report('start');
let code: number;
try {
  code = run(job.source);
  if (job.inTurns && code === 0) code = takeTurns();
} catch (error) {
  code = fatal(error);
}
report('end', code);
handOut();

/**
 * A turn ends when its call has returned to here, whatever Python prints. The values needed to fake
 * that are in this function alone, and later input is not in this process yet.
 */
function takeTurns(): number {
  for (;;) {
    report('turn');
    const line = readWhole(readWhole(4).readUInt32LE()).toString('utf8');
    if (line === '') return 0;
    const space = line.indexOf(' ');
    const end = Buffer.from(`\n${line.slice(0, space)} end\n`);
    writeWhole(1, Buffer.from(`\n${line.slice(0, space)} start\n`));
    const failed = turn(line.slice(space + 1));
    writeWhole(1, end);
    if (failed !== 0) return failed;
  }
}

function handOut(): never {
  for (const [index, path] of job.fetch.entries()) {
    try {
      const { mode, size } = python.FS.stat(path);
      if (!python.FS.isFile(mode)) continue;
      if (size > job.fetchBytes) report('too large', index);
      else report('file', index, python.FS.readFile(path));
    } catch {
      // Missing: upstream omits it, too.
    }
  }
  report('done');
  process.exit(0);
}

/** Reads by position: all children share the offset of the inherited file. */
function readImage(fd: number): Uint8Array {
  const bytes = new Uint8Array(fstatSync(fd).size);
  for (let at = 0; at < bytes.length; ) {
    const length = readSync(fd, bytes, at, bytes.length - at, at);
    if (length === 0) throw new Error('the memory image is cut short');
    at += length;
  }
  return bytes;
}

function report(kind: FrameKind, number?: number, content?: Uint8Array): void {
  writeWhole(CHANNEL, frame(kind, number, content));
}

/** Reads this many bytes from the server. Waits without checking the clock: a warmed child waits for long. */
function readWhole(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; ) {
    const read = again(() => readSync(CHANNEL, bytes, at, length - at, null));
    if (read === 0) process.exit(0); // the server has gone
    at += read;
  }
  return bytes;
}

function writeWhole(fd: number, bytes: Uint8Array): number {
  for (let at = 0; at < bytes.length; ) at += again(() => writeSync(fd, bytes, at));
  return bytes.length;
}

/** Pipes may be non-blocking; a program that writes faster than the server reads waits here. */
function again(attempt: () => number): number {
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (errorCode(error) !== 'EAGAIN') throw error;
      Atomics.wait(sleeper, 0, 0, 1);
    }
  }
}

/** os._exit leaves through one of Emscripten's exceptions; anything else ended the interpreter itself. */
function fatal(error: unknown): number {
  const status = Object.getOwnPropertyDescriptor(error, 'status')?.value as unknown;
  if (typeof status === 'number') return (status & ~0x7f) === BY_SIGNAL ? -(status & 0x7f) : status & 0xff;
  writeWhole(
    2,
    Buffer.from(`the Python interpreter ended: ${error instanceof Error ? error.message : String(error)}\n`),
  );
  return 134;
}
