// The single executable: it runs without a Node, its threads and child processes do, and nobody else's files are run.
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { directoryWith, execute, jsonLines, root, verlLine } from '../program.ts';

let program = '';
/** A PATH without a Node. */
let bare = '';

beforeAll(async () => {
  const place = directoryWith({ 'bare/.keep': '' });
  bare = join(place, 'bare');
  for (const name of ['sh', 'env']) symlinkSync(`/usr/bin/${name}`, join(bare, name));
  const made = await execute(process.execPath, [join(root, 'scripts/executable.mjs'), place]);
  expect([made.code, made.stderr.includes('Error')]).toEqual([0, false]);
  program = join(place, made.stdout.trim().split('/').at(-1) ?? '');
});

const run = (args: readonly string[], cache: string, env: NodeJS.ProcessEnv = {}) =>
  execute(program, args, { env: { PATH: bare, XDG_CACHE_HOME: cache, ...env } });
const unpacked = (cache: string): string[] => readdirSync(join(cache, 'rollout-viewer/program'));

test('several that start at once unpack it once, and it reads with threads, packed files and a child process', async () => {
  const cache = directoryWith({});
  const dump = directoryWith({ '1.jsonl': verlLine().repeat(3000) });
  const lists = await Promise.all([1, 2, 3, 4].map(() => run(['ls', dump, '--json'], cache)));
  for (const { code, stdout, stderr } of lists) expect([code, jsonLines(stdout).length, stderr]).toEqual([0, 3000, '']);
  expect(unpacked(cache)).toHaveLength(1);
  const packed = join(dump, 'facts.parquet');
  expect((await run(['facts', dump, '--parquet', packed], cache)).code).toBe(0);
  expect(readFileSync(packed).subarray(0, 4).toString()).toBe('PAR1');
  expect((await run(['help', 'masks'], cache)).stdout).toContain('trained');
  // Doctor starts the program as an agent would.
  expect((await run(['doctor', '--json'], cache)).stdout).toContain('"MCP"');
  const missing = await run(['ls', '/does/not/exist'], cache);
  expect([missing.code, missing.stderr]).toEqual([2, 'rollout-viewer: /does/not/exist: no such file or directory\n']);
});

test('a cache that others may write to, or that cannot be written, is left for the temporary folder', async () => {
  const open = directoryWith({ 'rollout-viewer/program/.keep': '' });
  chmodSync(join(open, 'rollout-viewer/program'), 0o777);
  const file = join(directoryWith({ cache: 'no folder' }), 'cache');
  for (const cache of [open, file]) {
    const temporary = directoryWith({});
    expect(await run(['--version'], cache, { TMPDIR: temporary })).toMatchObject({ code: 0, stderr: '' });
    expect(readdirSync(temporary)).toEqual([`rollout-viewer-program-${process.getuid?.()}`]);
  }
  expect(unpacked(open)).toEqual(['.keep']);
});

test('a folder that somebody laid there under its name is not run', async () => {
  const cache = directoryWith({});
  expect((await run(['--version'], cache)).code).toBe(0);
  const [name] = unpacked(cache);
  const theirs = directoryWith({});
  const folder = join(theirs, 'rollout-viewer/program', name ?? '');
  mkdirSync(join(folder, 'program/dist'), { recursive: true });
  chmodSync(folder, 0o777);
  writeFileSync(join(folder, 'start.cjs'), "console.log('theirs')");
  const temporary = directoryWith({});
  const { stdout } = await run(['--version'], theirs, { TMPDIR: temporary });
  expect(stdout).toBe(`${JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version}\n`);
});

test('where it can be unpacked nowhere, it says so', async () => {
  const file = join(directoryWith({ cache: '' }), 'cache');
  const { code, stderr } = await run(['--version'], file, { TMPDIR: file });
  expect([code, stderr]).toEqual([2, expect.stringContaining('it can be unpacked nowhere')]);
});
