// Every recorded exchange of the real server, replayed against this one: equal field by field, or a deliberate
// difference that is listed here with its reason and with what this server answers instead.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SandboxServer, startSandbox } from '../../src/sandbox/server/index.ts';
import { coreOf } from '../support/tier.ts';
import { CONFINING, type Confining, lack, named } from './backends.ts';
import { comparable, type Exchange, goldenExchanges, send } from './golden.ts';

interface Difference {
  reason: string;
  /** The members of the answer to assert instead; members that are not named here must still equal the recording. */
  ours: Record<string, unknown>;
}

type Json = Record<string, unknown>;
const run = (run_result: Json, rest: Json = {}) => ({ json: { run_result, ...rest } });
const cut = (text: string) => comparable(text);

/** Section 8 of the facts about the API, and what follows from what this server is. */
const DIFFERENCES: Record<string, Difference> = {
  py_files_traversal: {
    reason: 'no path in files leads to the host',
    ours: {
      json: {
        status: 'SandboxError',
        run_result: null,
        message: expect.stringContaining("../sf_golden_escape.txt leads out of the run's directory"),
      },
    },
  },
  py_invalid_utf8_stdout: {
    reason: 'bytes that are no UTF-8 are replaced one by one',
    ours: run({ stdout: 'ab\ufffd\ufffdcd' }),
  },
  py_out_300k: { reason: 'output is drained while it runs', ours: run({ stdout: cut(`${'x'.repeat(300_000)}\n`) }) },
  py_out_2m: {
    reason: 'output is drained while it runs, so the program need not block until its time is up',
    ours: run({ status: 'Finished', return_code: 0, stdout: cut(`${'x'.repeat(2_000_000)}\n`) }, { status: 'Success' }),
  },
  py_err_300k: { reason: 'output is drained while it runs', ours: run({ stderr: cut('x'.repeat(300_000)) }) },
  root: {
    reason: 'a page of our own in place of the way to the playground, which is not here',
    ours: { text: expect.stringContaining('POST /run_code') },
  },
  jupyter_empty: { reason: 'no IPython kernel, so none of its warnings', ours: { json: { driver: { stderr: '' } } } },
  jupyter_files: { reason: 'no IPython kernel, so none of its warnings', ours: { json: { driver: { stderr: '' } } } },
  list_datasets: {
    reason: 'only datasets that have problems here are listed',
    ours: { json: ['code_contests', 'mbpp', 'humaneval_python'] },
  },
  py_grandchild_killed_on_timeout: {
    reason: 'a process id is a number of the run',
    ours: run({ stdout: expect.stringMatching(/^\d+\n$/) }),
  },
};

/** Pyodide is one Python in one separate process. */
const ON_PYODIDE: Record<string, Difference> = {
  py_timeout_unflushed: { reason: 'Pyodide hands over each line at once', ours: run({ stdout: 'before\n' }) },
  py_grandchild_killed_on_timeout: {
    reason: 'there are no processes',
    ours: run({ status: 'Finished', return_code: 1, stdout: '', stderr: expect.stringContaining('OSError') }),
  },
  nul_in_code: {
    reason: 'the words of another version of Python',
    ours: run({ stderr: expect.stringContaining('cannot contain null bytes') }),
  },
};

/** A row of each dataset, as they have to be for the recorded prompts. */
const ROWS = {
  code_contests: [0, 1, 2].map((id) => ({ id, content: `problem ${id}`, test: [], labels: {} })),
  mbpp: [
    {
      task_id: 11,
      text: 'Write a python function to remove first and last occurrence of a given character from the string.',
      test_list: [
        'assert remove_Occ("hello","l") == "heo"',
        'assert remove_Occ("abcda","a") == "bcd"',
        'assert remove_Occ("PHP","P") == "H"',
      ],
      challenge_test_list: ['assert remove_Occ("hellolloll","l") == "helollol"', 'assert remove_Occ("","l") == ""'],
      test_setup_code: '',
    },
  ],
};

