// The small parts of the server: paths, base64 as Python reads it, streams that are cut.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BehindDescriptors, locksOf } from '../../src/sandbox/server/backends/behind-descriptors.ts';
import { forShared } from '../../src/sandbox/server/backends/mapped-memory.ts';
import { type Process, processesOf } from '../../src/sandbox/server/backends/usage.ts';
import { Output } from '../../src/sandbox/server/output.ts';
import { confine, decodeBase64, decodeFiles } from '../../src/sandbox/server/paths.ts';
import { loneSurrogate } from '../../src/sandbox/server/runner.ts';
import { hasPython } from './plain-python.ts';

describe('paths', () => {
  test('whatever the name, the path stays in the run, or is refused', () => {
    const part = fc.constantFrom('a', 'b.txt', '.', '..', '', '...', '名前', ' ');
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 8 }), (parts) => {
        let path: string;
        try {
          path = confine(parts.join('/').replace(/^\/+/, ''), '/tmp/run', false);
        } catch {
          return;
        }
        expect(path === '/tmp/run' || path.startsWith('/tmp/run/')).toBe(true);
        expect(path.split('/')).not.toContain('..');
      }),
    );
  });

  test('an absolute name needs a private root; a NUL is refused', () => {
    expect(confine('/mnt/../etc/x', '/tmp/run', true)).toBe('/etc/x');
    expect(() => confine('/mnt/x', '/tmp/run', false)).toThrow('the path /mnt/x is absolute');
    expect(() => confine('a\0b', '/tmp/run', true)).toThrow('null byte');
    expect(() => confine('../runner/x', '/tmp/run', true)).toThrow("leads out of the run's directory");
  });

  test('files: null and the marker are skipped, an empty name is a directory', () => {
    expect([...decodeFiles({ a: 'eA==', b: null, IGNORE_THIS_FILE: '!' })]).toEqual([['a', Buffer.from('x')]]);
    expect(() => decodeFiles({ '': 'eA==' })).toThrow('Is a directory');
  });
});

describe('base64', () => {
  test.skipIf(!hasPython)('is read as Python reads it (skipped without python3)', () => {
    const texts = fc.sample(
      fc.string({ unit: fc.constantFrom('a', 'B', '9', '+', '/', '=', '!', ' ', '\n'), maxLength: 12 }),
      300,
    );
    const script = `
import base64, json, sys
out = []
for text in json.load(sys.stdin):
    try: out.append(base64.b64decode(text).hex())
    except Exception as error: out.append('! ' + str(error))
print(json.dumps(out))
`;
    const wanted = JSON.parse(
      execFileSync('/usr/bin/python3', ['-c', script], { input: JSON.stringify(texts) }).toString(),
    );
    const got = texts.map((text) => {
      try {
        return decodeBase64(text).toString('hex');
      } catch (error) {
        return `! ${(error as Error).message}`;
      }
    });
    expect(got).toEqual(wanted);
  });
});

describe('output', () => {
  test('is kept whole up to the limit, and says what was cut beyond', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme', maxLength: 20 })),
        fc.integer({ min: 1, max: 60 }),
        (parts, limit) => {
          const output = new Output(limit);
          for (const part of parts) output.push(Buffer.from(part));
          const whole = parts.join('');
          const bytes = Buffer.byteLength(whole);
          if (bytes <= limit) expect(output.text()).toBe(whole);
          else {
            const [, kept = '', told] = /^([\s\S]*)\n\[output cut: (\d+) bytes were written/.exec(output.text()) ?? [];
            expect(Number(told)).toBe(bytes);
            // Never half a character.
            expect(whole.startsWith(kept)).toBe(true);
          }
        },
      ),
    );
  });

  test('a stream that breaks off is kept as far as it came', async () => {
    const stream = new PassThrough();
    const output = new Output(100);
    const collected = output.collect(stream);
    stream.write('as far');
    setImmediate(() => stream.destroy(new Error('broken')));
    await collected;
    expect(output.text()).toBe('as far');
  });
});

