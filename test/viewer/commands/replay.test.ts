// replay, fork and rescore as scripts use them: the built program, its exit status, its JSON.

import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { journalPlace, pathOf } from '../../../src/replay/journal/place.ts';
import { scriptedModel } from '../../engine/scripted-model.ts';
import { VERL_TOOLS } from '../../engine/verl-tools.ts';
import { ask, bin, directoryWith, jsonLines, root, verlLine } from '../../program.ts';
import { callLine, SANDBOX } from '../../replay/fixture.ts';
import { printed, type ScriptedServer, scriptedServer } from '../../sandbox/scripted-server.ts';

const servers: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

const keyless = { SANDBOX_FUSION_ENDPOINT: '', XDG_STATE_HOME: mkdtempSync(join(tmpdir(), 'state-')) };
const run = (args: string[], env: NodeJS.ProcessEnv = {}) => ask(args, { env: { ...keyless, ...env } });

const dumpWith = (...lines: string[]) =>
  join(directoryWith({ 'rollout_data/1.jsonl': lines.map((line) => `${line}\n`).join('') }), 'rollout_data');
const python = (code: string, result: string | null) => callLine('code_interpreter', { code }, result);

async function answering(): Promise<ScriptedServer> {
  const server = await scriptedServer((seen) => ({ json: printed(`${/print\((\d+)\)/.exec(seen.body)?.[1]}\n`) }));
  servers.push(server);
  return server;
}

const TAU = join(root, '../shared/data/tau-airline-verl/1.jsonl');

/** Where results on a dump are kept by default. */
const journalOf = (dump: string): string => pathOf(journalPlace(dump, { env: keyless }).folders[0]!);

