import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { filesAt, patchOf, rolloutFiles } from '../../../src/analysis/files/rollout-files.ts';
import { Dump } from '../../../src/core/dump/dump.ts';
import { parseLine } from '../../../src/core/dump/parse-line.ts';
import { type Recorded, recordedLines, truthData } from '../../support/shared-data.ts';

type Call = [name: string, args: object, result: string | null];

/** A record of OpenAI messages with these calls. */
function filesOf(calls: readonly Call[], options: { workdir?: string } = { workdir: '/w' }) {
  const messages: object[] = [{ role: 'user', content: 'Go.' }];
  for (const [i, [name, args, result]] of calls.entries()) {
    const id = `c${i}`;
    messages.push({
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
    });
    if (result !== null) messages.push({ role: 'tool', tool_call_id: id, content: result });
  }
  const { rollout, json } = parseLine(JSON.stringify({ messages }), { validation: false });
  if (rollout === null) throw new Error('no rollout');
  return rolloutFiles(rollout, json, options);
}

const told = (calls: readonly Call[]) =>
  filesOf(calls).states.map(({ change }) => `${change.call} ${change.path} ${change.deleted ? 'gone' : change.status}`);
const write = (path: string, content: string): Call => [
  'Write',
  { file_path: path, content },
  `File created successfully at: ${path}`,
];
const bash = (command: string, result = ''): Call => ['Bash', { command }, result];

