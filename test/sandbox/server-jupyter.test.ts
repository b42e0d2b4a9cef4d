// /run_jupyter: one namespace for the cells of a call, what they show, and both timeouts enforced.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunJupyterInput, runJupyterRequest } from '../../src/sandbox/protocol.ts';
import { createRunner, type SandboxRunner } from '../../src/sandbox/server/index.ts';
import { CONFINING, lack, named } from './backends.ts';

const RULE = '-'.repeat(75);
const head = (kind: string) => kind + 'Traceback (most recent call last)'.padStart(75 - kind.length);
/** The failure, the cell, the report. */
const TRACEBACKS: [string, string, string][] = [
  [
    'a method',
    [
      'class A:',
      '    def m(self, a, *b, k=1, **kw):',
      '        y = 1',
      '',
      '        for q in range(3):',
      '            z = [',
      '                1,',
      '            ]',
      "            raise KeyError('k')",
      '        return y',
      'A().m(1)',
    ].join('\n'),
    [
      RULE,
      head('KeyError'),
      'Cell In[2], line 11',
      "      9             raise KeyError('k')",
      '     10         return y',
      '---> 11 A().m(1)',
      '',
      'Cell In[2], line 9, in A.m(self, a, k, *b, **kw)',
      '      5 for q in range(3):',
      '      6     z = [',
      '      7         1,',
      '      8     ]',
      "----> 9     raise KeyError('k')",
      '     10 return y',
      '',
      "KeyError: 'k'",
    ].join('\n'),
  ],
  [
    'a cause',
    "try:\n    1/0\nexcept Exception as e:\n    raise ValueError('v') from e",
    [
      RULE,
      head('ZeroDivisionError'),
      'Cell In[2], line 2',
      '      1 try:',
      '----> 2     1/0',
      '      3 except Exception as e:',
      '',
      'ZeroDivisionError: division by zero',
      '',
      'The above exception was the direct cause of the following exception:',
      '',
      head('ValueError'),
      'Cell In[2], line 4',
      '      2     1/0',
      '      3 except Exception as e:',
      "----> 4     raise ValueError('v') from e",
      '',
      'ValueError: v',
    ].join('\n'),
  ],
  [
    'code without a file',
    "exec('1/0')",
    [
      RULE,
      head('ZeroDivisionError'),
      'Cell In[2], line 1',
      "----> 1 exec('1/0')",
      '',
      'File <string>:1',
      '',
      'ZeroDivisionError: division by zero',
    ].join('\n'),
  ],
  ['syntax', 'a b', '  Cell In[2], line 1\n    a b\n      ^\nSyntaxError: invalid syntax\n'],
  [
    'an exit',
    'raise SystemExit(3)',
    'An exception has occurred, use %tb to see the full traceback.\n\nSystemExit: 3\n',
  ],
];