describe('replay', () => {
  test('gives a line a call with the keys of its documentation, and exit status 1 for drift', async () => {
    const dump = dumpWith(python('print(4)', '4\n'), python('print(5)', '4\n'));
    const { code, stdout, stderr } = await run(['replay', dump, '--json']);
    expect(code).toBe(1);
    const [same, drift] = jsonLines(stdout);
    const keys = 'locator turn call name backend status verdict compared reason recorded result diff attempts'.split(
      ' ',
    );
    expect(Object.keys(same!)).toEqual(expect.arrayContaining(keys));
    expect(same).toMatchObject({
      locator: `${join(dump, '1.jsonl')}:1`,
      turn: 1,
      call: 0,
      status: 'same',
      verdict: 'same',
      compared: 'whole',
      diff: null,
    });
    expect(drift).toMatchObject({
      status: 'drift',
      verdict: 'different',
      recorded: { text: '4\n' },
      result: { text: '5\n' },
    });
    expect(stderr).toContain('code runs on');
    expect(readdirSync(journalOf(dump))).toEqual(['replay.jsonl']);
    expect(readdirSync(dump)).toEqual(['1.jsonl']);
  });

  test('the fixtures of this project have no drift', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'fixtures-'));
    // One of its programs loops for ever, for its 30 seconds.
    cpSync(join(root, 'fixtures/rollout_data'), join(directory, 'rollout_data'), { recursive: true });
    const tools = join(directory, 'tools.yaml');
    writeFileSync(
      tools,
      VERL_TOOLS.replace(/.*sandbox_fusion_url.*\n/, '      sandbox_fusion_url: "http://127.0.0.1:9"\n').replace(
        'default_timeout: 30',
        'default_timeout: 4',
      ),
    );
    const { code, stdout } = await run([
      'replay',
      join(directory, 'rollout_data'),
      '--tools',
      tools,
      '--sandbox',
      SANDBOX,
      '--json',
    ]);
    const statuses = jsonLines(stdout).map(({ status }) => status);
    expect(code).toBe(0);
    expect(statuses).toHaveLength(23);
    expect(new Set(statuses)).toEqual(new Set(['same', 'unknown', 'skipped']));
  });

  test.skipIf(!existsSync(TAU))(
    '1,164 real calls that nothing here can run are skipped, each with its reason, and nothing is opened or written (skipped without ../shared)',
    async () => {
      const { code, stdout, stderr } = await run(['replay', TAU, '--json', '--repeat', '3'], {
        SANDBOX_FUSION_ENDPOINT: 'http://127.0.0.1:9',
      });
      const outcomes = jsonLines(stdout);
      expect(code).toBe(0);
      expect(outcomes).toHaveLength(1164);
      expect(
        outcomes.every(({ status, reason }) => status === 'skipped' && /^no tool here runs/.test(String(reason))),
      ).toBe(true);
      expect(stderr).toBe('');
      expect(existsSync(join(TAU, '../../.rollout-viewer'))).toBe(false);
    },
  );

  test('asks for consent before a server sees anything', async () => {
    const server = await answering();
    const dump = dumpWith(python('print(4)', '4\n'));
    for (const [args, env] of [
      [['--sandbox', server.url], {}],
      [[], { SANDBOX_FUSION_ENDPOINT: server.url }],
    ] as const) {
      const refused = await run(['replay', dump, ...args], env);
      expect(refused).toMatchObject({ code: 2, stdout: '' });
      expect(refused.stderr).toContain(`recorded code would run on ${server.url}`);
      expect(refused.stderr).toContain('--yes');
    }
    expect((await run(['replay', dump, '--sandbox', 'unconfined'])).stderr).toContain(
      'unconfined, with all your rights: give --yes',
    );
    expect(server.seen).toHaveLength(0);
    expect((await run(['replay', dump, '--sandbox', server.url, '--yes'])).code).toBe(0);
    expect(server.seen).toHaveLength(1);
  });

  test('takes the URL of the tool file before the environment', async () => {
    const server = await answering();
    const tools = join(
      directoryWith({ 'tools.yaml': VERL_TOOLS.replace('http://127.0.0.1:1', server.url) }),
      'tools.yaml',
    );
    const dump = dumpWith(python('print(4)', '4\n'));
    const { code, stderr } = await run(['replay', dump, '--tools', tools, '--yes'], {
      SANDBOX_FUSION_ENDPOINT: 'http://127.0.0.1:9',
    });
    expect(stderr).toContain("the tool file's sandbox_fusion_url");
    expect(code).toBe(0);
    expect(JSON.parse(server.seen[0]!.body)).toMatchObject({ run_timeout: 30 });
  });

  test('runs nothing under --no-exec, and says what would run where', async () => {
    const server = await answering();
    const dump = dumpWith(python('print(4)', '4\n'));
    const { code, stdout } = await run(['replay', dump, '--no-exec', '--sandbox', server.url, '--json']);
    expect(code).toBe(0);
    expect(jsonLines(stdout)).toMatchObject([
      { status: 'skipped', reason: expect.stringContaining(`would run on ${server.url}`) },
    ]);
    expect(server.seen).toHaveLength(0);
    expect(existsSync(journalOf(dump))).toBe(false);
  });

  test('takes one call, the calls of one turn, or those that a filter leaves', async () => {
    const server = await answering();
    const turn = (code: string) => (JSON.parse(python(code, '4\n')) as { output: string }).output;
    const dump = dumpWith(
      callLine('code_interpreter', {}, null, { output: `${turn('print(4)')}\n${turn('print(5)')}` }),
      callLine('code_interpreter', { code: 'print(6)' }, '6\n', { score: 0 }),
    );
    const calls = async (...args: string[]) => {
      const { stdout } = await run(['replay', ...args, '--sandbox', server.url, '--yes', '--json']);
      return jsonLines(stdout).map(
        ({ locator, call, result }) =>
          `${String(locator).split(':').at(-1)} ${call} ${(result as { text: string }).text.trim()}`,
      );
    };
    const file = join(dump, '1.jsonl');
    expect(await calls(`${file}:1`, '--call', '1')).toEqual(['1 1 5']);
    expect(await calls(`${file}:1#t3`)).toEqual(['1 1 5']);
    expect(await calls(file, '--filter', 'score == 0')).toEqual(['2 0 6']);
    expect(await calls(dump)).toEqual(['1 0 4', '1 1 5', '2 0 6']);
  });

  test('exit status: 2 if every call is an error, 1 without a call, 2 for unreadable input', async () => {
    const dead = ['--sandbox', 'http://127.0.0.1:9', '--yes'];
    const failed = await run(['replay', dumpWith(python('print(4)', '4\n')), ...dead, '--json']);
    expect(failed.code).toBe(2);
    expect(jsonLines(failed.stdout)).toMatchObject([
      { status: 'error', reason: expect.stringContaining('cannot reach') },
    ]);
    const none = await run(['replay', dumpWith(verlLine().trim())]);
    expect(none).toMatchObject({ code: 1, stdout: '' });
    expect(none.stderr).toContain('no tool call to replay');
    for (const args of [
      ['missing.jsonl'],
      [dumpWith(verlLine().trim()), '--tools', 'missing.yaml'],
      ['x', '--sandbox', 'ftp://x'],
      ['x', '--exact', 'tmies'],
    ])
      expect((await run(['replay', ...args])).code, args.join(' ')).toBe(2);
  });

  test('what a model wrote reaches the terminal as signs', async () => {
    const dump = dumpWith(python('print("\\x1b]0;title\\x07")', '4\n'));
    const { stdout } = await run(['replay', dump]);
    expect(stdout).toContain('␛]0;title␇');
    expect(stdout).not.toContain('\x1b');
  });

  test('killed with -9, --resume goes on: every call once in the end', async () => {
    const server = await scriptedServer(async (seen) => {
      await new Promise((resolve) => setTimeout(resolve, 15));
      return { json: printed(`${/print\((\d+)\)/.exec(seen.body)?.[1]}\n`) };
    });
    servers.push(server);
    const count = 60;
    const dump = dumpWith(...Array.from({ length: count }, (_, i) => python(`print(${i})`, `${i}\n`)));
    const args = ['replay', dump, '--sandbox', server.url, '--yes', '--json'];
    const child = spawn(process.execPath, [bin, ...args], {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, ...keyless },
    });
    const ended = new Promise((resolve) => child.on('close', resolve));
    let seen = '';
    child.stdout.on('data', (chunk: Buffer) => {
      seen += chunk.toString();
      if (seen.split('\n').length > 10) child.kill('SIGKILL');
    });
    await ended;
    const journal = join(journalOf(dump), 'replay.jsonl');
    const kept = jsonLines(readFileSync(journal, 'utf8'));
    expect(kept.length).toBeGreaterThanOrEqual(10);
    const { code, stdout } = await run([...args, '--resume']);
    expect(code).toBe(0);
    expect(jsonLines(stdout)).toHaveLength(count);
    // A call with a verdict is not asked again.
    for (const { result } of kept) {
      const own = `print(${(result as { text: string }).text.trim()})`;
      expect(server.seen.filter(({ body }) => body.includes(own))).toHaveLength(1);
    }
    const records = jsonLines(readFileSync(journal, 'utf8')).map(({ record }) => record);
    expect(new Set(records).size).toBe(count);
    expect(records).toHaveLength(count);
  });
});

