// A control group per run, if the kernel allows it: delegated to us in version 2, or, only on request,
// as root in version 1, whose groups slow down every fork and move. Its limits cover everything a run holds, including memory of no process, shared
// memory, socket buffers, the pages and names of a tmpfs.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { rmdir, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { itemAt } from '../../../core/lists/at.ts';
import { errorCode, errorMessage } from '../../../core/text/thrown.ts';

const PREFIX = 'rollout-viewer-';
/** The queues of TCP in version 1, of all memory. */
const TCP_PART = 8;
const PERIOD_US = 100_000;
const RETRY_MS = 50;
const RETRIES = 100;

export interface GroupLimits {
  memoryBytes: number;
  processes: number;
}

/** The file names and formats of a version. */
interface Version {
  number: 1 | 2;
  /** Only existing files are written: a controller may be missing. */
  limits: (bytes: number) => [file: string, value: string][];
  usage: string;
  /** Holds a line `oom_kill N`. */
  events: string;
}

const VERSIONS: Record<1 | 2, Version> = {
  1: {
    number: 1,
    // The second exists only if swap is counted; it may not be below the first.
    limits: (bytes) => [
      ['memory.limit_in_bytes', String(bytes)],
      ['memory.memsw.limit_in_bytes', String(bytes)],
      // Counted separately from the rest.
      ['memory.kmem.tcp.limit_in_bytes', String(Math.floor(bytes / TCP_PART))],
    ],
    usage: 'memory.usage_in_bytes',
    events: 'memory.oom_control',
  },
  2: {
    number: 2,
    limits: (bytes) => [
      ['memory.swap.max', '0'],
      ['memory.max', String(bytes)],
      // Exceeding the limit ends the whole run, not just one of its processes.
      ['memory.oom.group', '1'],
      // A fork bomb leaves the server a tenth of a processor.
      ['cpu.max', `${Math.round((availableParallelism() - 0.1) * PERIOD_US)} ${PERIOD_US}`],
    ],
    usage: 'memory.current',
    events: 'memory.events',
  },
};

/** Versions that may be used, in order of preference; empty for no groups at all. */
export type CgroupVersions = readonly (1 | 2)[];

export interface CgroupPlace {
  /** The mount point of the kernel's tree. */
  root: string;
  /** The text of /proc/self/cgroup. */
  own: string;
  pid: number;
}

const here = (): CgroupPlace => ({
  root: '/sys/fs/cgroup',
  own: existsSync('/proc/self/cgroup') ? readFileSync('/proc/self/cgroup', 'utf8') : '',
  pid: process.pid,
});

export class Cgroups {
  readonly version: 1 | 2;
  readonly #version: Version;
  /** One folder in version 2; one per controller in version 1, memory first. */
  readonly bases: readonly string[];

  /** @throws {Error} that says why none can be made */
  static open(versions: CgroupVersions, place: CgroupPlace = here()): Cgroups {
    const reasons: string[] = [];
    for (const version of versions) {
      try {
        return version === 2 ? delegated(place) : firstVersion(place);
      } catch (error) {
        reasons.push(errorMessage(error));
      }
    }
    throw new Error(reasons.join('; '));
  }

  constructor(version: 1 | 2, bases: readonly string[]) {
    this.version = version;
    this.#version = VERSIONS[version];
    this.bases = bases;
  }

  create(): Cgroup {
    const name = `run-${created++}`;
    const folders = this.bases.map((base) => join(base, name));
    // The base of version 1 holds no process of ours, so anyone may have removed it between two runs.
    for (const folder of folders) mkdirSync(folder, { recursive: true });
    return new Cgroup(this.#version, folders);
  }

  /** The instance shared by this process: every opener closes it, and the last close removes it. */
  static share(versions: CgroupVersions): Cgroups {
    if (shared !== null && !versions.includes(shared.groups.version)) return Cgroups.open(versions);
    shared ??= { groups: Cgroups.open(versions), users: 0 };
    shared.users++;
    return shared.groups;
  }

  /** The caller first kills the remaining runs. */
  async close(): Promise<void> {
    if (shared?.groups === this) {
      if (--shared.users > 0) return;
      shared = null;
    }
    for (const base of this.bases.filter(existsSync)) {
      for (const name of readdirSync(base)) if (name.startsWith('run-')) await removeSoon(join(base, name), true);
      if (base.includes(PREFIX)) await removeSoon(base, true);
    }
  }
}

/** Process-wide, so a name is not reused while the kernel still holds the first. */
let created = 0;
let shared: { groups: Cgroups; users: number } | null = null;

export class Cgroup {
  readonly #version: Version;
  readonly #folders: readonly string[];

  constructor(version: Version, folders: readonly string[]) {
    this.#version = version;
    this.#folders = folders;
  }

  limit({ memoryBytes, processes }: GroupLimits): void {
    const [memory = '', pids = memory] = this.#folders;
    for (const [file, value] of this.#version.limits(memoryBytes)) {
      const path = join(memory, file);
      if (existsSync(path)) writeFileSync(path, value);
    }
    writeFileSync(join(pids, 'pids.max'), String(processes));
  }