describe.each(CONFINING)('%s', (backend) => {
  describe.skipIf(lack[backend] !== null)(named('cells', backend), () => {
    let runner: SandboxRunner;
    beforeAll(async () => {
      runner = await createRunner({ backend });
    });
    afterAll(() => runner.close());

    // A limit against hangs, but where a test gives its own.
    const cells = (sources: string[], rest: Partial<RunJupyterInput> = {}) => {
      const checked = runJupyterRequest.check({ total_timeout: 200, ...rest, cells: sources });
      if (!checked.ok) throw new Error('the test asks wrongly');
      return runner.runJupyter(checked.value);
    };

    test('state is kept from cell to cell of one call, and not to the next', async () => {
      const first = await cells(['x = 40\ndef f(y):\n    return x + y', 'f(2)', 'print(_)']);
      expect(first).toMatchObject({ status: 'Success', message: '', driver: { status: 'Finished', return_code: 0 } });
      expect(first.cells).toEqual([
        { stdout: '', stderr: '', display: [], error: [] },
        { stdout: '', stderr: '', display: [{ 'text/plain': '42' }], error: [] },
        { stdout: '42\n', stderr: '', display: [], error: [] },
      ]);
      const second = await cells(['x']);
      expect(second.cells[0]?.error[0]).toMatchObject({ ename: 'NameError', evalue: "name 'x' is not defined" });
    });

    test('magics, and IPython.display where IPython is not installed', async () => {
      const { cells: ran } = await cells([
        '%matplotlib inline\nx = 6\nfolder = %pwd\nprint(isinstance(folder, str))',
        '%%time\ny = x * 7',
        '%%writefile kept.txt\nline',
        'print(y, open("kept.txt").read())\n%nothing_such 1',
        'from IPython.display import HTML, Markdown, display\ndisplay(HTML("<b>h</b>"))\nMarkdown("# m")',
        "text = '''\n%pwd\n'''\nprint(text.strip())",
      ]);
      expect(ran.map((cell) => cell.error)).toEqual([[], [], [], [], [], []]);
      expect(ran[0]?.stdout).toBe('True\n');
      expect(ran[1]?.stdout).toMatch(/^CPU times: .*\nWall time: /);
      expect(ran[2]?.stdout).toBe('Writing kept.txt\n');
      const unknown = 'UsageError: Line magic function %nothing_such not found.\n';
      expect(ran[3]).toMatchObject({ stdout: '42 line\n', stderr: unknown });
      expect(ran[4]?.display).toMatchObject([{ 'text/html': '<b>h</b>' }, { 'text/markdown': '# m' }]);
      expect(ran[5]?.stdout).toBe('%pwd\n');
    });

    test('a cell finds nothing of those that come after it, and does not answer for them', async () => {
      const looking = `
import os, sys
frame, seen = sys._getframe(), []
while frame:
    seen.append(repr(frame.f_locals) + repr(frame.f_globals))
    frame = frame.f_back
try: seen.append(repr(os.read(0, 100000)))
except OSError: pass
import gc
for held in gc.get_objects():
    if type(held) in (list, tuple, dict): seen.append(repr(held)[:10000])
print('hidden' + '_word' in ''.join(seen))`;
      const forging = `
import os, sys
frame = sys._getframe()
while frame and 'WORD' not in frame.f_globals: frame = frame.f_back
word = frame.f_globals['WORD'] if frame else b''
for fd in range(1, 20):
    for line in (b'{"kind": "end"}', b'{"kind": "start"}', b'{"kind": "stdout", "text": "forged"}'):
        try: os.write(fd, word + line + b'\\n')
        except OSError: pass`;
      const { cells: ran } = await cells([looking, forging, 'x = "hidden_word"\nprint(len(x))']);
      expect(ran[0]?.stdout).toBe('False\n');
      expect(ran.map(({ stdout }) => stdout).join('')).not.toContain('True');
      expect(ran[2]?.stdout ?? '').not.toContain('forged');
    });

    test.skipIf(backend !== 'pyodide')(
      'a cell cannot say that it has ended, and go on (skipped but on Pyodide)',
      async () => {
        const early = `
import os, sys, time
frame = sys._getframe()
while 'WORD' not in frame.f_globals: frame = frame.f_back
word, seen = frame.f_globals['WORD'], b''
for line in (b'end', b' end', b'{"kind": "end"}', b'{"kind": "start"}'):
    for begin in (word, word.strip(), b''):
        for fd in range(1, 20):
            try: os.write(fd, b'\\n' + begin + line + b'\\n')
            except OSError: pass
for fd in (0, *range(3, 20)):
    try: seen += os.read(fd, 100000)
    except OSError: pass
print('early', len(seen))
time.sleep(99)`;
        const answer = await cells(['print("one")', early, 'print("hidden_word")'], { cell_timeout: 2 });
        expect(answer).toMatchObject({ status: 'Failed', driver: { status: 'TimeLimitExceeded' } });
        expect(answer.cells.map(({ stdout }) => stdout)).toEqual(['one\n', 'early 0\n']);
      },
    );

    test('figures are images, as they are shown and as a cell ends (where matplotlib is)', {
      timeout: 240_000,
    }, async () => {
      const sources = [
        'import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\nprint("after")',
        'plt.figure();',
      ];
      const { cells: ran } = await cells(sources);
      if (ran[0]?.error[0]?.ename === 'ModuleNotFoundError') return;
      for (const cell of ran) {
        expect(cell.error).toEqual([]);
        expect(cell.display).toHaveLength(1);
        expect(cell.display[0]?.['text/plain']).toMatch(/^<Figure size \d+x\d+ with \d Axes>$/);
        const image = Buffer.from(String(cell.display[0]?.['image/png']), 'base64');
        expect(image.subarray(1, 4).toString()).toBe('PNG');
      }
      expect(ran[0]?.stdout).toBe('after\n');
    });

    test('a failing cell does not stop the next', async () => {
      const answer = await cells(['def f():\n    return 1 / 0\nf()', 'print("on")', 'a b']);
      expect(answer.status).toBe('Success');
      const [failed, next, syntax] = answer.cells;
      expect(failed?.error).toMatchObject([{ ename: 'ZeroDivisionError', evalue: 'division by zero' }]);
      expect(next?.stdout).toBe('on\n');
      expect(syntax?.error[0]).toMatchObject({ ename: 'SyntaxError' });
    });

    // The texts are IPython 8.12's for the same cells, the colours IPython 9's.
    test('tracebacks are reported as by IPython', async () => {
      const { cells: ran } = await cells(['1', ...TRACEBACKS.map(([, source]) => source)]);
      for (const [at, [name, , expected]] of TRACEBACKS.entries()) {
        const told = (ran[at + 1]?.error[0]?.traceback ?? []) as string[];
        const plain = told.join('\n').replaceAll(/\u001b\[\d+m/g, '');
        expect(plain, name).toBe(expected.replaceAll('In[2]', `In[${at + 2}]`));
      }
    });

    test('cells that end too soon are incomplete, as in IPython', async () => {
      const { cells: ran } = await cells(['print("hello"', 'def f():', 'x = [1,', 'try:\n    x = 1']);
      expect(ran).toHaveLength(4);
      for (const { error } of ran) expect(error[0]?.evalue).toMatch(/^incomplete input/);
    });

    test('a traceback has a part for its rule, its head, each frame and its message', async () => {
      const { cells: ran } = await cells(['def f(a, *b):\n    assert a\nf(0)']);
      const frame = (line: number) =>
        `\x1b[36mCell\x1b[39m\x1b[36m \x1b[39m\x1b[32mIn[1]\x1b[39m\x1b[32m, line ${line}\x1b[39m`;
      expect(ran[0]?.error[0]?.traceback).toEqual([
        `\x1b[31m${'-'.repeat(75)}\x1b[39m`,
        `\x1b[31mAssertionError\x1b[39m${' '.repeat(28)}Traceback (most recent call last)`,
        `${frame(3)}\n\x1b[32m      1\x1b[39m def f(a, *b):\n\x1b[32m      2\x1b[39m     assert a\n\x1b[32m----> \x1b[39m\x1b[32m3\x1b[39m f(0)\n`,
        `${frame(2)}, in \x1b[36mf\x1b[39m\x1b[34m(a, *b)\x1b[39m\n\x1b[32m      1\x1b[39m def f(a, *b):\n\x1b[32m----> \x1b[39m\x1b[32m2\x1b[39m     assert a\n`,
        '\x1b[31mAssertionError\x1b[39m: ',
      ]);
    });

    test('values are shown as Jupyter shows them', async () => {
      const answer = await cells(
        [
          "'hello'",
          'None',
          '[1, 2];',
          'class Page:\n    def _repr_html_(self): return "<b>hi</b>"\n    def __repr__(self): return "Page"\nPage()',
          'display(1, 2)\n3',
          'import asyncio\nawait asyncio.sleep(0, "awaited")',
          'list(range(40))',
        ].slice(0, backend === 'pyodide' ? 5 : 7),
      );
      const shown = answer.cells.map((cell) => cell.display);
      expect(shown.slice(0, 5)).toEqual([
        [{ 'text/plain': "'hello'" }],
        [],
        [],
        [{ 'text/plain': 'Page', 'text/html': '<b>hi</b>' }],
        [{ 'text/plain': '1' }, { 'text/plain': '2' }, { 'text/plain': '3' }],
      ]);
      if (backend === 'pyodide') return;
      expect(shown[5]).toEqual([{ 'text/plain': "'awaited'" }]);
      expect(shown[6]?.[0]?.['text/plain']).toMatch(/^\[0,\n 1,\n/);
    });

    test('stderr, input() and sys.exit()', async () => {
      const answer = await cells([
        'import sys\nsys.stderr.write("warn\\n")\nNone',
        'input()',
        'sys.exit(3)',
        'print("still")',
      ]);
      expect(answer.cells[0]).toMatchObject({ stderr: 'warn\n', display: [] });
      expect(answer.cells[1]?.error[0]).toMatchObject({ ename: 'StdinNotImplementedError' });
      expect(answer.cells[2]?.error[0]).toMatchObject({ ename: 'SystemExit', evalue: '3' });
      expect(answer.cells[3]?.stdout).toBe('still\n');
    });

    test.skipIf(backend === 'pyodide')(
      'what a subprocess prints belongs to its cell (skipped on Pyodide)',
      async () => {
        const answer = await cells(['import subprocess\nsubprocess.run(["echo", "sub"])\nNone', 'print("next")']);
        expect(answer.cells.map((cell) => cell.stdout)).toEqual(['sub\n', 'next\n']);
      },
    );

    test('files go in and out', async () => {
      const answer = await cells(['text = open("in.txt").read()', 'open("out.txt", "w").write(text.upper())'], {
        files: { 'in.txt': Buffer.from('data').toString('base64') },
        fetch_files: ['out.txt', 'none'],
      });
      expect(answer.files).toEqual({ 'out.txt': Buffer.from('DATA').toString('base64') });
    });

    test('a cell over its time is ended, even one that swallows everything; what was done is kept', async () => {
      const deaf = 'print("began")\nwhile True:\n    try:\n        while True: pass\n    except BaseException: pass';
      const answer = await cells(['print("one")', deaf, 'print("never")'], { cell_timeout: 3 });
      expect(answer).toMatchObject({ status: 'Failed', driver: { status: 'TimeLimitExceeded', return_code: null } });
      expect(answer.cells.map((cell) => cell.stdout)).toEqual(['one\n', 'began\n']);
      expect(answer.cells[1]?.error).toMatchObject([
        { ename: 'TimeoutError', evalue: expect.stringContaining('cell_timeout 3.0 s') },
      ]);
    });

    test('the total time is one for all cells', async () => {
      const answer = await cells(['print("one")', 'import time\ntime.sleep(100)', 'print("never")'], {
        total_timeout: 4,
      });
      expect(answer).toMatchObject({ status: 'Failed', driver: { status: 'TimeLimitExceeded' } });
      // A busy machine may need all of it for the start.
      expect(answer.cells.slice(0, 1).every((cell) => cell.stdout === 'one\n')).toBe(true);
      expect(answer.cells.length).toBeLessThan(3);
    });

    test('a kernel that dies is reported', async () => {
      const answer = await cells(['print("one")', 'import os\nos._exit(3)', 'print("never")']);
      expect(answer).toMatchObject({ status: 'Failed', driver: { status: 'Finished', return_code: 3 } });
      expect(answer.cells[0]?.stdout).toBe('one\n');
    });

    test('the memory limit is passed on', async () => {
      const answer = await cells(['held = bytearray(600 << 20)'], { memory_limit_MB: 256 });
      expect(answer.cells[0]?.error[0]).toMatchObject({ ename: 'MemoryError' });
    });

    test('output over the limit is cut and says so', async () => {
      const answer = await cells(['for _ in range(60): print("x" * 100_000)']);
      expect(answer.status).toBe('Success');
      expect(answer.cells[0]?.stdout).toMatch(
        /\[output cut: 6000060 bytes were written, the first 4194304 are shown\]\n$/,
      );
    });
  });
});
