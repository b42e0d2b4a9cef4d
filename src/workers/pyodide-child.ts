// The process behind one Pyodide run. It is started ahead, hardens itself, loads Python from a memory image, says
// `ready`, waits for one job on stdin, runs it, hands out the fetched files and is killed. Nothing of it serves twice.
//   argv: Pyodide's folder; with `--make FILE` it writes a memory image instead
//   fd 0 the job as JSON; 1 and 2 the program's stdout and stderr; 3 reports, one JSON value a line; 4 the memory image
import { fstatSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import {
  harden,
  limitDisk,
  limitMemory,
  limitTime,
  type MemoryFiles,
  seal,
} from '../sandbox/server/backends/pyodide-harden.ts';
import type { PyodideJob, PyodideReport } from '../sandbox/server/backends/pyodide-protocol.ts';
import { BOOTSTRAP, BY_SIGNAL, PRELOADED } from '../sandbox/server/backends/pyodide-python.ts';
import { TurnInput } from '../sandbox/server/backends/turn-input.ts';

// Only what is used here. Pyodide's own types ask for the DOM, and the package is found by path at run time.
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
const [folder = '', verb = '', target = ''] = process.argv.slice(2);
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
  // The image freezes the seed of hashes for all runs anyway; so it is a known one.
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
seal();
report({ kind: 'ready' });
const job = JSON.parse(await readAll(process.stdin)) as PyodideJob;

for (const [path, content] of job.files) {
  python.FS.mkdirTree(path.slice(0, path.lastIndexOf('/')) || '/');
  python.FS.writeFile(path, Buffer.from(content, 'base64'));
}
python.FS.mkdirTree(job.directory);
python.FS.chdir(job.directory);
const input = new TurnInput(Buffer.from(job.stdin, 'base64'), job.turns);
python.setStdin({ isatty: false, read: (buffer) => input.read(buffer) });
python.setStdout({
  isatty: false,
  write(bytes) {
    input.heard(bytes);
    return writeWhole(1, bytes);
  },
});
python.setStderr({ isatty: false, write: (bytes) => writeWhole(2, bytes) });
limitMemory(job.memoryMb);
limitDisk(python.FS, job.diskMb);

report({ kind: 'start' });
if (job.fetch.length > 0) {
  const clock = limitTime(job.runTimeout, () => {
    report({ kind: 'late' });
    handOut();
  });
  python.setInterruptBuffer(clock);
}
let code: number;
try {
  code = run(job.source);
} catch (error) {
  code = fatal(error);
}
report({ kind: 'end', code });
handOut();

function handOut(): never {
  for (const [index, path] of job.fetch.entries()) {
    try {
      const { mode, size } = python.FS.stat(path);
      if (!python.FS.isFile(mode)) continue;
      if (size > job.fetchBytes) report({ kind: 'too large', index });
      else report({ kind: 'file', index, content: Buffer.from(python.FS.readFile(path)).toString('base64') });
    } catch {
      // Missing: upstream leaves it out, too.
    }
  }
  report({ kind: 'done' });
  process.exit(0);
}

/** By position: all children share the offset of the file that they inherit. */
function readImage(fd: number): Uint8Array {
  const bytes = new Uint8Array(fstatSync(fd).size);
  for (let at = 0; at < bytes.length; ) {
    const length = readSync(fd, bytes, at, bytes.length - at, at);
    if (length === 0) throw new Error('the memory image is cut short');
    at += length;
  }
  return bytes;
}

/** Without a prototype: a program can put what it likes on the one that all objects share, a toJSON for one. */
function report(line: PyodideReport): void {
  const own = Object.assign(Object.create(null), line) as PyodideReport;
  writeWhole(3, Buffer.from(`${JSON.stringify(own)}\n`));
}

async function readAll(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** Node makes its pipes non-blocking; a program that writes faster than the server reads waits here. */
function writeWhole(fd: number, bytes: Uint8Array): number {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(fd, bytes, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(sleeper, 0, 0, 1);
    }
  }
  return bytes.length;
}

/** os._exit leaves through an exception of Emscripten's; anything else ended the interpreter itself. */
function fatal(error: unknown): number {
  const status = Object.getOwnPropertyDescriptor(error, 'status')?.value as unknown;
  if (typeof status === 'number') return (status & ~0x7f) === BY_SIGNAL ? -(status & 0x7f) : status & 0xff;
  writeWhole(
    2,
    Buffer.from(`the Python interpreter ended: ${error instanceof Error ? error.message : String(error)}\n`),
  );
  return 134;
}
