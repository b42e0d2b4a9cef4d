// Results of hostile programs on every backend that confines. Each test says what the attack got, not only that the
// server lived.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunCodeInput, RunCodeResponse } from '../../src/sandbox/protocol.ts';
import { runCodeRequest } from '../../src/sandbox/protocol.ts';
import { createRunner, type SandboxRunner } from '../../src/sandbox/server/index.ts';
import { CONFINING, lack, named } from './backends.ts';

const SECRET = 'hunter2-of-the-server';
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** Host processes whose command line or environment holds the mark. */
const processesWith = (mark: string): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(mark);
      } catch {
        return false;
      }
    });

/** What this process's servers have of the temporary folder. */
const ownFolders = (): string[] =>
  readdirSync(tmpdir())
    .filter((name) => name.startsWith(`rollout-viewer-sandbox-${process.pid}-`))
    .map((name) => join(tmpdir(), name));

function ownBytes(): number {
  try {
    return ownFolders()
      .flatMap((folder) => readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name))))
      .reduce((sum, path) => sum + statSync(path).blocks * 512, 0);
  } catch {
    // A file went meanwhile; the next look is in a moment.
    return 0;
  }
}

describe.each(CONFINING)('%s', (backend) => {
  describe.skipIf(lack[backend] !== null)(named('attacks', backend), () => {
    const pyodide = backend === 'pyodide';
    let runner: SandboxRunner;
    let folder: string;
    let listener: Server;
    let connections = 0;
    let port = 0;

    const run = async (request: Partial<RunCodeInput> & { code: string }): Promise<RunCodeResponse> => {
      // A limit against hangs, but where a test gives its own.
      const checked = runCodeRequest.check({ language: 'python', run_timeout: 300, ...request });
      if (!checked.ok) throw new Error('the test asks wrongly');
      return runner.run(checked.value);
    };
    const python = (code: string, rest: Partial<RunCodeInput> = {}) => run({ ...rest, code });

    beforeAll(async () => {
      process.env.SANDBOX_TEST_SECRET = SECRET;
      folder = mkdtempSync(join(tmpdir(), 'attacked-'));
      writeFileSync(join(folder, 'secret.txt'), SECRET, { mode: 0o644 });
      listener = createServer((socket) => {
        connections++;
        socket.destroy();
      });
      await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
      port = (listener.address() as { port: number }).port;
      runner = await createRunner({ backend });
    });

    afterAll(async () => {
      // Whatever was tried: the next program runs as ever.
      expect((await python('print(1)')).run_result?.stdout).toBe('1\n');
      await runner.close();
      listener.close();
      rmSync(folder, { recursive: true, force: true });
      delete process.env.SANDBOX_TEST_SECRET;
    });

    test('forks are refused after a while', async () => {
      const code = `
import os, time
n = 0
try:
    while n < 3000:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        n += 1
    print('all', n)
except OSError as error:
    print('refused after', n)
`;
      const { run_result } = await python(code);
      const count = Number(/^refused after (\d+)$/m.exec(run_result?.stdout ?? '')?.[1]);
      expect(count).toBeLessThan(pyodide ? 1 : 256);
      if (!pyodide) expect(count).toBeGreaterThan(100);
    });

    test('a fork bomb ends with its time', async () => {
      const code = 'import os\nwhile True:\n    try:\n        os.fork()\n    except BaseException:\n        pass';
      const { status, run_result } = await python(code, { run_timeout: 0.5 });
      expect([status, run_result?.status]).toEqual(['Failed', 'TimeLimitExceeded']);
    });

    test('a memory bomb gets a MemoryError', async () => {
      const code = 'held = []\nwhile True:\n    held.append(bytearray(16 << 20))';
      const { status, run_result } = await python(code, { memory_limit_MB: 256 });
      expect([status, run_result?.return_code]).toEqual(['Failed', 1]);
      expect(run_result?.stderr).toContain('MemoryError');
    });

    test.skipIf(pyodide)('many processes share one memory limit (skipped on Pyodide)', async () => {
      const code = `
import os, time
for _ in range(8):
    if os.fork() == 0:
        held = bytearray(120 << 20)
        time.sleep(600)
time.sleep(600)
`;
      const { status, run_result } = await python(code, { memory_limit_MB: 300 });
      expect([status, run_result?.return_code]).toEqual(['Failed', -9]);
      expect(run_result?.stderr).toContain('over the memory limit');
    });

    test('1 GB of output is drained, cut and marked', async () => {
      const code =
        'import os\npart = b"x" * (8 << 20)\nfor _ in range(128):\n    left = part\n    while left: left = left[os.write(1, left):]';
      const { status, run_result } = await python(code);
      expect(status).toBe('Success');
      expect(run_result?.stdout).toMatch(
        /^x{4194304}\n\[output cut: 1073741824 bytes were written, the first 4194304 are shown\]\n$/,
      );
    });

    test('a loop that ignores every signal is ended', async () => {
      const code = `
import signal
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except Exception: pass
print('deaf', flush=True)
while True:
    try:
        while True: pass
    except BaseException: pass
`;
      const { run_result } = await python(code, { run_timeout: 2 });
      expect(run_result).toMatchObject({ status: 'TimeLimitExceeded', return_code: null, stdout: 'deaf\n' });
    });

    test('a daemon does not outlive its run', async () => {
      const mark = `31415${process.pid}`;
      const code = `
import os, sys
try:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execvp('sleep', ['sleep', '${mark}'])
        os._exit(0)
    print('parent ends')
except (OSError, AttributeError) as error:
    print('no daemon')
`;
      const { status, run_result } = await python(code);
      expect([status, run_result?.stdout]).toEqual(['Success', pyodide ? 'no daemon\n' : 'parent ends\n']);
      expect(processesWith(mark)).toEqual([]);
    });

    test("neither /etc/shadow nor the server's environment can be read", async () => {
      const code = `
import glob, os
seen = [repr(dict(os.environ))]
for path in ['/etc/shadow', '/proc/1/environ', '/proc/${process.pid}/environ', '${join(folder, 'secret.txt')}', *glob.glob('/proc/*/environ'), *glob.glob('/home/*'), *glob.glob('/root/*')]:
    try:
        with open(path, 'rb') as file: seen.append(path + ' ' + repr(file.read()))
    except OSError as error:
        print(path, type(error).__name__)
print(seen)
`;
      const { status, run_result } = await python(code);
      expect(status).toBe('Success');
      expect(run_result?.stdout).toContain('/etc/shadow FileNotFoundError');
      expect(run_result?.stdout).toContain(`/proc/${process.pid}/environ FileNotFoundError`);
      expect(run_result?.stdout).not.toContain(SECRET);
      expect(run_result?.stdout).not.toMatch(/SANDBOX_TEST_SECRET|npm_|NODE_/);
    });

    test('nothing is written to the host', async () => {
      const mark = `written-by-an-attack-${process.pid}-${backend}`;
      const places = ['/tmp', '/var/tmp', '/dev/shm', '/usr', '/etc', '/', homedir(), process.cwd(), folder];
      const code = `
import os
for place in ${JSON.stringify(places)}:
    try:
        os.makedirs(place, exist_ok=True)
        with open(os.path.join(place, '${mark}'), 'w') as file: file.write('x')
        print(place, 'written')
    except OSError as error:
        print(place, type(error).__name__)
`;
      const { status, run_result } = await python(code);
      expect(status).toBe('Success');
      if (!pyodide) expect(run_result?.stdout).toMatch(/^\/usr (?:OSError|PermissionError)$/m);
      for (const place of places) expect(existsSync(join(place, mark))).toBe(false);
    });

    test('a name in files that climbs out is refused', async () => {
      for (const name of ['../x', 'a/../../x', '../../etc/passwd']) {
        const { status, message } = await run({ code: 'print(1)', files: { [name]: base64('x') } });
        expect(status).toBe('SandboxError');
        expect(message).toContain(`the path ${name} leads out of the run's directory`);
      }
    });

    test('an absolute name in files lands in the private root only', async () => {
      const path = `/mnt/absolute-${process.pid}`;
      const { run_result, files } = await run({
        code: `print(open('${path}').read())`,
        files: { [path]: base64('private') },
        fetch_files: [path],
      });
      expect(run_result?.stdout).toBe('private\n');
      expect(files).toEqual({ [path]: base64('private') });
      expect(existsSync(path)).toBe(false);
    });

    test('fetch_files gives no file of the host, by whatever path', async () => {
      const secret = join(folder, 'secret.txt');
      const climbing = await run({ code: 'print(1)', fetch_files: ['../../etc/shadow'] });
      expect(climbing.status).toBe('SandboxError');
      const code = `
import os
os.symlink('${secret}', 'link')
os.symlink('/etc/shadow', 'shadow')
os.symlink('/proc/1/root${secret}', 'deep')
os.symlink('${folder}', 'folder')
os.symlink('loop', 'loop')
`;
      const { status, files } = await run({
        code,
        fetch_files: ['link', 'shadow', 'deep', 'folder/secret.txt', 'loop', secret, '/etc/shadow', '/dev/zero'],
      });
      expect([status, files]).toEqual(['Success', {}]);
    });

    test('no connection reaches loopback or the outside', async () => {
      const code = `
import socket
for address in [('127.0.0.1', ${port}), ('localhost', ${port}), ('192.0.2.1', 80), ('::1', ${port})]:
    try:
        socket.create_connection(address, 2).send(b'x')
        print('connected', address)
    except Exception as error:
        print('refused')
try:
    datagram = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagram.sendto(b'x', ('192.0.2.1', 53))
    print('sent')
except Exception as error:
    print('refused')
`;
      const { status, run_result } = await python(code);
      expect([status, run_result?.stdout]).toEqual(['Success', 'refused\n'.repeat(5)]);
      expect(connections).toBe(0);
    });

    test('killing the parent, everybody and the server harms only the program', async () => {
      const code = `
import os, sys
for pid in [os.getppid(), 1, ${process.pid}]:
    try:
        os.kill(pid, 9)
    except Exception as error:
        print(type(error).__name__)
sys.stdout.flush()
os.kill(-1, 9)
print('alive')
`;
      const answer = await python(code);
      expect(answer.status).toMatch(/^(?:Failed|Success)$/);
      expect(process.kill(process.pid, 0)).toBe(true);
    });

    test.skipIf(pyodide)('no process of the host can be seen or traced (skipped on Pyodide)', async () => {
      const code = `
import ctypes, os
pids = sorted(int(name) for name in os.listdir('/proc') if name.isdigit())
libc = ctypes.CDLL(None, use_errno=True)
print(len(pids) <= 3, libc.ptrace(16, ${process.pid}, 0, 0), os.path.exists('/proc/${process.pid}'))
`;
      const { run_result } = await python(code);
      expect(run_result?.stdout).toBe('True -1 False\n');
    });

    test.skipIf(pyodide)('no capability, no new namespace, no way back to root (skipped on Pyodide)', async () => {
      const code = `
import ctypes, subprocess
status = open('/proc/self/status').read()
print([line.split()[1] for line in status.split('\\n') if line.startswith('CapEff') or line.startswith('NoNewPrivs')])
libc = ctypes.CDLL(None, use_errno=True)
print(libc.unshare(0x10000000), libc.mount(b'none', b'/mnt', b'tmpfs', 0, None), libc.mount(None, b'/usr', None, 32 | 4096, None))
print(subprocess.run(['unshare', '-Ur', 'true'], capture_output=True).returncode)
`;
      const { run_result } = await python(code);
      expect(run_result?.stdout).toBe("['0000000000000000', '1']\n-1 -1 -1\n1\n");
    });

    test('a full disk is full for the program alone', async () => {
      const code = `
import os
part, n = b'x' * (16 << 20), 0
try:
    while n < 200:
        with open('f%d' % n, 'wb') as file: file.write(part)
        n += 1
    print('all')
except OSError as error:
    print('full after', n)
`;
      let most = 0;
      const looking = setInterval(() => {
        most = Math.max(most, ownBytes());
      }, 20);
      const { run_result } = await python(code);
      clearInterval(looking);
      const parts = Number(/full after (\d+)/.exec(run_result?.stdout ?? '')?.[1]);
      expect(parts).toBeGreaterThan(16);
      expect(parts).toBeLessThanOrEqual(32);
      expect(most).toBeLessThan(100 << 20);
    });

    test.skipIf(!pyodide)('no way from Python to JavaScript leads out (skipped but on Pyodide)', async () => {
      const escapes = {
        globals: 'import js\nprint(js.process.env)',
        fetch: 'from js import fetch\nprint(fetch)',
        Function: 'from pyodide.ffi import to_js\nprint(to_js([1]).constructor.constructor("return process")())',
        'async Function': 'import pyodide_js\nprint(pyodide_js.loadPackage.constructor("return process")())',
        eval: 'from pyodide.code import run_js\nprint(run_js("process.pid"))',
        mountNodeFS: 'import os, pyodide_js\npyodide_js.mountNodeFS("/h", "/etc")\nprint(os.listdir("/h"))',
        NODEFS:
          'import os, pyodide_js\nfs = pyodide_js.FS\nos.mkdir("/h")\nfs.mount(fs.filesystems.NODEFS, pyodide_js.toPy({"root": "/etc"}), "/h")\nprint(os.listdir("/h"))',
        run_script: 'import ctypes\nctypes.CDLL(None).emscripten_run_script(b"process.exit(7)")\nprint("ran")',
        'a package from a URL': `import pyodide_js\nprint(pyodide_js.loadPackage("http://127.0.0.1:${port}/x.whl"))`,
        'the raw file system': 'import os\nprint(open("/proc/self/environ").read(), os.listdir("/proc/self"))',
        subprocess: 'import subprocess\nprint(subprocess.run(["id"]))',
        threads: 'import threading\nthreading.Thread(target=print).start()\nprint("started")',
      };
      for (const [name, code] of Object.entries(escapes)) {
        const { run_result, status } = await python(code);
        if (name === 'a package from a URL') continue; // a promise; the listener below is its judge
        expect(`${name}: ${status} ${run_result?.stdout?.replace(/Stack[\s\S]*/, '')}`).toBe(`${name}: Failed `);
      }
      expect(connections).toBe(0);
    });

    test('nothing of the runs is left in the temporary directory', () => {
      const held = ownFolders().flatMap((folder) => readdirSync(folder));
      // The server's own.
      expect(held.sort()).toEqual(pyodide ? ['filter'] : ['filter', 'supervisor']);
    });

    test('a program sees none of what an earlier one left', async () => {
      await python(
        'import os\nopen("/tmp/left", "w").write("x")\nopen("/dev/shm/left", "w").write("x") if os.path.isdir("/dev/shm") else 0',
      );
      const { run_result } = await python(
        'import os\nprint(os.path.exists("/tmp/left"), os.path.exists("/dev/shm/left"))',
      );
      expect(run_result?.stdout).toBe('False False\n');
    });
  });
});

test.skipIf(lack.bubblewrap !== null)(
  'as root, programs run as an unprivileged user of the host (skipped without bubblewrap)',
  async () => {
    const runner = await createRunner({ backend: 'bubblewrap' });
    const mark = `27182${process.pid}`;
    const checked = runCodeRequest.check({ language: 'bash', code: `sleep ${mark}`, run_timeout: 300 });
    if (!checked.ok) throw new Error('unreachable');
    const stop = new AbortController();
    const running = runner.run(checked.value, stop.signal).catch((error: unknown) => error);
    await expect.poll(() => processesWith(mark).length).toBeGreaterThan(0);
    const uids = processesWith(`sleep\0${mark}`).map((pid) =>
      execFileSync('stat', ['-c', '%u', `/proc/${pid}`]).toString(),
    );
    expect(uids.every((uid) => uid.trim() !== '0' || process.getuid?.() !== 0)).toBe(true);
    stop.abort(new Error('enough'));
    expect(await running).toMatchObject({ message: 'enough' });
    await expect.poll(() => processesWith(`sleep\0${mark}`)).toEqual([]);
    await runner.close();
  },
);
