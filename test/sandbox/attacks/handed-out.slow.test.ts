// Files that a program leaves where the server fetches them, and files that a request puts where they do harm.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunCodeInput, runCodeRequest } from '../../../src/sandbox/protocol.ts';
import { createRunner, type SandboxRunner } from '../../../src/sandbox/server/index.ts';
import { CONFINING, lack, named } from '../backends.ts';

const WORD = 'word-of-the-host';
const encoded = (text: string) => Buffer.from(text).toString('base64');

/** Code, what is fetched, and what is given back: names and contents, or nothing. `SECRET` is a file of the host. */
type Case = [code: string, fetched: string[], given: Record<string, string>];
const LEFT: Record<string, Case> = {
  'a pipe that nobody writes': ['import os\ntry: os.mkfifo("o")\nexcept OSError: pass', ['o'], {}],
  'a socket': ['import socket\ntry: socket.socket(socket.AF_UNIX).bind("s")\nexcept Exception: pass', ['s'], {}],
  'a folder': ['import os\nos.mkdir("d")', ['d'], {}],
  'a link to itself': ['import os\nos.symlink("o", "o")', ['o'], {}],
  'a link to a file of the host': ['import os\nos.symlink("SECRET", "o")', ['o'], {}],
  'a link to it through the first process': ['import os\nos.symlink("/proc/1/root/SECRET", "o")', ['o'], {}],
  'a link through the folder of another process': ['import os\nos.symlink("/proc/1/cwd/../SECRET", "o")', ['o'], {}],
  'a link to an input of the server': ['import os\nos.symlink("/proc/self/fd/0", "o")', ['o'], {}],
  'a folder that leads to the root': ['import os\nos.symlink("/", "d")', ['d/SECRET', 'd/etc/shadow'], {}],
  'a working folder that is a link': [
    'import os\nhere = os.getcwd()\nos.rename(here, here + "x")\nos.symlink("/", here)',
    ['SECRET', 'etc/shadow'],
    {},
  ],
  'a working folder in the place of another': [
    'import os\nhere = os.getcwd()\nopen("k", "w").write("2")\nos.rename(here, here + "x")\nos.mkdir(here)\nopen(here + "/k", "w").write("2")',
    ['k'],
    { k: '2' },
  ],
  'a file that is a link every other moment': [
    'import os, time\nopen("a", "w").write("a")\nuntil = time.time() + 0.3\nwhile time.time() < until:\n    os.symlink("SECRET", "l"); os.rename("l", "o")\n    open("n", "w").write("n"); os.rename("n", "o")',
    ['o'],
    { o: 'n' },
  ],
  'a child that swaps it on and on': [
    'import os, time\nopen("o", "w").write("n")\ntry:\n    if os.fork() == 0:\n        os.setsid()\n        while True:\n            os.symlink("SECRET", "l"); os.rename("l", "o")\nexcept OSError: pass\nos.path.exists("o")',
    ['nothing'],
    {},
  ],
  'a device': ['', ['/dev/zero', '/dev/stdin', '/dev/null'], {}],
  'names that a shell would take apart': [
    'for name in ("a\\nb", " ", "-rf", "*", "$HOME", "`id`", "é"): open(name, "w").write("x")',
    ['a\nb', ' ', '-rf', '*', '$HOME', '`id`', 'é'],
    { 'a\nb': 'x', ' ': 'x', '-rf': 'x', '*': 'x', $HOME: 'x', '`id`': 'x', é: 'x' },
  ],
  'a name of half a character': ['', ['\ud800'], {}],
  'a name that is too long': ['', ['x'.repeat(5000), 'a/'.repeat(3000)], {}],
};

/** Names in `files`; none of them may change what the next run finds. */
const PUT = [
  '/etc/ld.so.preload',
  '/etc/passwd',
  '/run/bin/python',
  '/run/stdin',
  '/usr/bin/rv-attack',
  '/usr/lib/rv-attack',
  '/proc/self/mem',
  '/proc/sys/kernel/core_pattern',
  '/dev/null',
  '/bin/bash',
  '/',
  '/tmp',
  '.',
  'sitecustomize.py',
  'x/'.repeat(1000),
];

describe.each(CONFINING)('%s', (backend) => {
  describe.skipIf(lack[backend] !== null)(named('files in and out', backend), () => {
    let runner: SandboxRunner;
    let folder: string;
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'handed-'));
      writeFileSync(join(folder, 'secret.txt'), WORD);
      runner = await createRunner({ backend });
    });
    afterAll(async () => {
      await runner.close();
      rmSync(folder, { recursive: true, force: true });
    });
    const run = (input: RunCodeInput) => {
      const checked = runCodeRequest.check(input);
      if (!checked.ok) throw new TypeError('the test asks wrongly');
      return runner.run(checked.value);
    };

    test.each(Object.entries(LEFT))('fetched: %s', async (_, [code, fetched, given]) => {
      const secret = join(folder, 'secret.txt').slice(1);
      const answer = await run({
        language: 'python',
        code: code.replaceAll('"SECRET"', JSON.stringify(`/${secret}`)).replaceAll('SECRET', secret),
        fetch_files: fetched.map((name) => name.replaceAll('SECRET', secret)),
      });
      const files = Object.entries(answer.files).map(([name, content]) => [
        name,
        Buffer.from(content, 'base64').toString(),
      ]);
      expect(Object.fromEntries(files)).toEqual(given);
    });

    const findNothing = async () => {
      const code = 'import os, subprocess\nprint(6 * 7)\nprint(os.listdir("."), os.path.exists("/etc/ld.so.preload"))';
      const { run_result } = await run({ language: 'python', code });
      expect(run_result?.stdout).toMatch(/^42\n\['tmp\w+\.py'\] False\n$/);
      expect(run_result?.stderr).toBe('');
    };
    test.each(PUT)('given: %s', async (name) => {
      await run({ language: 'python', code: '', files: { [name]: encoded(`print('${WORD}')`) } });
      // A process of Pyodide takes a second to come: one looks for what any of them left.
      if (backend !== 'pyodide' || name === PUT.at(-1)) await findNothing();
    });
  });
});
