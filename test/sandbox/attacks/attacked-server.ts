// Every attack of attacks.ts, and those that are measured from outside: what a program takes, how long it lasts, what it
// leaves, and what requests do to the server itself.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer, type Server } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunCodeResponse } from '../../../src/sandbox/protocol.ts';
import type { CgroupVersions } from '../../../src/sandbox/server/backends/cgroups.ts';
import { type SandboxServer, startSandbox } from '../../../src/sandbox/server/index.ts';
import { coreOf, countOf } from '../../support/tier.ts';
import { type Confining, lack, named } from '../backends.ts';
import { type Attack, FAMILIES } from './attacks.ts';
import { TakenMemory } from './taken-memory.ts';

const WORD = 'hunter2-of-the-host';
const MB = 1024 * 1024;

const PRELUDE = (port: number, secret: string) => `
import os, socket, struct, sys
SECRET, PORT, HOST = ${JSON.stringify(secret)}, ${port}, ${JSON.stringify(hostname())}
try:
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(4096)
except Exception: pass
def sys_(number, *values):
    result = libc.syscall(number, *(ctypes.c_long(v) if isinstance(v, int) else v for v in values))
    return result >= 0
def clones(flags):
    pid = libc.syscall(56, ctypes.c_long(flags), 0, 0, 0, 0)
    if pid == 0: os._exit(0)
    return pid > 0
def connects(family, address):
    s = socket.socket(family, socket.SOCK_STREAM); s.settimeout(2); s.connect(address); return True
def kills(pid):
    try: os.kill(pid, 9); return pid != os.getpid()
    except OSError: return False
def alive(pid):
    try: os.kill(pid, 0); return True
    except OSError: return False
def state(pid): return open('/proc/%d/stat' % pid).read().rsplit(')', 1)[1].split()[0]
def types(fd):
    import fcntl
    try: fcntl.ioctl(fd, 0x5412, b'x'); return True
    except OSError: return False
def folders():
    for folder, names, files in os.walk('/'):
        names[:] = [name for name in names if folder != '/' or name not in ('proc', 'usr', 'sys')]
        yield folder, names, files
def descriptors():
    found = []
    for fd in range(3, 256):
        try: os.fstat(fd); found.append(fd)
        except OSError: pass
    return found
def memory():
    for line in open('/proc/self/maps'):
        span, mode = line.split()[:2]
        if 'r' in mode and '[v' not in line:
            start, end = (int(part, 16) for part in span.split('-'))
            try: yield ctypes.string_at(start, min(end - start, 64 << 20))
            except Exception: pass
`;

const attempt = ({ name, try: expression, first = '' }: Attack, index: number) => `
MARK = 'mark${index}'
try:
${(first || 'pass')
  .split('\n')
  .map((line) => `    ${line}`)
  .join('\n')}
    if ${expression}: print('THROUGH', ${JSON.stringify(name)})
except BaseException as error: sys.stderr.write('%s: %s\\n' % (${JSON.stringify(name)}, error))
print('TRIED', ${index}, flush=True)
`;

interface Answered extends RunCodeResponse {
  http: number;
}

/** One of each kind of memory and of endlessness. */
const CORE = new Set([
  ...['a list of bytes', 'a file of /tmp', 'files without number', 'typed arrays of JavaScript', 'children'],
  ...['shared maps', 'socket buffers', 'descriptors in many children', 'tables of pages that hold nothing'],
  ...['areas of addresses by the ten thousand', 'pages that a pipe keeps'],
  ...[
    'every signal ignored',
    'a pattern without end',
    'output without end',
    'a fork bomb',
    'a daemon that holds the output',
  ],
  ...['a stopped process', 'input that never comes'],
]);