describe('files from the record alone', () => {
  it('are certain where they were written whole, and stay so under edits', () => {
    const { states } = filesOf([
      write('/w/a', 'x\ny\n'),
      ['Edit', { file_path: '/w/a', old_string: 'y', new_string: 'z' }, 'The file /w/a has been updated.'],
    ]);
    expect(states.map(({ file }) => file.text)).toEqual(['x\ny\n', 'x\nz\n']);
    expect(states[1]?.change.diff).toContain('-y\n+z\n');
  });

  it('are unknown after a command that names them, and not after one that reads them', () => {
    expect(
      told([write('/w/a.txt', 'x\n'), bash('grep x a.txt && wc -l < a.txt'), bash("sed -i 's/x/y/' a.txt")]),
    ).toEqual(['0 /w/a.txt certain', '2 /w/a.txt unknown']);
  });

  it('follow mv, cp and rm; a command that failed changes nothing', () => {
    expect(
      told([
        write('/w/a', 'x\n'),
        bash('mv a b'),
        bash('cp b c'),
        bash('rm c'),
        bash('rm d', "Exit code 1\nrm: cannot remove 'd': No such file"),
      ]),
    ).toEqual(['0 /w/a certain', '1 /w/b certain', '1 /w/a gone', '2 /w/c certain', '3 /w/c gone']);
  });

  it('are unknown where git rewrites the work tree', () => {
    expect(told([write('/w/a', 'x\n'), bash('git status'), bash('git stash')]).at(-1)).toBe('2 /w/a unknown');
  });

  it('are unknown after a program whose effects nobody knows, though it names no file', () => {
    const stateAfter = (command: string, result = '') => told([write('/w/a', 'x\n'), bash(command, result)]).at(-1);
    for (const command of [
      'make',
      './build.sh',
      'npm run format',
      'python3 tools/gen.py',
      'python3 -m gen',
      'frobnicate',
    ])
      expect(stateAfter(command), command).toBe('1 /w/a unknown');
    for (const command of ['pytest -q', 'npm test', 'python3 --version', 'cargo build', 'make --version'])
      expect(stateAfter(command), command).toBe('0 /w/a certain');
    expect(stateAfter('frobnicate', 'Exit code 127\nbash: frobnicate: command not found')).toBe('0 /w/a certain');
  });

  it('are unknown after a program that takes in a module which may write them', () => {
    const lib = "def go():\n    open('a', 'w').write('y')\n";
    const stateAfter = (command: string, ...files: [string, string][]) =>
      told([write('/w/a', 'x\n'), ...files.map(([path, text]) => write(path, text)), bash(command)])
        .filter((line) => line.includes(' /w/a '))
        .at(-1)
        ?.split(' ')[2];
    for (const [command, ...files] of [
      ['python3 -c "import own; own.go()"'],
      ['python3 -c "import os, own as o; o.go()"'],
      ['python3 -c "from own.part import go; go()"'],
      ['node -e "require(\'./own\')"'],
      ['perl -e \'require "./own.pl"\''],
      ['python3 -c "import own; own.go()"', ['/w/own.py', lib]],
      ['python3 run.py', ['/w/run.py', 'from lib.own import (\n    go,\n)\ngo()\n'], ['/w/lib/own.py', lib]],
      ['python3 run.py', ['/w/run.py', 'import one\n'], ['/w/one.py', 'from . import two\n'], ['/w/two.py', lib]],
      ['python3 run.py', ['/w/run.py', "import os\nos.system('make')\n"]],
      ['python3 run.py', ['/w/run.py', "exec(open('text').read())\n"]],
      ['python3 -c "from lib import own"', ['/w/lib/__init__.py', '']],
      ['pytest -q', ['/w/test_own.py', `def test_it():\n    ${lib.split('\n')[1]}\n`]],
    ] as [string, ...[string, string][]][])
      expect(stateAfter(command, ...files), command).toBe('unknown');
    for (const [command, ...files] of [
      ['python3 -c "import json, os.path as p; print(p)"'],
      ['python3 -c "from own import f; print(f(1))"', ['/w/own.py', 'def f(x):\n    return x\n']],
      ['python3 run.py', ['/w/run.py', 'import lib.own\n'], ['/w/lib/own.py', 'import re\nre.compile("a")\n']],
      ['python3 -c "from lib import f"', ['/w/lib/__init__.py', 'def f(): pass\n']],
      ["node -e \"import fs from 'fs'; /zz/.exec('zz')\""],
      ['pytest -q', ['/w/test_own.py', 'import own\ndef test_it(tmp_path):\n    assert own.f(1) == 1\n']],
    ] as [string, ...[string, string][]][])
      expect(stateAfter(command, ...files), command).toBe('certain');
  });

  it('are unknown after a tool that is not known, unless its program leaves them alone', () => {
    const stateAfter = (name: string, args: object) => told([write('/w/a', 'x\n'), [name, args, 'ok']]).at(-1);
    for (const [name, args] of [
      ['python', { code: "open('a', 'w').write('y')" }],
      ['execute_ipython_cell', { code: '!make' }],
      ['jupyter', { code: 'import own' }],
      ['Task', { prompt: 'change it' }],
      ['write_to_file', { path: 'b', content: '' }],
      ['bash_command', { keystrokes: 'rm a\n' }],
    ] as const)
      expect(stateAfter(name, args), name).toBe('1 /w/a unknown');
    for (const [name, args] of [
      ['python', { code: 'print(1 + 1)' }],
      ['web_search', { query: 'a' }],
      ['think', { thought: 'a' }],
      ['browser', { url: 'http://a' }],
    ] as const)
      expect(stateAfter(name, args), name).toBe('0 /w/a certain');
  });

  it('name the calls that may have changed them unseen', () => {
    const { states } = filesOf([
      write('/w/a', 'x\n'),
      bash('python3 -m pytest'),
      [
        'Edit',
        { file_path: '/w/a', old_string: 'q', new_string: 'r' },
        '<tool_use_error>String to replace not found in file.</tool_use_error>',
      ],
    ]);
    expect(states.at(-1)?.change.unless).toEqual([1]);
  });

  it('are unknown where the result of an edit was not recorded', () => {
    expect(told([['Write', { file_path: '/w/a', content: 'x' }, null]])).toEqual(['0 /w/a unknown']);
  });

  it('a view that contradicts what was known says that somebody else changed the file', () => {
    const { states } = filesOf([
      write('/w/a', 'x\ny\n'),
      ['Read', { file_path: '/w/a' }, '     1→x\n     2→changed\n     3→'],
    ]);
    expect(states[1]?.change).toMatchObject({ status: 'partial', lines: [[1, 2]] });
    expect(states[1]?.change.why).toContain('contradicts');
  });

  it('the patch applies to the files before, and blame names the turn of a line', () => {
    const found = filesOf([
      write('/w/a', 'x\ny\n'),
      ['Edit', { file_path: '/w/a', old_string: 'y', new_string: 'z' }, 'has been updated'],
    ]);
    expect(patchOf(filesAt(found, null), '/w')).toEqual({
      patch: 'diff --git a/a b/a\n--- /dev/null\n+++ b/a\n@@ -0,0 +1,2 @@\n+x\n+z\n',
      missing: [],
    });
    expect([...(found.states[1]?.file.lines.values() ?? [])]).toEqual([
      { text: 'x', by: 0 },
      { text: 'z', by: 1 },
    ]);
  });

  it('a certain file is what the edits make of it, whatever they are', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '\t', ' ', 'é'), maxLength: 12 });
    fc.assert(
      fc.property(text, fc.array(fc.tuple(text, text), { maxLength: 6 }), (start, edits) => {
        let real = start;
        const calls: Call[] = [write('/w/a', start)];
        for (const [old, put] of edits) {
          const isOne = old !== '' && real.split(old).length === 2 && real.indexOf(old) === real.lastIndexOf(old);
          if (isOne) real = real.replace(old, () => put);
          calls.push([
            'Edit',
            { file_path: '/w/a', old_string: old, new_string: put },
            isOne ? 'has been updated' : '<tool_use_error>String to replace not found in file.',
          ]);
        }
        const last = filesOf(calls).states.at(-1);
        expect(last?.file.text).toBe(real);
        expect(last?.change.sha256).toBe(createHash('sha256').update(real).digest('hex'));
      }),
      { numRuns: 100 },
    );
  });

  it('never throws, whatever the calls hold', () => {
    const value = fc.oneof(fc.string(), fc.constant(null), fc.integer(), fc.constant(['bash', '-lc', 'ls']));
    const key = fc.constantFrom(
      'command',
      'file_path',
      'path',
      'content',
      'old_str',
      'new_str',
      'input',
      'old_string',
      'new_string',
      'edits',
      'view_range',
    );
    const name = fc.constantFrom(
      'Bash',
      'Edit',
      'MultiEdit',
      'Write',
      'Read',
      'str_replace_editor',
      'apply_patch',
      'shell',
      'execute_bash',
      'x',
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.dictionary(key, value), fc.string()), { maxLength: 4 }), (calls) => {
        filesOf(calls);
      }),
      { numRuns: 300 },
    );
  });
});