test('half a surrogate pair is reported with its position, in plain text and in JSON', () => {
  expect(loneSurrogate('a\u{1f600}b')).toBeNull();
  expect(loneSurrogate('\u{1f600}\ud800')).toContain("'\\ud800' in position 1");
  expect(loneSurrogate(JSON.stringify('\\ud800'), true)).toBeNull();
  expect(loneSurrogate(JSON.stringify('ab\udc00'), true)).toContain("'\\udc00' in position 3");
});

test.skipIf(!hasPython || process.platform !== 'linux')(
  'the locks of files that a process holds are counted (skipped without python3 on Linux)',
  async () => {
    const code = `
import fcntl, sys, tempfile
file = tempfile.TemporaryFile()
for start in range(500): fcntl.lockf(file, fcntl.LOCK_EX, 1, 2 * start)
print('held', flush=True)
sys.stdin.read()
`;
    const child = spawn('python3', ['-I', '-c', code], { stdio: ['pipe', 'pipe', 'inherit'] });
    try {
      await once(child.stdout, 'data');
      expect(await locksOf({ folder: `/proc/${child.pid}` })).toBe(500);
      expect(await locksOf({ folder: '/proc/self' })).toBeLessThan(500);
    } finally {
      child.kill('SIGKILL');
      await once(child, 'close');
    }
    expect(await locksOf({ folder: `/proc/${child.pid}` })).toBe(0);
  },
);

const LIBC = 'import ctypes, mmap, os, select, sys, threading, time\nlibc = ctypes.CDLL(None)\n';
const HELD = [
  {
    what: 'a process whose first thread has ended',
    code: 'def grow():\n    held = bytearray(64 << 20)\n    print("held", flush=True)\n    sys.stdin.read()\n    os._exit(0)\nthreading.Thread(target=grow).start()\nlibc.syscall(60, 0)',
    sees: async (processes: Process[]) => processes.reduce((sum, { bytes }) => sum + bytes, 0),
  },
  {
    what: 'shared memory whose pages were let go of',
    code: 'held = mmap.mmap(-1, 64 << 20)\nheld.write(b"x" * (64 << 20))\nheld.madvise(mmap.MADV_DONTNEED)\nprint("held", flush=True)\nsys.stdin.read()',
    sees: (processes: Process[]) => forShared(processes, Number.POSITIVE_INFINITY),
  },
  {
    what: 'the same of a device of zeros',
    code: 'file = os.open("/dev/zero", os.O_RDWR)\nheld = mmap.mmap(file, 64 << 20, mmap.MAP_SHARED)\nprint("held", flush=True)\nsys.stdin.read()',
    sees: (processes: Process[]) => forShared(processes, Number.POSITIVE_INFINITY),
  },
];

test.skipIf(!hasPython || process.platform !== 'linux').each(HELD)(
  '$what is counted (skipped without python3 on Linux)',
  async ({ code, sees }) => {
    const child = spawn('python3', ['-I', '-c', LIBC + code], { stdio: ['pipe', 'pipe', 'inherit'] });
    try {
      await once(child.stdout, 'data');
      const pid = child.pid ?? 0;
      await expect.poll(async () => await sees([...processesOf([pid])])).toBeGreaterThanOrEqual(60 * 2 ** 20);
    } finally {
      child.kill('SIGKILL');
      await once(child, 'close');
    }
  },
);

test.skipIf(!hasPython || process.platform !== 'linux')(
  'what waits under a closed number is counted (skipped without python3 on Linux)',
  async () => {
    const code = `
waits = select.epoll()
for number in range(100, 600):
    os.dup2(0, number)
    waits.register(number)
    os.close(number)
print('held', flush=True)
sys.stdin.read()
`;
    const child = spawn('python3', ['-I', '-c', LIBC + code], { stdio: ['pipe', 'pipe', 'inherit'] });
    try {
      await once(child.stdout, 'data');
      const descriptors = new BehindDescriptors();
      await expect.poll(() => descriptors.of([...processesOf([child.pid ?? 0])])).toBeGreaterThanOrEqual(500 * 256);
    } finally {
      child.kill('SIGKILL');
      await once(child, 'close');
    }
  },
);
