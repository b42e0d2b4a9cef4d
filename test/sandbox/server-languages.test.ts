// Each language that the test machine has: print, stdin, files, an error, a timeout, as upstream's own tests ask.
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { LANGUAGES, type RunCodeInput, runCodeRequest } from '../../src/sandbox/protocol.ts';
import { RUNNERS } from '../../src/sandbox/server/backends/languages.ts';
import { TOOLCHAINS } from '../../src/sandbox/server/backends/toolchains.ts';
import { createRunner, type SandboxRunner } from '../../src/sandbox/server/index.ts';
import { lack, named } from './backends.ts';

/** One of those that go on forever keeps the processor busy; it costs as much as it is given. */
const READY = {
  python: {
    hello: 'print("hello")',
    stdin: 'print(int(input()) * 2)',
    file: 'print(open("in.txt").read(), end="")\nopen("out.txt", "w").write("out")',
    assertion: 'assert 1 == 2',
    forever: 'print("began", flush=True)\nimport time\nwhile True: time.sleep(9)',
  },
  bash: {
    hello: 'echo hello',
    stdin: 'read number\necho $((number * 2))',
    file: 'cat in.txt\nprintf out > out.txt',
    assertion: '[ 1 = 2 ]',
    forever: 'echo began\nwhile :; do :; done',
  },
  nodejs: {
    hello: 'console.log("hello")',
    stdin: 'console.log(Number(require("fs").readFileSync("/dev/stdin", "utf8")) * 2)',
    file: 'const fs = require("fs")\nprocess.stdout.write(fs.readFileSync("in.txt"))\nfs.writeFileSync("out.txt", "out")',
    assertion: 'require("assert")(1 === 2)',
    forever: 'require("fs").writeSync(1, "began\\n")\nsetInterval(() => {}, 9000)',
  },
  cpp: {
    hello: '#include <cstdio>\nint main() { puts("hello"); }',
    stdin: '#include <iostream>\nint main() { int n; std::cin >> n; std::cout << n * 2 << std::endl; }',
    file: '#include <fstream>\n#include <iostream>\nint main() { std::cout << std::ifstream("in.txt").rdbuf(); std::ofstream("out.txt") << "out"; }',
    assertion: '#include <cassert>\nint main() { assert(1 == 2); }',
    forever: '#include <cstdio>\n#include <unistd.h>\nint main() { puts("began"); fflush(stdout); for (;;) sleep(9); }',
  },
} as const;