const truth = join(truthData, 'environments/edits/truth.jsonl');
describe.skipIf(!existsSync(truth))('recorded edits of ten agents (skipped without ../shared/data)', () => {
  it('give no certain file that is another one, and nothing less than a reader knows', async () => {
    const rows = recordedLines(truth);
    const rank: Record<string, number> = { unknown: 0, partial: 1, certain: 2 };
    const wrong: string[] = [];
    for (const { session, locator } of rows.filter(({ final }: Recorded) => final)) {
      const [, file, line] = /^(.*?)(?::(\d+))?$/.exec(locator) ?? [];
      const dump = Dump.open([join(truthData, 'environments', file ?? '')]);
      const [content] = dump.files;
      await content?.buildIndex(() => true);
      const row = content?.read(Number(line ?? 1) - 1);
      dump.close();
      if (row?.rollout == null) throw new Error(`${locator}: no rollout`);
      const { states } = rolloutFiles(row.rollout, row.json);
      for (const one of rows.filter((other: Recorded) => other.session === session && !other.final)) {
        const state = states.findLast(({ change }) => change.path === one.path && change.call <= one.call);
        const { status = 'unknown', sha256 = null } = state?.change ?? {};
        if (status === 'certain' ? sha256 !== one.real_sha256 : (rank[status] ?? 0) < (rank[one.status] ?? 0))
          wrong.push(`${session} ${one.call} ${one.path}: ${status}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});
