// The code of control groups against folders in place of the kernel's: the writes and their places, in both versions.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Cgroups } from '../../src/sandbox/server/backends/cgroups.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'cgroup-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const read = (...parts: string[]) => readFileSync(join(root, ...parts), 'utf8');
const runsIn = (folder: string) =>
  readdirSync(join(root, folder))
    .filter((name) => name.startsWith('run-'))
    .map((name) => join(folder, name));
const limits = { memoryBytes: 100 << 20, processes: 7 };

describe('version 2', () => {
  beforeEach(() => {
    mkdirSync(join(root, 'user/scope'), { recursive: true });
    for (const folder of ['', 'user/scope'])
      writeFileSync(join(root, folder, 'cgroup.controllers'), 'cpu io memory pids\n');
  });

  test('the server moves into a leaf, and each run has its limits', () => {
    const groups = Cgroups.open([2, 1], { root, own: '0::/user/scope\n', pid: 4711 });
    expect(groups.version).toBe(2);
    expect(read('user/scope/rollout-viewer-4711/server/cgroup.procs')).toBe('4711');
    expect(read('user/scope/cgroup.subtree_control')).toBe('+memory +pids +cpu');
    expect(read('user/scope/rollout-viewer-4711/cgroup.subtree_control')).toBe('+memory +pids +cpu');
    const group = groups.create();
    const folder = runsIn('user/scope/rollout-viewer-4711')[0]!;
    // The kernel makes them with the folder.
    for (const name of ['memory.max', 'memory.swap.max', 'cpu.max']) writeFileSync(join(root, folder, name), 'max\n');
    group.limit(limits);
    group.add(12);
    expect(['memory.max', 'memory.swap.max', 'pids.max', 'cgroup.procs'].map((name) => read(folder, name))).toEqual([
      String(100 << 20),
      '0',
      '7',
      '12',
    ]);
    // Nine tenths of one processor, and all of the others.
    const [quota, period] = read(folder, 'cpu.max').split(' ').map(Number);
    expect((quota! / period!).toFixed(1)).toBe((availableParallelism() - 0.1).toFixed(1));
    groups.create();
    expect(runsIn('user/scope/rollout-viewer-4711')).toHaveLength(2);
  });

  test('a kill for memory is seen, as is what is used', () => {
    const groups = Cgroups.open([2, 1], { root, own: '0::/user/scope\n', pid: 1 });
    const group = groups.create();
    const folder = join(root, runsIn('user/scope/rollout-viewer-1')[0]!);
    expect(group.killedForMemory).toBe(false);
    writeFileSync(join(folder, 'memory.events'), 'low 0\nhigh 0\nmax 12\noom 3\noom_kill 0\n');
    writeFileSync(join(folder, 'memory.current'), '4096\n');
    expect([group.killedForMemory, group.bytes]).toEqual([false, 4096]);
    writeFileSync(join(folder, 'memory.events'), 'low 0\nhigh 0\nmax 12\noom 3\noom_kill 1\n');
    expect(group.killedForMemory).toBe(true);
  });

  test('without its controllers it is not taken, and says so', () => {
    writeFileSync(join(root, 'user/scope/cgroup.controllers'), 'cpu\n');
    expect(() => Cgroups.open([2, 1], { root, own: '0::/user/scope\n', pid: 1 })).toThrow(
      'cgroup v2 has no memory, pids here',
    );
  });
});

describe('version 1', () => {
  const own = '9:name=systemd:/\n8:pids:/\n4:memory:/inner/group\n0::/\n';
  beforeEach(() => {
    mkdirSync(join(root, 'memory/inner/group'), { recursive: true });
    mkdirSync(join(root, 'pids'));
  });

  test('each run has a folder below each controller', () => {
    const groups = Cgroups.open([2, 1], { root, own, pid: 5 });
    expect(groups.version).toBe(1);
    const group = groups.create();
    const folder = runsIn('memory/inner/group/rollout-viewer-5')[0]!;
    const pids = runsIn('pids/rollout-viewer-5')[0]!;
    for (const name of ['memory.limit_in_bytes', 'memory.memsw.limit_in_bytes'])
      writeFileSync(join(root, folder, name), '');
    group.limit(limits);
    group.add(12);
    expect(read(folder, 'memory.limit_in_bytes')).toBe(String(100 << 20));
    expect(read(folder, 'memory.memsw.limit_in_bytes')).toBe(String(100 << 20));
    expect(read(pids, 'pids.max')).toBe('7');
    expect([read(folder, 'cgroup.procs'), read(pids, 'cgroup.procs')]).toEqual(['12', '12']);
  });

  test('it is not used where it was not asked for', () => {
    expect(() => Cgroups.open([2], { root, own, pid: 5 })).toThrow(/^no cgroup v2 is mounted$/);
    expect(readdirSync(join(root, 'pids'))).toEqual([]);
  });

  test('without a controller both reasons are reported', () => {
    rmSync(join(root, 'pids'), { recursive: true });
    expect(() => Cgroups.open([2, 1], { root, own, pid: 5 })).toThrow(
      'no cgroup v2 is mounted; cgroup v1 has no pids here',
    );
  });
});