describe.skipIf(lack.bubblewrap !== null)(named('languages', 'bubblewrap'), () => {
  let runner: SandboxRunner;
  beforeAll(async () => {
    runner = await createRunner({ backend: 'bubblewrap' });
  });
  afterAll(() => runner.close());

  const run = (request: RunCodeInput) => {
    const checked = runCodeRequest.check(request);
    if (!checked.ok) throw new Error('the test asks wrongly');
    return runner.run(checked.value);
  };

  const isMissing = async (language: keyof typeof READY) =>
    (await run({ language, code: READY[language].hello })).message.includes('cannot run on this server');

  describe.each(Object.keys(READY) as (keyof typeof READY)[])('%s', (language) => {
    const programs = READY[language];

    test('prints, reads stdin, reads and writes files', async ({ skip }) => {
      if (await isMissing(language)) return skip(`this machine has no toolchain of ${language}`);
      const hello = await run({ language, code: programs.hello });
      expect([hello.status, hello.run_result?.stdout]).toEqual(['Success', 'hello\n']);
      expect(hello.compile_result === null).toBe(language !== 'cpp');
      expect((await run({ language, code: programs.stdin, stdin: '21' })).run_result?.stdout).toBe('42\n');
      const files = await run({
        language,
        code: programs.file,
        files: { 'in.txt': Buffer.from('in\n').toString('base64') },
        fetch_files: ['out.txt'],
      });
      expect([files.run_result?.stdout, files.files]).toEqual([
        'in\n',
        { 'out.txt': Buffer.from('out').toString('base64') },
      ]);
    });

    test('fails with its code, and ends with its time', async ({ skip }) => {
      if (await isMissing(language)) return skip(`this machine has no toolchain of ${language}`);
      const failed = await run({ language, code: programs.assertion });
      expect(failed.status).toBe('Failed');
      expect(failed.run_result?.return_code).not.toBe(0);
      const late = await run({ language, code: programs.forever, run_timeout: 4 });
      expect(late).toMatchObject({
        status: 'Failed',
        run_result: { status: 'TimeLimitExceeded', return_code: null, stdout: 'began\n' },
      });
    });
  });

  test('shell scripts may open /dev/stdout and /dev/stderr by name', async () => {
    const answer = await run({ language: 'bash', code: 'echo out > /dev/stdout; echo err > /dev/stderr' });
    expect(answer.run_result).toMatchObject({ return_code: 0, stdout: 'out\n', stderr: 'err\n' });
  });

  test('a program may serve and call itself on loopback, and two may take the same port', async () => {
    const code = `
import http.server, threading, time, urllib.request
server = http.server.HTTPServer(('127.0.0.1', 8765), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
time.sleep(0.3)
for host in ('127.0.0.1', 'localhost'):
    print(urllib.request.urlopen('http://%s:8765/' % host).status)
`;
    const answers = await Promise.all([run({ language: 'python', code }), run({ language: 'python', code })]);
    expect(answers.map((answer) => answer.run_result?.stdout)).toEqual(['200\n200\n', '200\n200\n']);
  });

  test('a run that is ended for its memory leaves no timer behind', async () => {
    const [set, clear] = [vi.spyOn(globalThis, 'setTimeout'), vi.spyOn(globalThis, 'clearTimeout')];
    const code = "(held=$(head -c 40M /dev/zero | tr '\\0' x); sleep 300) &\n".repeat(6);
    const { run_result } = await run({ language: 'bash', code: `${code}wait`, memory_limit_MB: 100, run_timeout: 300 });
    expect(run_result?.stderr).toContain('over the memory limit');
    const limits = set.mock.results.filter((_, at) => set.mock.calls[at]?.[1] === 300_000).map(({ value }) => value);
    const cleared = clear.mock.calls.map(([timer]) => timer);
    vi.restoreAllMocks();
    expect(limits).toHaveLength(1);
    expect(cleared).toContain(limits[0]);
  });

  test('a signal and an exit code above 128 are distinguished', async () => {
    const code = async (text: string) => (await run({ language: 'bash', code: text })).run_result?.return_code;
    expect(await code('exit 137')).toBe(137);
    expect(await code('kill -9 $$')).toBe(-9);
    expect(await code('kill -TERM $$')).toBe(-15);
    expect(await code('kill -34 $$')).toBe(-34);
  });

  test('a missing toolchain is no fault of the program: it is reported, with what brings it', async () => {
    const missing = (['julia', 'swift', 'csharp', 'racket', 'lua'] as const).find((language) => {
      const [tool = ''] = TOOLCHAINS[language]?.tools ?? [];
      return !existsSync(`/usr/bin/${tool}`) && !existsSync(`/usr/local/bin/${tool}`);
    });
    if (missing === undefined) return;
    const answer = await run({ language: missing, code: 'object A' });
    expect(answer).toMatchObject({ status: 'SandboxError', compile_result: null, run_result: null });
    expect(answer.message).toMatch(`${missing} cannot run on this server: no `);
  });

  test('127 of a program’s own is its failure', async () => {
    const { status, run_result } = await run({ language: 'bash', code: 'lua5.9 x' });
    expect([status, run_result?.return_code]).toEqual(['Failed', 127]);
    const forged = 'import sys\nsys.stderr.write("/bin/bash: line 1: python: command not found\\n")\nsys.exit(127)';
    expect((await run({ language: 'python', code: forged })).status).toBe('Failed');
  });

  test('scala without an object is a failed compilation, in upstream’s words', async () => {
    const answer = await run({ language: 'scala', code: 'println(1)' });
    if (answer.message.includes('cannot run on this server')) return;
    expect(answer).toMatchObject({
      status: 'SandboxError',
      message: 'Object name not found.',
      compile_result: { status: 'Error', return_code: 1, stderr: 'Object name not found.' },
      run_result: null,
    });
  });

  test('/mnt, /home and /var/tmp are empty and writable', async () => {
    const code = 'for d in /mnt /home /var/tmp; do ls -A $d; echo kept > $d/file && cat $d/file; done';
    const answer = await run({ language: 'bash', code, fetch_files: ['/mnt/file'] });
    expect(answer.run_result?.stdout).toBe('kept\nkept\nkept\n');
    expect(Buffer.from(answer.files['/mnt/file'] ?? '', 'base64').toString()).toBe('kept\n');
  });
});

test('every language of the protocol has its declaration, but for sql, which upstream has not either', () => {
  expect(LANGUAGES.filter((language) => !RUNNERS[language])).toEqual(['sql']);
});

test.skipIf(lack.bubblewrap !== null).each(['/', '/proc', '/etc', '/dev/shm/..'])(
  'a toolchain is no folder of the machine itself: %s (skipped without bubblewrap)',
  async (folder) => {
    await expect(createRunner({ backend: 'bubblewrap', toolchains: [folder] })).rejects.toThrow(
      /--toolchain .*: programs would read all of \//,
    );
  },
);
