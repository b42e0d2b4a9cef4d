// Locks down Node around Pyodide, together with the flags in pyodide-image.ts. None of this is a wall: each round of attacks
// found another way from a JavaScript object to Node's internals. It only keeps a program from things that the real wall
// around the process (walls.ts) would allow.
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

/** The prototypes of Node's streams and sockets, through which descriptors are opened, connected and read. */
function handlePrototypes(): object[] {
  const found: object[] = [];
  const keep = (handle: unknown) => {
    if (typeof handle === 'object' && handle !== null) found.push(handle);
  };
  for (const address of [{ path: '/nowhere' }, { host: '127.0.0.1', port: 9 }]) {
    const socket = new net.Socket();
    let handle: unknown = null;
    Object.defineProperty(socket, '_handle', {
      get: () => handle,
      set(value) {
        handle = value;
        keep(value);
      },
    });
    try {
      socket.on('error', () => {}).connect(address);
    } catch {
      // This Node asks for a permission first: then nobody gets one.
    }
    socket.destroy();
  }
  try {
    const socket = dgram.createSocket('udp4');
    for (const symbol of Object.getOwnPropertySymbols(socket))
      keep((socket as unknown as Record<symbol, { handle?: unknown } | undefined>)[symbol]?.handle);
    socket.close();
  } catch {
    // as above
  }
  const prototypes = new Set<object>();
  for (const handle of found)
    for (let at = Object.getPrototypeOf(handle); at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at))
      prototypes.add(at as object);
  return [...prototypes];
}

/** Listed by name: enumerating the properties of a Node prototype ends the process. */
const METHODS = [
  ...['constructor', 'open', 'connect', 'connect6', 'bind', 'bind6', 'listen', 'fchmod', 'setPendingInstances'],
  ...['readStart', 'readStop', 'shutdown', 'useUserBuffer', 'writev', 'writeBuffer', 'writeUtf8String'],
  ...[
    'writeAsciiString',
    'writeLatin1String',
    'writeUcs2String',
    'send',
    'send6',
    'recvStart',
    'recvStop',
    'disconnect',
  ],
];

/** Replaces every method of these with one that throws that it is closed. */
function empty(prototypes: readonly object[]): void {
  for (const prototype of prototypes)
    for (const name of METHODS.filter((method) => Object.hasOwn(prototype, method))) {
      const closed = name === 'constructor' ? undefined : refuse('a handle');
      Reflect.defineProperty(prototype, name, { value: closed, writable: false, configurable: false });
    }
}

let handles: object[] = [];

/** Before Pyodide is loaded: no network, and no access to Node's internal bindings. */
export function harden(): void {
  handles = handlePrototypes();
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
  // Emscripten's NODEFS requests this binding while it starts, and the permission model forbids the real one.
  Object.defineProperty(process, 'binding', { value: () => ({ fs: fs.constants }), writable: false });
}

/**
 * Freezes what all objects inherit. Properties that objects commonly define themselves can still be assigned on
 * them, which a plain freeze would forbid. Runs last, once the limits have replaced what they must.
 */
