// A forked run of Python ends as `python FILE` does, though its interpreter is not taken apart.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCodeRequest } from '../../src/sandbox/protocol.ts';
import { createRunner, type SandboxRunner } from '../../src/sandbox/server/index.ts';
import { lack, named } from './backends.ts';
import { hasPython } from './plain-python.ts';

const SAYS =
  'class A:\n    def __init__(self, name): self.name = name\n    def __del__(self): print("gone", self.name)\n';
const ENDS: Record<string, string> = {
  'the last line': 'print(1)',
  'sys.exit with a number': 'import sys\nsys.exit(7)',
  'sys.exit with a text': 'import sys\nsys.exit("no")',
  'os._exit without a flush': 'import os\nprint("lost", end="")\nos._exit(3)',
  'an exception': '1 / 0',
  'an object of the main module': `${SAYS}a = A("a")`,
  'objects in a circle': `${SAYS}a, b = A("a"), A("b")\na.other, b.other = b, a`,
  'an object of another module': `${SAYS}import json\njson.mine = A("json")`,
  'an object of a frame that failed': `${SAYS}def f():\n    a = A("frame")\n    1 / 0\nf()`,
  'an end that fails': 'class A:\n    def __del__(self): 1 / 0\na = A()',
  atexit: 'import atexit\natexit.register(print, "at exit")\nprint("first")',
  'atexit that fails': 'import atexit\natexit.register(lambda: 1 / 0)',
  'a thread that is waited for':
    'import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.1), print("late"))).start()',
  'a thread that is not waited for':
    'import threading, time\nthreading.Thread(target=lambda: time.sleep(9), daemon=True).start()',
  'output that is not flushed': 'import sys\nsys.stdout.write("held")\nsys.stderr.write("said")',
  'output that is closed': 'import sys\nprint("first")\nsys.stdout.close()',
  'output whose descriptor is closed': 'import os\nprint("lost")\nos.close(1)',
  'output that was replaced': 'import io, sys\nsys.stdout = io.StringIO()\nprint("nowhere")',
  'a file that is not closed':
    'f = open("left.txt", "w")\nf.write("whole")\nimport subprocess, sys\nimport atexit, os\n',
  'a separate child': 'import os\nif os.fork() == 0: print("child")\nelse:\n    os.wait()\n    print("parent")',
  'a signal': 'import os, signal\nos.kill(os.getpid(), signal.SIGTERM)',
  'C that has written': 'import ctypes\nctypes.CDLL(None).printf(b"by C\\n")',
};

describe.skipIf(lack.bubblewrap !== null || !hasPython)(named('the end of a forked run', 'bubblewrap'), () => {
  let runner: SandboxRunner;
  let folder: string;
  const said: string[] = [];
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ends-'));
    runner = await createRunner({ backend: 'bubblewrap', log: (line) => said.push(line) });
  });
  afterAll(async () => {
    await runner.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('runs are forked here', () => {
    expect(said.filter((line) => line.includes('started again'))).toEqual([]);
  });

  test.each(Object.entries(ENDS))('%s', async (_, code) => {
    const request = runCodeRequest.check({ code, language: 'python', fetch_files: ['left.txt'] });
    if (!request.ok) throw new Error('not a request');
    const { run_result, files } = await runner.run(request.value);
    const path = join(folder, 'program.py');
    writeFileSync(path, code);
    const plain = spawnSync('/usr/bin/python3', [path], {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' },
    });
    const named = (text: string) => text.replace(/File "[^"]*"/g, 'File').replace(/0x[0-9a-f]+/g, '0x');
    expect({
      code: run_result?.return_code,
      stdout: run_result?.stdout,
      stderr: named(run_result?.stderr ?? ''),
    }).toEqual({
      code: plain.status ?? -(plain.signal === 'SIGTERM' ? 15 : 0),
      stdout: plain.stdout,
      stderr: named(plain.stderr),
    });
    if (code.includes('left.txt')) expect(Buffer.from(files['left.txt'] ?? '', 'base64').toString()).toBe('whole');
  });
});