  /** Off this thread: the kernel may wait for all processors before it moves a process. */
  async addSoon(pid: number): Promise<void> {
    await Promise.all(this.#folders.map((folder) => writeFile(join(folder, 'cgroup.procs'), String(pid))));
  }

  add(pid: number): void {
    for (const folder of this.#folders) writeFileSync(join(folder, 'cgroup.procs'), String(pid));
  }

  get bytes(): number {
    return Number(readFileSync(join(itemAt(this.#folders, 0), this.#version.usage), 'latin1'));
  }

  get countsSockets(): boolean {
    return this.#version.number === 2;
  }

  get killedForMemory(): boolean {
    try {
      const events = readFileSync(join(itemAt(this.#folders, 0), this.#version.events), 'latin1');
      return Number(/^oom_kill (\d+)/m.exec(events)?.[1] ?? 0) > 0;
    } catch {
      return false;
    }
  }

  /** Removes it once its last process has ended. */
  remove(): void {
    for (const folder of this.#folders) void removeSoon(folder);
  }
}

/** @param isAwaited keeps the event loop alive so awaiting callers resolve */
async function removeSoon(folder: string, isAwaited = false): Promise<void> {
  for (let attempt = 0; attempt < RETRIES; attempt++) {
    try {
      await rmdir(folder);
      return;
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return;
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, RETRY_MS);
        if (!isAwaited) timer.unref();
      });
    }
  }
}

/** Removes groups of dead servers. A live server's group may be empty too, between two runs. */
function sweep(base: string): void {
  for (const name of readdirSync(base)) {
    if (!name.startsWith(PREFIX) || isOfAnother(Number(name.slice(PREFIX.length)))) continue;
    try {
      for (const run of readdirSync(join(base, name)).filter((entry) => entry.startsWith('run-') || entry === 'server'))
        rmdirSync(join(base, name, run));
      rmdirSync(join(base, name));
    } catch {
      // It belongs to a live server, or to a test's fake tree.
    }
  }
}

/** @returns whether a process of that number lives that is not this one */
function isOfAnother(pid: number): boolean {
  if (!(pid > 0) || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

const pathIn = (own: string, controller: string): string | null =>
  own
    .split('\n')
    .map((line) => line.split(':'))
    .find(([, names = '']) => names.split(',').includes(controller))
    ?.slice(2)
    .join(':') ?? null;

/**
 * A group delegated to us with its controllers. The server moves itself into a child of it: a group that delegates its
 * controllers may hold no process.
 */
function delegated({ root, own, pid }: CgroupPlace): Cgroups {
  const path = own
    .split('\n')
    .find((line) => line.startsWith('0::'))
    ?.slice(3);
  const unified = existsSync(join(root, 'cgroup.controllers')) ? root : join(root, 'unified');
  if (path === undefined || !existsSync(join(unified, 'cgroup.controllers')))
    throw new Error('no cgroup v2 is mounted');
  const base = join(unified, path);
  const controllers = readFileSync(join(base, 'cgroup.controllers'), 'utf8').trim().split(' ');
  const missing = ['memory', 'pids'].filter((name) => !controllers.includes(name));
  if (missing.length > 0) throw new Error(`cgroup v2 has no ${missing.join(', ')} here`);
  const folder = join(base, `${PREFIX}${pid}`);
  const wanted = ['memory', 'pids', 'cpu'].filter((name) => controllers.includes(name)).map((name) => `+${name}`);
  try {
    sweep(base);
    mkdirSync(folder, { recursive: true });
    const server = join(folder, 'server');
    mkdirSync(server, { recursive: true });
    writeFileSync(join(server, 'cgroup.procs'), String(pid));
    for (const group of [base, folder]) writeFileSync(join(group, 'cgroup.subtree_control'), wanted.join(' '));
    return new Cgroups(2, [folder]);
  } catch (error) {
    try {
      writeFileSync(join(base, 'cgroup.procs'), String(pid));
      rmdirSync(join(folder, 'server'));
      rmdirSync(folder);
    } catch {
      // none of it was created
    }
    throw new Error(`cgroup v2 is not delegated to this user: ${errorCode(error)}`);
  }
}

function firstVersion({ root, own, pid }: CgroupPlace): Cgroups {
  const bases = ['memory', 'pids'].map((controller) => {
    const path = pathIn(own, controller);
    // A container often sees its part of the tree as the root.
    const base = [join(root, controller, path ?? ''), join(root, controller)].find((folder) => existsSync(folder));
    if (path === null || base === undefined) throw new Error(`cgroup v1 has no ${controller} here`);
    return base;
  });
  try {
    return new Cgroups(
      1,
      bases.map((base) => {
        sweep(base);
        const folder = join(base, `${PREFIX}${pid}`);
        mkdirSync(folder, { recursive: true });
        return folder;
      }),
    );
  } catch (error) {
    throw new Error(`cgroup v1 is not ours to use: ${errorCode(error)}`);
  }
}

/** The default: both versions, whatever this process may use. */
export const ANY_VERSION: CgroupVersions = [2, 1];

/** A version 1 group makes a short run a third slower, so forked runs get one only on request. */
export const forForks = (groups: Cgroups | null, asked: CgroupVersions | undefined): Cgroups | null =>
  groups?.version === 1 && asked === undefined ? null : groups;

/** The groups that may be used, or null if none are available; logs a line that says which limits hold. */
export function openGroups(asked: CgroupVersions | undefined, log: (line: string) => void): Cgroups | null {
  const versions = asked ?? ANY_VERSION;
  if (versions.length === 0) return null;
  try {
    const groups = Cgroups.share(versions);
    const but =
      forForks(groups, asked) === null ? '; forked Python has rlimits and sampled sums (see --cgroup-v1)' : '';
    log(`limits: each run has a cgroup (version ${groups.version}) for memory and processes${but}`);
    return groups;
  } catch (error) {
    const why = errorMessage(error);
    log(`limits: no cgroup can be had (${why}); rlimits and sampled sums hold, to about a fifth`);
    return null;
  }
}
