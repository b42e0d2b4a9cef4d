// The package as npm hands it out: the program of docs/library.md, and the types of every entry.
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { directoryWith, execute, root } from '../../program.ts';
import { scriptedModel } from '../scripted-model.ts';

/** The first fenced program of a page. */
const pageProgram = (page: string): string =>
  /```js\n([\s\S]*?)```/.exec(readFileSync(join(root, page), 'utf8'))?.[1] ?? '';

describe('the packed package', () => {
  let folder: string;

  beforeAll(async () => {
    folder = directoryWith({ 'package.json': '{"type": "module", "private": true}' });
    const types = await execute(process.execPath, [join(root, 'scripts/types.mjs')]);
    expect(types.code, types.stdout + types.stderr).toBe(0);
    const packed = await execute('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: root });
    expect(packed.code, packed.stderr).toBe(0);
    const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'))!;
    const target = join(folder, 'node_modules/rollout-viewer');
    await execute('mkdir', ['-p', target]);
    await execute('tar', ['-xzf', join(folder, tarball), '-C', target, '--strip-components=1']);
    // The packages that npm would install beside it.
    symlinkSync(join(root, 'node_modules/pyodide'), join(folder, 'node_modules/pyodide'));
  });

  test('runs the program of docs/library.md', async () => {
    const program = pageProgram('docs/library.md');
    expect(program.trim().split('\n').length).toBeLessThanOrEqual(15);
    writeFileSync(join(folder, 'program.mjs'), program);
    const { code, stdout, stderr } = await execute(process.execPath, ['program.mjs'], { cwd: folder });
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(stdout).toBe('SUCCEEDED 1 [ 1, 1 ]\nTool returned result: 4\n');
  });

  test("runs the notes' programs of the design document unchanged", async () => {
    const notes = readFileSync(join(root, 'notes/engine.md'), 'utf8');
    const programs = [...notes.matchAll(/```js\n([\s\S]*?)```/g)].map((match) => match[1]!);
    const model = await scriptedModel(() => ({ text: '#### 8' }));
    const task = { prompt: 'What is 4 + 4?', data_source: 'gsm8k', ground_truth: '8' };
    writeFileSync(join(folder, 'tasks.jsonl'), `${JSON.stringify(task)}\n`.repeat(4));
    const told: string[] = [];
    for (const [index, program] of programs.entries()) {
      writeFileSync(join(folder, `program-${index}.mjs`), program);
      const env = { MODEL_URL: model.url };
      const { stdout, stderr } = await execute(process.execPath, [`program-${index}.mjs`], { cwd: folder, env });
      told.push(stderr + stdout);
    }
    await model.close();
    const group = '[ 1, 1, 1, 1 ]';
    expect(told).toEqual([
      "[ 'add' ] true\n",
      'SUCCEEDED 1.5 [ 1.35, 1.5 ]\n',
      "{\n  c1: '2',\n  c2: 'Error: Division by zero is not allowed',\n  c3: \"Error: Tool 'nothing' not registered.\"\n}\n",
      'user 1+1=? -\nassistant let me see -\ntool Tool returned result: 2 c1\n',
      `[ ${group}, ${group} ]\n[ ${group}, ${group} ]\n`,
    ]);
  });

  test('has types that a strict program is checked by', async () => {
    for (const name of ['@types', 'undici-types'])
      symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
    writeFileSync(
      join(folder, 'program.ts'),
      `import { type RewardFn, loadTools, OwnCode, ToolEnvironment, runRequest } from 'rollout-viewer/engine';
import { run_code, run_concurrent, RunCodeRequest, set_endpoint, startSandbox } from 'rollout-viewer/sandbox';
import { SessionClient } from 'rollout-viewer/session';
export const reward: RewardFn = (task, action) => ({ reward: action === task.ground_truth ? 1 : 0, metadata: {} });
export const env = new ToolEnvironment({}, {}, { rewardFn: reward });
export const schemas = (await loadTools('t.yaml', { own: new OwnCode() })).map((tool) => tool.getOpenAIToolSchema().function.name.length);
set_endpoint('http://127.0.0.1:8080');
const answers = await run_concurrent(run_code, { args: [[new RunCodeRequest({ code: 'print(1)', language: 'python' })]] });
export const text: string | null | undefined = answers[0]?.run_result?.stdout;
export const all = [SessionClient, startSandbox, runRequest];
// @ts-expect-error: a language is one of SandboxFusion's
await run_code({ code: '', language: 'klingon' });
`,
    );
    const flags = ['--noEmit', '--strict', '--target', 'es2023', '--module', 'nodenext', '--types', 'node'];
    const { stdout, code } = await execute(join(root, 'node_modules/.bin/tsc'), [...flags, 'program.ts'], {
      cwd: folder,
    });
    expect(stdout).toBe('');
    expect(code).toBe(0);
  });

  test('gives its entries and nothing else', async () => {
    const script = `
      const known = [];
      for (const name of ['engine', 'sandbox', 'session']) known.push(Object.keys(await import('rollout-viewer/' + name)).length > 0);
      const other = await import('rollout-viewer/dist/rollout-viewer.js').catch((error) => error.code);
      console.log(JSON.stringify([known, other]));`;
    const { stdout } = await execute(process.execPath, ['--input-type=module', '-e', script], { cwd: folder });
    expect(JSON.parse(stdout)).toEqual([[true, true, true], 'ERR_PACKAGE_PATH_NOT_EXPORTED']);
  });
});