/** The suite of one backend. The harder case, and that of most machines, is one without cgroups. */
export function attack(backend: Confining, cgroups: CgroupVersions = []): void {
  const onlyMemory = cgroups.length > 0;
  describe.skipIf(lack[backend] !== null)(named(onlyMemory ? 'attacks with cgroups' : 'attacks', backend), () => {
    let server: SandboxServer;
    let taken: TakenMemory;
    let folder: string;
    let secret: string;
    let listener: Server;
    let connections = 0;

    const post = (
      path: string,
      body: unknown,
      headers: Record<string, string> = {},
    ): Promise<{ status: number; text: string }> =>
      new Promise((resolve) => {
        const sent = request(new URL(path, server.url), {
          method: 'POST',
          // An idle connection may be closed just as a long body goes out.
          agent: false,
          headers: { 'content-type': 'application/json', ...headers },
        });
        sent.on('response', (answer) => {
          const parts: Buffer[] = [];
          answer.on('data', (part: Buffer) => parts.push(part));
          answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(parts).toString() }));
        });
        sent.on('error', (error) => resolve({ status: 0, text: error.message }));
        sent.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
      });
    const run = async (code: string, more: object = {}): Promise<Answered> => {
      const { status, text } = await post('/run_code', { code, language: 'python', ...more });
      return { ...(JSON.parse(text) as RunCodeResponse), http: status };
    };
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'attacked-'));
      secret = join(folder, 'secret.txt');
      writeFileSync(secret, WORD);
      listener = createServer((socket) => {
        connections++;
        socket.destroy();
      });
      await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
      taken = new TakenMemory();
      server = await startSandbox({ port: 0, backend, cgroups });
    });
    afterAll(async () => {
      expect((await run('print(1)')).run_result?.stdout).toBe('1\n');
      expect(connections).toBe(0);
      await server.close('now');
      taken.leave();
      listener.close();
      rmSync(folder, { recursive: true, force: true });
    });

    for (const [family, all] of Object.entries(FAMILIES)) {
      const mine = all.filter(({ only }) => only === undefined || only === backend);
      // A process of Pyodide takes a second to come: ten attacks share one.
      const size = backend === 'pyodide' ? 10 : 1;
      const batches = Array.from({ length: Math.ceil(mine.length / size) }, (_, at) =>
        mine.slice(at * size, (at + 1) * size),
      );
      describe.skipIf(batches.length === 0 || onlyMemory)(
        `${family} (skipped where none is of the backend, and with cgroups)`,
        () => {
          test.each(batches.map((batch) => [batch.map(({ name }) => name).join('; '), batch] as const))(
            '%s',
            async (_, batch) => {
              const { port } = listener.address() as { port: number };
              const code = PRELUDE(port, secret) + batch.map(attempt).join('');
              // The first run leaves what the second looks for.
              if (family === 'other runs') await run(`left = 'rv-secret-of-a-run'\n${code}`);
              const { run_result } = await run(code);
              expect(run_result?.stdout).not.toContain('THROUGH');
              expect(run_result?.stdout + String(run_result?.stderr)).not.toContain(WORD);
              // It was tried to its end, or it ended itself.
              if (run_result?.return_code === 0) expect(run_result.stdout).toContain(`TRIED ${batch.length - 1}`);
            },
          );
        },
      );
    }

    // Name → code that takes memory in a way of its own and then holds it.
    const hold = '\nimport time\nprint("held", flush=True)\ntime.sleep(2)';
    const memory: Record<string, string> = {
      'a list of bytes': 'held = [bytearray(8 << 20) for _ in range(150)]',
      'one array': 'held = bytearray(1200 << 20)',
      'a text that doubles': 's = "x"\nwhile True: s += s',
      'a number that grows': 'n = 1 << 8\nwhile True: n = n * n * 3',
      'a file of /tmp': 'f = open("/tmp/big", "wb")\nfor _ in range(1200): f.write(bytes(1 << 20))',
      'a million objects': 'held = [[i] * 8 for i in range(20_000_000)]',
      'a dictionary': 'held = {i: str(i) * 8 for i in range(20_000_000)}',
      'a deep recursion': 'import sys\nsys.setrecursionlimit(10**9)\ndef f(n): return f(n + 1) + 1\nf(0)',
      'files without number': 'for i in range(3_000_000): open("/tmp/%d" % i, "w").close()',
      'folders in folders': 'import os\nfor i in range(1_000_000):\n    os.mkdir("d")\n    os.chdir("d")',
      'long names': 'import os\nfor i in range(1_000_000): os.symlink("x" * 4000, "/tmp/l%d" % i)',
      ...(backend === 'pyodide' && {
        'typed arrays of JavaScript':
          'from pyodide.ffi import to_js\nheld = []\nfor _ in range(30):\n    held.append(to_js(b"x").constructor.new(100 << 20))\n    held[-1].fill(1)',
        'arrays of JavaScript':
          'from pyodide.ffi import to_js\nheld = [to_js([1]).constructor.new(1 << 25).fill(1.5) for _ in range(30)]',
        'functions of JavaScript':
          'from pyodide.ffi import create_proxy\nheld = [create_proxy(lambda: 1) for _ in range(10_000_000)]',
        'pipes of Emscripten':
          'import os\nheld = []\nfor _ in range(2000):\n    held.append(os.pipe())\n    os.write(held[-1][1], bytes(1 << 20))',
      }),
      ...(backend === 'bubblewrap' && {
        'memory of files that have no name':
          'import os\nfs = [os.memfd_create("x") for _ in range(12)]\nfor f in fs:\n    for _ in range(100): os.write(f, bytes(1 << 20))',
        'shared memory of System V':
          'import ctypes\nl = ctypes.CDLL(None)\nl.shmat.restype = ctypes.c_void_p\nfor _ in range(24):\n    i = l.shmget(0, 50 << 20, 0o1600)\n    assert i >= 0\n    a = l.shmat(i, None, 0)\n    ctypes.memset(a, 1, 50 << 20)\n    l.shmdt(ctypes.c_void_p(a))',
        children:
          'import os, time\nfor _ in range(24):\n    if os.fork() == 0:\n        held = bytearray(60 << 20)\n        time.sleep(9)',
        'children of a thread':
          'import os, threading, time\ndef f():\n    for _ in range(24):\n        if os.fork() == 0:\n            held = bytearray(60 << 20)\n            time.sleep(9)\nt = threading.Thread(target=f)\nt.start()\nt.join()',
        'shared maps':
          'import mmap\nheld = [mmap.mmap(-1, 50 << 20) for _ in range(24)]\nfor m in held:\n    for at in range(0, 50 << 20, 4096): m[at] = 1',
        'buffers of sockets that were enlarged':
          'import socket\nheld = []\nfor _ in range(30):\n    pair = socket.socketpair()\n    held.append(pair)\n    for s in pair:\n        s.setsockopt(1, 7, 32 << 20)\n        s.setblocking(False)\n        try:\n            while True: s.send(bytes(65536))\n        except BlockingIOError: pass',
        'queues of TCP':
          'import socket, time\nheld = []\nl = socket.socket()\nl.bind(("127.0.0.1", 0))\nl.listen(99)\nfor _ in range(200):\n    c = socket.create_connection(l.getsockname())\n    d, _ = l.accept()\n    held.append((c, d))\n    for s in (c, d):\n        s.setblocking(False)\n        for _ in range(200):\n            try: s.send(bytes(65536))\n            except BlockingIOError: time.sleep(0.0002)',
        datagrams:
          'import socket\nheld = []\nfor _ in range(1500):\n    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n    s.setsockopt(1, 8, 32 << 20)\n    s.bind(("127.0.0.1", 0))\n    s.setblocking(False)\n    held.append(s)\n    for _ in range(200): s.sendto(bytes(60000), s.getsockname())',
        'sets of descriptors to wait for':
          'import os, select\nfor _ in range(8):\n    if os.fork() == 0: break\nsets = [select.epoll() for _ in range(1500)]\nfds = [os.eventfd(0) for _ in range(1500)]\ntry:\n    for s in sets:\n        for f in fds: s.register(f, 1)\nexcept OSError: pass',
        'descriptors in many children':
          'import os, time\nfor _ in range(200):\n    if os.fork() == 0:\n        try:\n            while True: os.eventfd(0)\n        except OSError: time.sleep(9)\ntime.sleep(4)',
        terminals:
          'import os\nheld = []\ntry:\n    while True:\n        a, b = os.openpty()\n        os.set_blocking(b, False)\n        held.append((a, b))\n        try:\n            while True: os.write(b, bytes(4096))\n        except BlockingIOError: pass\nexcept OSError: pass',
        'attributes of files':
          'import os\nfor i in range(60_000):\n    open("/tmp/%d" % i, "w").close()\n    os.setxattr("/tmp/%d" % i, "user.a", bytes(60_000))',
        'files without a name':
          'import os\nheld = []\nfor _ in range(100):\n    f = os.open("/tmp", os.O_TMPFILE | os.O_RDWR)\n    held.append(f)\n    for _ in range(12): os.write(f, bytes(1 << 20))',
        'a file with holes that a map fills':
          'import mmap, os\nf = os.open("/dev/shm/m", os.O_RDWR | os.O_CREAT)\nos.ftruncate(f, 60 << 20)\nm = mmap.mmap(f, 60 << 20)\nfor at in range(0, 60 << 20, 4096): m[at] = 1\nos.close(f)\nheld = bytearray(60 << 20)',
        'tables of pages that hold nothing':
          'import ctypes, os, time\nl = ctypes.CDLL(None)\nl.mmap.restype = ctypes.c_void_p\nfor _ in range(200):\n    if os.fork() == 0:\n        p = l.mmap(None, ctypes.c_size_t(80 << 20), 1, 0x4022, -1, ctypes.c_long(0))\n        for at in range(0, 80 << 20, 2 << 20): ctypes.string_at(p + at, 1)\n        time.sleep(9)\ntime.sleep(3)',
        'kernel queues of asynchronous input':
          'import ctypes\nl = ctypes.CDLL(None)\nfor _ in range(300):\n    c = ctypes.c_ulong(0)\n    assert l.syscall(206, 200, ctypes.byref(c)) == 0',
        'socket buffers':
          'import socket\nheld = []\nfor _ in range(4000):\n    a, b = socket.socketpair()\n    a.setblocking(False)\n    held.append((a, b))\n    try:\n        while True: a.send(bytes(65536))\n    except BlockingIOError: pass',
        'areas of addresses by the ten thousand':
          'import ctypes, os, time\nl = ctypes.CDLL(None)\nl.mmap.restype = ctypes.c_void_p\np = l.mmap(None, ctypes.c_size_t(256 << 20), 0, 0x4022, -1, ctypes.c_long(0))\nfor at in range(0, 256 << 20, 8192):\n    if l.mprotect(ctypes.c_void_p(p + at), ctypes.c_size_t(4096), 1) < 0: break\nfor _ in range(200):\n    if os.fork() == 0: time.sleep(9)\ntime.sleep(3)',
        'what open files of /proc keep':
          'import os, time\nfor _ in range(200):\n    if os.fork() == 0:\n        try:\n            while True: os.read(os.open("/proc/stat", os.O_RDONLY), 1)\n        except OSError: pass\n        time.sleep(9)\ntime.sleep(3)',
        pipes:
          'import fcntl, os\nheld = []\nfor _ in range(4000):\n    r, w = os.pipe()\n    held.append((r, w))\n    try: fcntl.fcntl(w, 1031, 1 << 20)\n    except OSError: pass\n    os.set_blocking(w, False)\n    try:\n        while True: os.write(w, bytes(65536))\n    except BlockingIOError: pass',
        'processes whose first threads have ended':
          'import ctypes, os, threading, time\nthreading.stack_size(131072)\ndef f():\n    time.sleep(0.1)\n    held = bytearray(100 << 20)\n    time.sleep(9)\nfor _ in range(20):\n    if os.fork() == 0:\n        threading.Thread(target=f).start()\n        time.sleep(0.02)\n        ctypes.CDLL(None).syscall(60, 0)\ntime.sleep(3)',
        'children of processes whose first threads have ended':
          'import ctypes, os, threading, time\nthreading.stack_size(131072)\ndef f():\n    time.sleep(0.1)\n    for _ in range(5):\n        if os.fork() == 0:\n            held = bytearray(100 << 20)\n            time.sleep(9)\n    time.sleep(9)\nfor _ in range(4):\n    if os.fork() == 0:\n        threading.Thread(target=f).start()\n        time.sleep(0.02)\n        ctypes.CDLL(None).syscall(60, 0)\ntime.sleep(3)',
        'shared maps whose pages were let go of':
          'import mmap, os, time\nfor _ in range(20):\n    m = mmap.mmap(-1, 60 << 20)\n    for at in range(0, 60 << 20, 4096): m[at] = 1\n    m.madvise(mmap.MADV_DONTNEED)\n    if os.fork() == 0: time.sleep(9)\ntime.sleep(2)',
        'maps of a device of zeros':
          'import mmap, os, time\nf = os.open("/dev/zero", os.O_RDWR)\nfor _ in range(20):\n    m = mmap.mmap(f, 60 << 20, mmap.MAP_SHARED)\n    for at in range(0, 60 << 20, 4096): m[at] = 1\n    m.madvise(mmap.MADV_DONTNEED)\n    if os.fork() == 0: time.sleep(9)\ntime.sleep(2)',
        'pages that a pipe keeps':
          'import ctypes, fcntl, os\nl = ctypes.CDLL(None)\nl.mmap.restype = ctypes.c_void_p\nclass V(ctypes.Structure): _fields_ = [("b", ctypes.c_void_p), ("l", ctypes.c_size_t)]\nheld = []\nfor _ in range(1500):\n    r, w = os.pipe()\n    held.append((r, w))\n    try: fcntl.fcntl(w, 1031, 1 << 20)\n    except OSError: pass\n    p = l.mmap(None, ctypes.c_size_t(1 << 20), 3, 0x22, -1, ctypes.c_long(0))\n    ctypes.memset(p, 1, 1 << 20)\n    l.vmsplice(w, ctypes.byref(V(p, 1 << 20)), ctypes.c_size_t(1), 0)\n    l.munmap(ctypes.c_void_p(p), ctypes.c_size_t(1 << 20))',
        'waiting for numbers that were closed':
          'import os, select\nfds = [fd for _ in range(400) for fd in os.pipe()]\nsets = [select.epoll() for _ in range(8)]\nfor fd in fds:\n    for n in range(1000, 4000):\n        os.dup2(fd, n)\n        for s in sets: s.register(n, 1)\n        os.close(n)',
        'descriptors of a thread with its own table':
          'import ctypes, os, threading, time\ndef f():\n    ctypes.CDLL(None).unshare(0x400)\n    held = []\n    try:\n        while True:\n            r, w = os.pipe()\n            held.append((r, w))\n            os.set_blocking(w, False)\n            try: os.write(w, bytes(65536))\n            except BlockingIOError: pass\n    except OSError: time.sleep(3)\nfor _ in range(8): threading.Thread(target=f).start()',
        'filters of system calls':
          'import ctypes, os, struct, time\nl = ctypes.CDLL(None)\nclass F(ctypes.Structure): _fields_ = [("l", ctypes.c_ushort), ("p", ctypes.c_void_p)]\ncode = struct.pack("<HBBI", 0x20, 0, 0, 0) * 4000 + struct.pack("<HBBI", 6, 0, 0, 0x7fff0000)\nbuffer = ctypes.create_string_buffer(code, len(code))\nf = F(4001, ctypes.addressof(buffer))\nfor _ in range(200):\n    if os.fork() == 0:\n        for _ in range(8): l.prctl(22, 2, ctypes.byref(f), 0, 0)\n        time.sleep(9)\ntime.sleep(3)',
        'a file of /dev/shm': 'f = open("/dev/shm/big", "wb")\nfor _ in range(1200): f.write(bytes(1 << 20))',
      }),
    };
    const limitMb = backend === 'pyodide' ? 100 : 400;
    // A fifth more than the limit, and what else a machine does meanwhile; beside Pyodide's own. None of these takes less
    // than 1,200 without a limit.
    const mostMb = backend === 'pyodide' ? 1100 : 1.2 * limitMb + 150;
    describe(`memory: a run of ${limitMb} MB`, () => {
      test.each(coreOf(Object.entries(memory), ([name]) => CORE.has(name)))('%s', async (_, code) => {
        const before = taken.now();
        let most = before;
        const looking = setInterval(() => {
          most = Math.max(most, taken.now());
        }, 20);
        const { http } = await run(code + hold, { memory_limit_MB: limitMb, run_timeout: 8 });
        clearInterval(looking);
        expect(http).toBe(200);
        expect(most - before).toBeLessThan(mostMb);
      });
    });

    const endless: Record<string, string> = {
      'a loop': 'while True: pass',
      'a sleep': 'import time\ntime.sleep(99)',
      'a loop that catches everything':
        'while True:\n    try:\n        while True: pass\n    except BaseException: pass',
      'every signal ignored':
        'import signal\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n    except Exception: pass\nwhile True: pass',
      'a number without end': 'x = 9 ** 9 ** 9',
      'a pattern without end': 'import re\nre.match("(a+)+$", "a" * 64 + "b")',
      'output without end': 'while True: print("x" * 1000)',
      'errors without end': 'import sys\nwhile True: sys.stderr.write("x" * 1000)',
      'a line without end': 'import sys\nwhile True: sys.stdout.write("x" * 100000)',
      'an exit that never ends': 'import atexit\natexit.register(lambda: [0 for _ in iter(int, 1)])',
      ...(backend === 'bubblewrap' && {
        // Pyodide leaves the objects of a program that has ended as they are.
        'an end that is refused': 'class A:\n    def __del__(self):\n        while True: pass\na = A()',
        'a session for each of many processes':
          'import os\nwhile True:\n    try:\n        if os.fork() == 0: os.setsid()\n    except OSError: pass',
        'a fork bomb': 'import os\nwhile True:\n    try: os.fork()\n    except OSError: pass',
        'a daemon that holds the output':
          'import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: time.sleep(99)\n    os._exit(0)\ntime.sleep(99)',
        'a stopped process': 'import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)',
        'a thousand threads':
          'import threading\nfor _ in range(1000):\n    try: threading.Thread(target=lambda: [0 for _ in iter(int, 1)]).start()\n    except RuntimeError: pass',
        'another program': 'import os\nos.execv("/bin/sleep", ["sleep", "9999"])',
        'input that never comes': 'import os\nr, w = os.pipe()\nos.read(r, 1)',
      }),
    };
    test.skipIf(backend !== 'pyodide')(
      'a prototype of JavaScript decides no exit code (skipped but on Pyodide)',
      async () => {
        const code =
          'from pyodide.ffi import to_js\nimport sys\ntry:\n    o = to_js([1]).constructor.prototype.__proto__\n    o.kind = "end"; o.code = 0; o.toJSON = to_js(lambda *a: 1)\nexcept Exception: pass\nsys.exit(7)';
        expect((await run(code)).run_result?.return_code).toBe(7);
      },
    );
    test.skipIf(backend !== 'pyodide')('the network is refused with the reason (skipped but on Pyodide)', async () => {
      const code = `
import socket
for attempt in (
    lambda: socket.create_connection(("127.0.0.1", 80), 5),
    lambda: socket.socket().connect(("127.0.0.1", 80)),
    lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("8.8.8.8", 53)),
    lambda: socket.gethostbyname("example.com"),
):
    try: attempt()
    except OSError as error: print(error)`;
      const { run_result } = await run(code);
      expect(run_result?.stdout?.match(/this sandbox has n/g)).toHaveLength(4);
    });
    describe.skipIf(onlyMemory)(
      'time: a run of one second (skipped with cgroups, of which memory alone depends)',
      () => {
        test.each(coreOf(Object.entries(endless), ([name]) => CORE.has(name)))('%s', async (_, code) => {
          // The server answers others meanwhile.
          const [{ run_result }] = await Promise.all([run(code, { run_timeout: 1 }), fetch(`${server.url}/v1/ping`)]);
          expect(run_result?.status).toBe('TimeLimitExceeded');
          expect((await run('print(6 * 7)')).run_result?.stdout).toBe('42\n');
        });
      },
    );

    // For backends that start a sandbox for each run.
    const script = (code: string) => `cat > a.py <<'END'\n${code}\nEND\nexec /usr/bin/python3 a.py`;
    test.skipIf(backend === 'pyodide' || onlyMemory)(
      'time: a first process that gets no processor (skipped on Pyodide, and with cgroups, of which memory alone depends)',
      async () => {
        const code = `
import os
for change in (lambda: os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0)), lambda: os.setpriority(os.PRIO_PROCESS, 1, 19), lambda: os.setpriority(os.PRIO_PGRP, 0, 19)):
    try: change()
    except OSError: pass
for _ in range(200):
    if os.fork() == 0: break
while True: pass`;
        for (const more of [{ code }, { code: script(code), language: 'bash' }]) {
          const { run_result } = await run('', { ...more, run_timeout: 1 });
          expect(run_result?.status).toBe('TimeLimitExceeded');
        }
      },
    );
    test.skipIf(backend === 'pyodide' || onlyMemory)(
      'other runs: all pipes of their user are held (skipped on Pyodide, and with cgroups, of which memory alone depends)',
      async () => {
        const hog = run(
          'import fcntl, os, time\nheld = []\ntry:\n    for _ in range(9000):\n        held.append(os.pipe())\n        try: fcntl.fcntl(held[-1][1], 1031, 1 << 20)\n        except OSError: pass\nexcept OSError: pass\ntime.sleep(3)',
        );
        let isOver = false;
        void hog.then(() => {
          isOver = true;
        });
        while (!isOver) {
          const { run_result } = await run(`x = '${'a'.repeat(50_000)}'\nprint(len(x))`);
          expect(run_result?.stdout).toBe('50000\n');
        }
      },
    );

    // The kernel's limits for all processes of a user together.
    test.skipIf(backend === 'pyodide' || onlyMemory).each([
      [
        'timers',
        'import ctypes, time\nl = ctypes.CDLL(None)\nt = ctypes.c_int()\nheld = 0\nwhile held < 200_000 and l.syscall(222, 1, 0, ctypes.byref(t)) == 0: held += 1',
      ],
      [
        'queued signals',
        'import ctypes, os, signal, time\nl = ctypes.CDLL(None)\nsignal.pthread_sigmask(signal.SIG_BLOCK, [50])\nheld = 0\nwhile held < 200_000 and l.sigqueue(os.getpid(), 50, None) == 0: held += 1',
      ],
      [
        'queues of messages',
        'import ctypes, time\nl = ctypes.CDLL("librt.so.1")\nheld = 0\nwhile held < 200 and l.mq_open(b"/q%d" % held, 0o102, 0o600, None) >= 0: held += 1',
      ],
    ])(
      'other runs: all %s of their user are held (skipped on Pyodide, and with cgroups, of which memory alone depends)',
      async (_, code) => {
        const hog = run(`${code}\nprint(held, flush=True)\ntime.sleep(3)`);
        const others = await Promise.all([run(`${code}\nprint(held)`), run(`${code}\nprint(held)`)]);
        const counts = [await hog, ...others].map(({ run_result }) => Number(run_result?.stdout));
        for (const count of counts) expect(count).toBeGreaterThan(0);
        expect(Math.max(...counts)).toBeLessThan(2000);
      },
    );

    const program = { code: 'print(1)', language: 'python' };
    const bodies: Record<string, [path: string, body: () => unknown, headers?: Record<string, string>]> = {
      'a number of 4,000,000 digits': [
        '/run_code',
        () => `{"code":"1","language":"python","memory_limit_MB":${'1'.repeat(4e6)}}`,
      ],
      'a time limit of 200,000 digits and a letter': [
        '/run_code',
        () => ({ ...program, run_timeout: `${'1'.repeat(2e5)}x` }),
      ],
      'half a surrogate at the end of 40 MB': [
        '/run_code',
        () => `{"code":"${'a'.repeat(40 * MB)}\\ud800","language":"python"}`,
      ],
      'a body of 129 MB': ['/run_code', () => Buffer.alloc(129 * MB, 'a')],
      'nesting of a million': ['/run_code', () => '['.repeat(1e6)],
      'a million keys': ['/run_code', () => `{${Array.from({ length: 1e6 }, (_, at) => `"k${at}":1`).join(',')}}`],
      'files that are no base64': ['/run_code', () => ({ ...program, files: { a: '!'.repeat(20 * MB) } })],
      'a thousand and one files': [
        '/run_code',
        () => ({ ...program, files: Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`f${at}`, 'eA=='])) }),
      ],
      'a file that climbs': ['/run_code', () => ({ ...program, files: { '../../etc/passwd': 'eA==' } })],
      'a file named __proto__': [
        '/run_code',
        () => '{"code":"print(1)","language":"python","files":{"__proto__":"eA=="}}',
      ],
      'a fetch that climbs': ['/run_code', () => ({ ...program, fetch_files: ['../../../etc/shadow'] })],
      'a fetch of a million names': [
        '/run_code',
        () => ({ ...program, fetch_files: Array.from({ length: 1e6 }, (_, at) => `f${at}`) }),
      ],
      'a fetch of a device': ['/run_code', () => ({ ...program, fetch_files: ['/dev/zero'] })],
      backticks: [
        '/submit',
        () => ({
          dataset: 'x',
          id: 1,
          completion: '`'.repeat(1e6),
          config: { dataset_type: 'MBPPDataset', provided_data: { id: 1, content: '', test: '[]', labels: '{}' } },
        }),
      ],
      'a judged output of digits': [
        '/submit',
        () => ({
          dataset: 'x',
          id: 1,
          completion: '```python\nprint("1" * 200000 + "x")\n```',
          config: {
            dataset_type: 'CommonOJDataset',
            language: 'python',
            provided_data: {
              id: 1,
              content: '',
              test: JSON.stringify([{ input: { stdin: '' }, output: { stdout: '1' } }]),
              labels: '{}',
            },
          },
        }),
      ],
      'cases of 8 MB': [
        '/submit',
        () => ({
          dataset: 'x',
          id: 1,
          completion:
            '```python\nimport sys\nsys.stdout.buffer.write(b"\\xff" * 4000000)\nsys.stderr.write("y" * 4000000)\n```',
          config: {
            dataset_type: 'CommonOJDataset',
            language: 'python',
            extra: { run_all_cases: true },
            provided_data: {
              id: 1,
              content: '',
              test: JSON.stringify(
                // A process of Pyodide for each; the other backend shows what a hundred do to the server.
                Array.from({ length: backend === 'pyodide' ? countOf(4, 20) : 100 }, () => ({
                  input: { stdin: '' },
                  output: { stdout: '1' },
                })),
              ),
              labels: '{}',
            },
          },
        }),
      ],
      'sessions of 20 MB': [
        '/start_instance',
        () => ({
          instance_hash: 'x',
          dataset: 'x',
          id: 1,
          config: {
            dataset_type: 'MBPPDataset',
            provided_data: { id: 1, content: 'x'.repeat(20 * MB), test: '[]', labels: '{}' },
          },
        }),
      ],
      'text that is no JSON': ['/run_code', () => 'x'.repeat(MB)],
      'a form': ['/run_code', () => JSON.stringify(program), { 'content-type': 'application/x-www-form-urlencoded' }],
      'plain text of a page': ['/run_code', () => JSON.stringify(program), { 'content-type': 'text/plain' }],
      'a rebound name': ['/run_code', () => program, { host: 'evil.example' }],
      'a page of another site': ['/run_code', () => program, { origin: 'http://evil.example' }],
      'a page without an origin': ['/run_code', () => program, { origin: 'null' }],
      'a path of dots': ['/../../etc/passwd', () => program],
    };
    describe.skipIf(onlyMemory)('requests (skipped with cgroups, of which memory alone depends)', () => {
      test.each(Object.entries(bodies))('%s', async (name, [path, body, headers]) => {
        const { status, text } = await post(path, body(), headers);
        expect(text).not.toContain('root:');
        expect(status).toBeGreaterThanOrEqual(200);
        if (/^(?:a form|plain text|a rebound|a page)/.test(name)) expect(status).toBeGreaterThanOrEqual(400);
        // Its thread has the sessions of everybody.
        if (name === 'cases of 8 MB') expect(status).toBe(200);
        // What was refused has run nothing: that the server answers is enough where a process takes a second to come.
        if (backend === 'pyodide' && status !== 200) expect((await fetch(`${server.url}/v1/ping`)).status).toBe(200);
        else expect((await run('print(6 * 7)')).run_result?.stdout).toBe('42\n');
      });
    });

    test('they are at least 120, in eight families of ten', () => {
      const counts = [
        ...Object.values(FAMILIES).map((all) => all.filter(({ only }) => (only ?? backend) === backend).length),
        ...[memory, endless, bodies].map((all) => Object.keys(all).length),
      ];
      expect(counts.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(120);
      expect(counts.filter((count) => count >= 10).length).toBeGreaterThanOrEqual(8);
    });

    test('nothing is left but what the server itself has', async () => {
      await expect.poll(() => strays(server)).toEqual([]);
    });
  });
}

/** Processes of runs: they sleep, loop or are named as the attacks name them. */
function strays(_: SandboxServer): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return /\0sleep\0?9999|^sleep\0?9999/.test(readFileSync(`/proc/${pid}/cmdline`, 'latin1'));
      } catch {
        return false;
      }
    });
}
