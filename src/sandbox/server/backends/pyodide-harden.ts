// Closes Node around Pyodide, together with the flags in pyodide-process.ts. Pyodide alone is no sandbox: a
// program gets from any JavaScript object to Function, from there to process, and sockets go out by node:net
// (runtime-facts.md, section 2, lists the ways that were tried).
import dgram from 'node:dgram';
import dns from 'node:dns';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import inspector from 'node:inspector';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import tls from 'node:tls';

const refuse = (what: string) => () => {
  throw new Error(`${what} is closed in the sandbox`);
};

/** Before Pyodide is loaded: no network, and no way to Node's inner bindings. */
export function harden(): void {
  const noNetwork = refuse('the network');
  const close = (owner: object, ...names: string[]) => {
    for (const name of names) {
      if (name in owner) Object.defineProperty(owner, name, { value: noNetwork, writable: false, configurable: false });
    }
  };
  close(net, 'connect', 'createConnection', 'createServer');
  close(net.Socket.prototype, 'connect');
  close(net.Server.prototype, 'listen');
  close(tls, 'connect', 'createServer');
  close(dgram, 'createSocket');
  close(dgram.Socket.prototype, 'bind', 'connect', 'send');
  close(dns, ...Object.keys(dns).filter((name) => /^(?:lookup|resolve|reverse)/.test(name)));
  close(dns.promises, ...Object.keys(dns.promises).filter((name) => /^(?:lookup|resolve|reverse)/.test(name)));
  close(http, 'request', 'get', 'createServer');
  close(https, 'request', 'get', 'createServer');
  close(inspector, 'open', 'Session');
  close(globalThis, 'fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest');
  syncBuiltinESMExports();
  // Emscripten's NODEFS asks for this binding while it starts, and the permission model forbids the real one.
  Object.defineProperty(process, 'binding', { value: () => ({ fs: fs.constants }), writable: false });
}

/** After Pyodide is loaded: whoever still reaches `process` finds nothing to use. */
export function seal(): void {
  const forbidden = [
    'kill',
    '_kill',
    'dlopen',
    'chdir',
    'abort',
    'getBuiltinModule',
    '_debugProcess',
    '_debugEnd',
    '_linkedBinding',
  ];
  for (const name of forbidden) {
    Object.defineProperty(process, name, { value: refuse(`process.${name}`), writable: false, configurable: false });
  }
  for (const name of ['setuid', 'setgid', 'seteuid', 'setegid', 'setgroups', 'initgroups', 'umask']) {
    Object.defineProperty(process, name, { value: refuse(`process.${name}`), writable: false, configurable: false });
  }
  for (const name of ['getuid', 'geteuid', 'getgid', 'getegid']) {
    Object.defineProperty(process, name, { value: () => 0, writable: false, configurable: false });
  }
  Object.defineProperty(process, 'env', { value: Object.freeze({}), writable: false });
  // It would be given what every frame of the stack runs on.
  Object.defineProperty(Error, 'prepareStackTrace', { value: undefined, writable: false, configurable: false });
}

const PAGE = 65_536;

// The project has no DOM types, where TypeScript keeps these.
interface Heap {
  buffer: ArrayBuffer;
  grow(pages: number): number;
}
declare const WebAssembly: { Memory: { prototype: Heap } };

/** Python's heap may grow to so many MB; beyond that it gets a MemoryError and lives on. */
export function limitMemory(megabytes: number): void {
  const grow = WebAssembly.Memory.prototype.grow;
  const limit = megabytes * 1024 * 1024;
  Object.defineProperty(WebAssembly.Memory.prototype, 'grow', {
    value(this: Heap, pages: number) {
      if (this.buffer.byteLength + pages * PAGE > limit) throw new RangeError('over the memory limit of the run');
      return grow.call(this, pages);
    },
    writable: false,
    configurable: false,
  });
}

/**
 * Calls `onTime` from within the run once its time is up: no other thread could stop it and read its files. The run looks
 * at the clock where it sleeps; and Python, where it runs, looks for a signal in what is returned.
 */
export function limitTime(seconds: number, onTime: () => never): { 0: number } {
  const now = performance.now.bind(performance);
  let deadline = now() + seconds * 1000;
  const look = (): number => {
    const time = now();
    if (time > deadline) {
      deadline = Number.POSITIVE_INFINITY;
      onTime();
    }
    return time;
  };
  Object.defineProperty(performance, 'now', { value: look, writable: false, configurable: false });
  return {
    get 0() {
      look();
      return 0;
    },
    set 0(_signal) {},
  };
}

interface MemoryNode {
  contents?: ArrayLike<number> | Record<string, MemoryNode>;
  usedBytes?: number;
  mode: number;
}
type Resize = (node: MemoryNode, size: number) => void;
type Write = (
  stream: { node: MemoryNode },
  bytes: unknown,
  offset: number,
  length: number,
  at: number,
  ...rest: unknown[]
) => number;

/** The parts of Emscripten's file system that hold file contents. */
export interface MemoryFiles {
  root: MemoryNode;
  isDir(mode: number): boolean;
  ErrnoError: new (errno: number) => Error;
  filesystems: {
    MEMFS: {
      expandFileStorage: Resize;
      resizeFileStorage: Resize;
      ops_table: { file: { stream: { write: Write } } };
    };
  };
}

/** ENOSPC, by WASI's numbers. */
const NO_SPACE = 51;

/** Files live in Node's memory, outside Python's heap, so they have a limit of their own. */
export function limitDisk(files: MemoryFiles, megabytes: number): void {
  const limit = megabytes * 1024 * 1024;
  const sizeOf = (node: MemoryNode): number => {
    if (!files.isDir(node.mode)) return (node.contents as ArrayLike<number> | undefined)?.length ?? 0;
    return Object.values(node.contents ?? {}).reduce((sum, child) => sum + sizeOf(child as MemoryNode), 0);
  };
  const before = sizeOf(files.root);
  let used = 0;
  let inside = false;
  const guarded = <T>(node: MemoryNode, size: number, change: () => T): T => {
    // A write expands its file by itself; it is counted once.
    if (inside) return change();
    const had = sizeOf(node);
    const wish = Math.max(0, size - had);
    // Deleted files are only known after a walk.
    if (used + wish > limit) used = sizeOf(files.root) - before;
    if (used + wish > limit) throw new files.ErrnoError(NO_SPACE);
    inside = true;
    try {
      return change();
    } finally {
      inside = false;
      used += sizeOf(node) - had; // more than was wished: files grow in leaps
    }
  };
  const { MEMFS } = files.filesystems;
  const { expandFileStorage, resizeFileStorage } = MEMFS;
  const { stream } = MEMFS.ops_table.file;
  const { write } = stream;
  MEMFS.expandFileStorage = (node, size) => guarded(node, size, () => expandFileStorage(node, size));
  MEMFS.resizeFileStorage = (node, size) => guarded(node, size, () => resizeFileStorage(node, size));
  stream.write = (open, bytes, offset, length, at, ...rest) =>
    guarded(open.node, at + length, () => write(open, bytes, offset, length, at, ...rest));
}