describe('fork', () => {
  const model = async () => {
    const server = await scriptedModel(() => ({ text: 'It is five.\n#### 5' }));
    servers.push(server);
    return server;
  };

  test('prints turns and branches, keeps them beside the dump, and the viewer reads them', async () => {
    const { url } = await model();
    const dump = dumpWith(
      callLine('code_interpreter', { code: 'print(4)' }, '4\n', { data_source: 'openai/gsm8k', gts: '5' }),
    );
    const locator = `${join(dump, '1.jsonl')}:1`;
    const { code, stdout } = await run([
      'fork',
      locator,
      '--turn',
      '3',
      '--model-url',
      url,
      '--model',
      'tiny',
      '-n',
      '2',
      '--temperature',
      '0.5',
      '--json',
    ]);
    expect(code).toBe(0);
    const events = jsonLines(stdout);
    expect(events.filter(({ event }) => event === 'turn')).toHaveLength(2);
    const branches = events.filter(({ event }) => event === 'branch');
    expect(branches).toMatchObject([
      { locator, turn: 3, score: 1, status: 'SUCCEEDED', difference: { turn: 3 } },
      { score: 1 },
    ]);
    const listed = await run(['ls', String(branches[0]!.path), '--json']);
    expect(jsonLines(listed.stdout)).toMatchObject([{ format: 'rollout-viewer', score: 1 }, { score: 1 }]);
    expect(readdirSync(dump)).toEqual(['1.jsonl']);
  });

  test('says what is wrong: no turn, no such turn, no address, a server that is away', async () => {
    const dump = dumpWith(verlLine().trim());
    const file = join(dump, '1.jsonl');
    const fork = (...args: string[]) => run(['fork', ...args, '--model', 'tiny']);
    expect((await fork(`${file}:1`, '--model-url', 'http://127.0.0.1:9')).stderr).toContain(
      'it names no turn to continue from; give --turn N',
    );
    expect((await fork(`${file}:1#t9`, '--model-url', 'http://127.0.0.1:9')).stderr).toContain('t0 to t1');
    // URL.canParse takes a host without a scheme for a scheme.
    for (const address of ['nowhere', 'localhost:8000/v1'])
      expect((await fork(`${file}:1#t1`, '--model-url', address)).stderr).toContain('not an http(s) address');
    expect((await fork(`${file}:1#t1`)).code).toBe(2);
  });

  test('reports an impossible sandbox', async () => {
    const { code, stderr } = await run(['replay', dumpWith(verlLine().trim()), '--sandbox', 'localhost:8080']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--sandbox localhost:8080: neither auto, bubblewrap')]);
  });

  test('does not send code to a server unasked', async () => {
    const { url, requests } = await model();
    const tools = join(directoryWith({ 'tools.yaml': VERL_TOOLS }), 'tools.yaml');
    const dump = dumpWith(verlLine().trim());
    const { code, stderr } = await run([
      'fork',
      `${join(dump, '1.jsonl')}:1#t1`,
      '--model-url',
      url,
      '--model',
      'tiny',
      '--tools',
      tools,
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain('give --yes');
    expect(requests).toHaveLength(0);
  });
});

describe('rescore', () => {
  test('gives a line a rollout, and exit status 1 where a score is another', async () => {
    const dump = dumpWith(
      verlLine({ output: '#### 2', gts: '2', score: 1 }).trim(),
      verlLine({ output: '#### 3', gts: '2', score: 1 }).trim(),
    );
    const all = await run(['rescore', dump, '--reward', 'gsm8k', '--json']);
    expect(all.code).toBe(1);
    expect(jsonLines(all.stdout)).toMatchObject([
      { locator: `${join(dump, '1.jsonl')}:1`, status: 'same', recorded: 1, score: 1, reward: 'gsm8k' },
      { status: 'drift', recorded: 1, score: 0 },
    ]);
    const kept = readFileSync(join(journalOf(dump), 'rescore.jsonl'), 'utf8');
    expect(jsonLines(kept)).toMatchObject([
      { kind: 'rescore', score: 1, reward: 'gsm8k' },
      { score: 0, status: 'drift' },
    ]);
    expect(readdirSync(dump)).toEqual(['1.jsonl']);
    expect((await run(['rescore', dump, '--reward', 'gsm8k', '--filter', 'output ~ "#### 2"', '--json'])).code).toBe(0);
    expect((await run(['rescore', dump, '--reward', 'nonsense'])).stderr).toContain(
      "unknown reward function 'nonsense'",
    );
    expect((await run(['rescore', dump, '--reward', 'x.py', '--no-exec'])).stderr).toContain('--no-exec forbids');
  });
});