export function freezeIntrinsics(): void {
  const roots: unknown[] = [
    ...[Object, Function, Array, String, Number, Boolean, Symbol, BigInt, RegExp, Date, Promise, Proxy, Error],
    ...[EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError, AggregateError],
    ...[Map, Set, WeakMap, WeakSet, WeakRef, FinalizationRegistry, ArrayBuffer, SharedArrayBuffer, DataView],
    ...[Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array],
    ...[Float32Array, Float64Array, BigInt64Array, BigUint64Array, Reflect, JSON, Math, Atomics, WebAssembly],
    ...[WebAssembly.Memory, TextDecoder, TextEncoder],
    ...[
      Object.getPrototypeOf(Int8Array),
      Object.getPrototypeOf(async () => {}),
      Object.getPrototypeOf(function* () {}),
    ],
    ...[
      Object.getPrototypeOf(async function* () {}),
      Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())),
    ],
    ...[new Map()[Symbol.iterator](), new Set()[Symbol.iterator](), ''[Symbol.iterator](), [][Symbol.iterator]()].map(
      (iterator) => Object.getPrototypeOf(iterator),
    ),
  ];
  const commonlyOwn = ['constructor', 'toString', 'valueOf', 'toJSON', 'name', 'message', 'hasOwnProperty', 'then'];
  const all = new Set<object>();
  for (const root of roots) {
    if (root === null || (typeof root !== 'object' && typeof root !== 'function')) continue;
    all.add(root);
    const { prototype } = root as { prototype?: unknown };
    if (typeof prototype === 'object' && prototype !== null) all.add(prototype);
  }
  all.add(Function.prototype);
  for (const object of all) {
    for (const key of typeof object === 'function' ? [] : commonlyOwn) {
      const { value, writable, configurable } = Object.getOwnPropertyDescriptor(object, key) ?? {};
      if (!writable || !configurable) continue;
      Object.defineProperty(object, key, {
        get: () => value as unknown,
        set(this: object, own: unknown) {
          if (this === object) throw new TypeError(`${key} is frozen`);
          Object.defineProperty(this, key, { value: own, writable: true, enumerable: true, configurable: true });
        },
        enumerable: false,
        configurable: false,
      });
    }
    Object.freeze(object);
  }
}

/** After Pyodide is loaded: code that still reaches `process` finds nothing usable. */
export function seal(): void {
  empty(handles);
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
  for (const name of ['stdin', 'stdout', 'stderr', 'report', 'mainModule', 'openStdin', 'execve', '_handle', 'channel'])
    Object.defineProperty(process, name, { value: undefined, writable: false, configurable: false });
  for (const [name, value] of Object.entries({ env: {}, argv: [], execArgv: [], execPath: '', config: {} }))
    Object.defineProperty(process, name, {
      value: typeof value === 'string' ? value : Object.freeze(value),
      writable: false,
      configurable: false,
    });
  for (const name of Object.keys(console)) (console as unknown as Record<string, unknown>)[name] = () => {};
  // It would receive the `this` of every stack frame.
  Object.defineProperty(Error, 'prepareStackTrace', { value: undefined, writable: false, configurable: false });
}

const PAGE = 65_536;

// The project has no DOM types, and TypeScript keeps these there.
interface Heap {
  buffer: ArrayBuffer;
  grow(pages: number): number;
}
declare const WebAssembly: { Memory: { prototype: Heap } };

/** Limits Python's heap to this many MB; beyond that Python gets a MemoryError and continues. */
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
 * Calls `onTime` from within the run once its time is up: no other thread could stop it and still read its files. The run checks
 * the clock where it sleeps; running Python code checks the returned object for a signal.
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
    [name: string]: unknown;
    MEMFS: {
      expandFileStorage: Resize;
      resizeFileStorage: Resize;
      ops_table: { file: { stream: { write: Write } } };
    };
  };
}

/** ENOSPC, by WASI's numbers. */
const NO_SPACE = 51;

/** Files are in Node's memory, outside Python's heap, so they need a separate limit. */
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
    // A write expands its file by itself; count it once.
    if (inside) return change();
    const had = sizeOf(node);
    const wish = Math.max(0, size - had);
    // Deleted files show up only after a walk.
    if (used + wish > limit) used = sizeOf(files.root) - before;
    if (used + wish > limit) throw new files.ErrnoError(NO_SPACE);
    inside = true;
    try {
      return change();
    } finally {
      inside = false;
      used += sizeOf(node) - had; // more than requested: files grow in steps
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

/** Prevents mounting another file system: NODEFS reads and writes any descriptor of the process. */
export function closeMounts(files: MemoryFiles & { mount?: unknown }): void {
  for (const name of Object.keys(files.filesystems)) {
    if (name === 'MEMFS') continue;
    const system = files.filesystems[name];
    if (typeof system === 'object' && system !== null)
      for (const key of Object.keys(system)) Reflect.defineProperty(system, key, { value: undefined });
    delete files.filesystems[name];
  }
  Reflect.defineProperty(files, 'mount', {
    value: refuse('another file system'),
    writable: false,
    configurable: false,
  });
}