function differenceOf(backend: Confining, { name, request }: Exchange, got: unknown): Difference | undefined {
  if (backend === 'pyodide') {
    const language = (request.json as Json | undefined)?.language;
    if (name in ON_PYODIDE) return ON_PYODIDE[name];
    if (request.path === '/run_code' && typeof language === 'string' && isOther(language)) {
      const message = expect.stringContaining(`the sandbox runs in Pyodide, which has only python, not ${language}`);
      const ours = { json: { status: 'SandboxError', message, compile_result: null, run_result: null } };
      return { reason: 'only python', ours };
    }
  } else if (name === 'nul_in_code' && JSON.stringify(got).includes('"Success"')) {
    return {
      reason: 'Python before 3.11.4 runs what is before a NUL',
      ours: run({ return_code: 0, stdout: '1\n', stderr: '' }, { status: 'Success' }),
    };
  }
  return DIFFERENCES[name];
}

const isOther = (language: string): boolean => !['python', 'sql', 'brainfuck', 'Python', 'zz'].includes(language);

/** The recording with our members in place of its members, at any depth. */
function merged(recorded: unknown, ours: unknown): unknown {
  const plain = (value: unknown): value is Json =>
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  if (!plain(ours) || !plain(recorded) || 'sha256' in ours || Object.keys(ours).length === 0) return ours;
  const keys = new Set([...Object.keys(recorded), ...Object.keys(ours)]);
  return Object.fromEntries(
    [...keys].map((key) => [key, key in ours ? merged(recorded[key], ours[key]) : recorded[key]]),
  );
}

/** The tool that a recorded program needs and this machine's sandbox does not have. */
function missingTool(answer: unknown, recorded: unknown): string | null {
  const pattern = /(?:\/bin\/bash: line 1: (\S+?): command not found|cannot run on this server: no (\S+))/;
  if (pattern.test(JSON.stringify(recorded))) return null;
  const found = pattern.exec(JSON.stringify(answer));
  return found?.[1] ?? found?.[2] ?? null;
}

const all = goldenExchanges();
/** A process of Pyodide takes a second to come: programs whose answers are those of the other backend are fewer. */
const ofPyodide = coreOf(
  all,
  ({ name, response }, at) =>
    at % 4 === 0 ||
    lack.bubblewrap !== null ||
    name in { ...DIFFERENCES, ...ON_PYODIDE } ||
    !JSON.stringify(response.json).includes('"run_result":{'),
);

describe.each(CONFINING)('%s', (backend) => {
  describe.skipIf(lack[backend] !== null)(named('recorded exchanges', backend), () => {
    let server: SandboxServer;
    let folder: string;
    const met = new Set<string>();

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'golden-'));
      const options = Object.entries(ROWS).map(([name, rows]) => {
        const file = join(folder, `${name}.jsonl`);
        writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
        return `${name}=${file}`;
      });
      server = await startSandbox({ port: 0, backend, datasets: options });
    });
    afterAll(async () => {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    });

    test.for(backend === 'pyodide' ? ofPyodide : all)('$name', async (exchange, { skip }) => {
      const got = comparable(await send(server.url, exchange));
      const recorded = comparable(exchange.response);
      const tool = missingTool(got, recorded);
      if (tool !== null) return skip(`this sandbox has no ${tool}`);
      const theirs = backend === 'bubblewrap' ? missingTool(recorded, null) : null;
      if (theirs !== null) return skip(`the recorded server had no ${theirs}`);
      const difference = differenceOf(backend, exchange, got);
      if (difference) {
        met.add(exchange.name);
        expect(got, 'a listed difference must be one').not.toEqual(recorded);
      }
      expect(got, difference?.reason).toEqual(difference ? merged(recorded, difference.ours) : recorded);
    });

    test('every listed difference was met', () => {
      const listed = Object.keys(backend === 'pyodide' ? { ...DIFFERENCES, ...ON_PYODIDE } : DIFFERENCES);
      expect(listed.filter((name) => !met.has(name))).toEqual([]);
    });
  });
});
