// The resource usage of a process and its descendants, from /proc. Linux only; elsewhere there is nothing to read.

import { closeSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs';
import { open, readdir, readFile } from 'node:fs/promises';
import { itemAt } from '../../../core/lists/at.ts';
import { errorCode } from '../../../core/text/thrown.ts';
import type { Usage } from './backend.ts';

const TICK_MS = 10;
const KB = 1024;
/** Longer than any file read here. */
const page = Buffer.allocUnsafe(64 * 1024);

/** Reads a small file of /proc: readFileSync would take 64 kB of new memory for each. @throws {Error} once the process has ended */
function readProc(path: string): string {
  const file = openSync(path, 'r');
  try {
    return page.toString('latin1', 0, readSync(file, page, 0, page.length, 0));
  } finally {
    closeSync(file);
  }
}

/** The usage of these processes and their descendants; null once they have ended. */
export function usageOfTree(...roots: readonly number[]): Usage | null {
  const usage: Usage = { cpuMs: 0, bytes: 0, processes: 0, pids: [] };
  for (const { pid, bytes } of processesOf(roots)) {
    try {
      // After the name, which may hold anything, in parentheses.
      const stat = readProc(`/proc/${pid}/stat`);
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 15);
      // utime and stime, and those of children it has waited for.
      for (const index of [11, 12, 13, 14]) usage.cpuMs += Number(fields[index]) * TICK_MS;
      usage.bytes += bytes;
      usage.processes++;
      usage.pids.push(pid);
    } catch {
      // It has ended since.
    }
  }
  return usage.processes === 0 ? null : usage;
}

export interface Process {
  pid: number;
  /** Its folder in /proc, or that of a living thread if the first one has ended: the kernel shows nothing for that one. */
  folder: string;
  /** Its private pages, including swapped ones, shared memory it has touched, and its page tables. */
  bytes: number;
  /** The shared part of it, and the most it may have mapped as shared: pages it has released are still held. */
  shared: number;
  mostShared: number;
  /** The capacity of its descriptor table. */
  descriptors: number;
  /** The addresses that it has reserved. */
  reserved: number;
}

/** These processes and their descendants. */
export function* processesOf(roots: readonly number[]): Generator<Process> {
  const left = [...roots];
  for (let pid = left.pop(); pid !== undefined; pid = left.pop()) {
    let found: Process;
    try {
      let folder = `/proc/${pid}`;
      let status = readProc(`${folder}/status`);
      const threads = threadsOf(pid, numberAfter(status, '\nThreads:'));
      for (let index = 0; !status.includes('\nVmSize:') && threads.length > 1 && index < threads.length; index++) {
        folder = `/proc/${pid}/task/${threads[index]}`;
        status = processStatus(folder);
      }
      const size = numberAfter(status, '\nVmSize:');
      found = {
        pid,
        folder,
        bytes: statusKilobytes(status, HELD) * KB,
        shared: numberAfter(status, '\nRssShmem:') * KB,
        mostShared: Math.max(0, size - statusKilobytes(status, NOT_SHARED)) * KB,
        descriptors: numberAfter(status, '\nFDSize:'),
        reserved: size * KB,
      };
      // A child is listed under the thread that forked it.
      for (const thread of threads)
        for (const child of readProc(`/proc/${pid}/task/${thread}/children`).split(' '))
          if (child !== '') left.push(Number(child));
    } catch {
      continue; // it has ended since
    }
    yield found;
  }
}

const HELD = ['\nRssAnon:', '\nRssShmem:', '\nVmSwap:', '\nVmPTE:', '\nHugetlbPages:'];
/** Areas written only by their process, its stack and its code. */
const NOT_SHARED = ['\nVmData:', '\nVmStk:', '\nVmExe:', '\nVmLib:'];
const statusKilobytes = (status: string, names: readonly string[]): number =>
  names.reduce((sum, name) => sum + numberAfter(status, name), 0);

/** '' once the thread has ended. */
function processStatus(folder: string): string {
  try {
    return readProc(`${folder}/status`);
  } catch {
    return '';
  }
}

/** 0 if an ending process no longer has it. */
function numberAfter(status: string, name: string): number {
  const at = status.indexOf(name);
  return at < 0 ? 0 : Number.parseInt(status.slice(at + name.length, at + name.length + 24), 10);
}

const threadsOf = (pid: number, count: number): (string | number)[] =>
  count === 1 ? [pid] : readdirSync(`/proc/${pid}/task`);

/** Kills at once: any other process asked to do it must first get a CPU. */
export function killAtOnce(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended since.
    }
  }
}

/** The memory of the processes, with shared pages counted once. The kernel takes long, so this runs in other threads. */
export async function sharedOnce(processes: readonly Process[]): Promise<number> {
  const buffer = Buffer.allocUnsafe(4096);
  let kB = 0;
  for (const { pid, folder, bytes } of processes) {
    // The kernel sums up through the first thread only.
    if (folder !== `/proc/${pid}`) {
      kB += bytes / KB;
      continue;
    }
    try {
      const file = await open(`${folder}/smaps_rollup`);
      try {
        const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
        const rollup = buffer.toString('latin1', 0, bytesRead);
        kB += numberAfter(rollup, '\nPss_Anon:') + numberAfter(rollup, '\nPss_Shmem:');
      } finally {
        await file.close();
      }
    } catch (error) {
      if (errorCode(error) === 'EACCES') return Number.POSITIVE_INFINITY;
    }
  }
  return kB * 1024;
}

/** The size of the kernel's record of an address area, the most areas a process may have, the shortest area, and how much of a list is read. */
const AREA_BYTES = 270;
const MOST_AREAS = 65_530;
const SHORTEST_AREA = 4 * KB;
const LONG_LIST = 400 * KB;

/** Upper bound of kernel memory for the areas of these processes. */
export const mostForAreas = (processes: readonly Process[]): number =>
  processes.reduce((sum, { reserved }) => sum + mostAreasOf(reserved) * AREA_BYTES, 0);
const mostAreasOf = (reserved: number): number => Math.min(MOST_AREAS, reserved / SHORTEST_AREA);

/** Upper bound of the shared memory of these processes beyond the part in `bytes`. */
export const mostShared = (processes: readonly Process[]): number =>
  processes.reduce((sum, process) => sum + Math.max(0, process.mostShared - process.shared), 0);

const SHARED_AREA = /^([0-9a-f]+)-([0-9a-f]+) ...s [0-9a-f]+ (\S+ \d+) +\/dev\/zero \(deleted\)$/gm;

/**
 * The anonymous shared memory that these processes have mapped, beyond the part in `bytes`, each piece once, counted
 * until it exceeds `enough`. For a long list the upper bound is used.
 */
export function forShared(processes: readonly Process[], enough: number): number {
  const pieces = new Map<string, number>();
  const seen = processes.reduce((sum, { shared }) => sum + shared, 0);
  let total = 0;
  for (const { folder, mostShared: most } of processes) {
    if (total - seen > enough) break;
    const maps = fileStart(`${folder}/maps`);
    if (maps === null) continue;
    if (maps.length >= LONG_LIST) {
      total += most;
      continue;
    }
    const own = new Map<string, number>();
    for (const [, from = '', to = '', piece = ''] of maps.matchAll(SHARED_AREA))
      own.set(piece, (own.get(piece) ?? 0) + Number.parseInt(to, 16) - Number.parseInt(from, 16));
    for (const [piece, size] of own) {
      total += Math.max(0, size - (pieces.get(piece) ?? 0));
      pieces.set(piece, Math.max(size, pieces.get(piece) ?? 0));
    }
  }
  return Math.max(0, total - seen);
}

const list = Buffer.allocUnsafe(LONG_LIST);

/** As much of a /proc file as makes a long list; null if its process has ended, or is out of reach. Synchronous: a run fills its memory meanwhile. */
function fileStart(path: string): string | null {
  try {
    const file = openSync(path, 'r');
    try {
      let length = 0;
      for (let read = -1; read !== 0 && length < LONG_LIST; length += read)
        read = readSync(file, list, length, LONG_LIST - length, null);
      return list.toString('latin1', 0, length);
    } finally {
      closeSync(file);
    }
  } catch {
    return null;
  }
}

/**
 * Kernel memory for the areas of these processes, counted until it exceeds `enough`. A long list is not read to its end, which would take 30 ms: the upper bound is
 * used. The lists of children with the same reservations as another process are not read either.
 */
export async function forAreas(processes: readonly Process[], enough: number): Promise<number> {
  const buffer = Buffer.allocUnsafe(16 * KB);
  const known = new Map<number, number>();
  let areas = 0;
  for (const { folder, reserved } of processes) {
    if (areas * AREA_BYTES > enough) break;
    areas += known.get(reserved) ?? 0;
    if (known.has(reserved)) continue;
    try {
      const file = await open(`${folder}/maps`);
      try {
        let [lines, length] = [0, 0];
        for (;;) {
          const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
          if (bytesRead === 0) break;
          for (let at = buffer.indexOf(10); at >= 0 && at < bytesRead; at = buffer.indexOf(10, at + 1)) lines++;
          length += bytesRead;
          if (length < LONG_LIST) continue;
          lines = mostAreasOf(reserved);
          break;
        }
        known.set(reserved, lines);
        areas += lines;
      } finally {
        await file.close();
      }
    } catch {
      // It has ended since, or is out of reach.
    }
  }
  return areas * AREA_BYTES;
}

/** The bytes that a descriptor may represent, by its target: the buffers of a pipe, of a terminal, the kernel's record. */
const PIPE_BYTES = 8 * KB;
const TERMINAL_BYTES = 128 * KB;
const HANDLE_BYTES = KB;
/** A file of /proc keeps a page or two of what was read of it, and its name does not reveal that it is one. */
const FILE_BYTES = 6 * KB;
/** Each descriptor in each set that waits for it, under its number, which the entry keeps when the number is closed. */
const WAIT_BYTES = 256;
/** Descriptors examined in one go, 2 µs each; the others come later. */
const A_LOOK = 1024;

/** The kernel's memory behind the descriptors of a tree of processes. */
export class BehindDescriptors {
  /** By process, the least recently examined first. */
  #known = new Map<number, number>();
  readonly #sets = new Sets();

  of(processes: readonly Process[]): number {
    const known = new Map<number, number>();
    const found = new Map(processes.map((process) => [process.pid, process]));
    const sets: string[] = [];
    const order = [...[...found.keys()].filter((pid) => !this.#known.has(pid)), ...this.#known.keys()];
    const later: [pid: number, bytes: number][] = [];
    let left = A_LOOK;
    for (const pid of order) {
      const process = found.get(pid);
      if (process === undefined) continue;
      if (left > 0) {
        const { bytes, names } = behind(process.folder, sets);
        known.set(pid, bytes);
        left -= names + 1;
      } else later.push([pid, this.#known.get(pid) ?? process.descriptors * HANDLE_BYTES]);
    }
    this.#known = new Map([...later, ...known]);
    return [...this.#known.values()].reduce((sum, bytes) => sum + bytes, 0) + this.#sets.of(sets);
  }
}

const SETS_MS = 20;
/** A process cannot have this many descriptors: more wait under closed numbers, without end. */
const MOST_WAITING = 16_384;

/** The descriptors that epoll sets wait for, counted in the background: the kernel prints a line for each. */
class Sets {
  #bytes = 0;
  #nextAt = 0;

  /** @param paths the paths of their lists */
  of(paths: readonly string[]): number {
    if (performance.now() > this.#nextAt && paths.length > 0) void this.#count(paths);
    return this.#bytes;
  }

  async #count(paths: readonly string[]): Promise<void> {
    this.#nextAt = Number.POSITIVE_INFINITY;
    const began = performance.now();
    let items = 0;
    for (const path of new Set(paths)) {
      const lines = await lineCount(path);
      items += lines > MOST_WAITING ? Number.POSITIVE_INFINITY : lines;
    }
    this.#bytes = items * WAIT_BYTES;
    const now = performance.now();
    this.#nextAt = now + Math.max(SETS_MS, now - began);
  }
}

async function lineCount(path: string): Promise<number> {
  let lines = 0;
  try {
    const file = await open(path);
    try {
      const buffer = Buffer.allocUnsafe(256 * KB);
      for (;;) {
        const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
        if (bytesRead === 0 || lines > MOST_WAITING) break;
        for (let at = buffer.indexOf(10); at >= 0 && at < bytesRead; at = buffer.indexOf(10, at + 1)) lines++;
      }
    } finally {
      await file.close();
    }
  } catch {
    // It has ended since, or is out of reach.
  }
  return lines;
}

/** @param lists receives the paths that list what each set of descriptors waits for */
function behind(folder: string, lists: string[]): { bytes: number; names: number } {
  let [bytes, sets, others] = [0, 0, 0];
  try {
    for (const name of readdirSync(`${folder}/fd`)) {
      const to = readlinkSync(`${folder}/fd/${name}`);
      bytes += bytesBehind(to);
      if (to === 'anon_inode:[eventpoll]') {
        sets++;
        lists.push(`${folder}/fdinfo/${name}`);
      } else others++;
    }
  } catch {
    // It has ended since, or is out of reach.
  }
  return { bytes, names: sets + others };
}

function bytesBehind(to: string): number {
  if (to.startsWith('pipe:')) return PIPE_BYTES;
  if (to === '/dev/ptmx' || to === '/ptmx') return TERMINAL_BYTES;
  return to.startsWith('/') ? FILE_BYTES : HANDLE_BYTES;
}

/** The file locks that a process holds, from its descriptors. */
export async function locksOf({ folder }: Pick<Process, 'folder'>): Promise<number> {
  let locks = 0;
  try {
    for (const name of await readdir(`${folder}/fdinfo`))
      locks += (await readFile(`${folder}/fdinfo/${name}`, 'latin1')).split('\nlock:').length - 1;
  } catch {
    // It has ended since, or is out of reach.
  }
  return locks;
}

/** The sockets in a process's network namespace, and the TCP ones among them. */
export function socketsOf(pid: number): { all: number; tcp: number } {
  const texts = [readProc(`/proc/${pid}/net/sockstat`), readProc(`/proc/${pid}/net/sockstat6`)];
  const tcp = texts.reduce((sum, text) => sum + Number(/^TCP6?: inuse (\d+)/m.exec(text)?.[1] ?? 0), 0);
  return { all: Number(/^sockets: used (\d+)/.exec(itemAt(texts, 0))?.[1] ?? 0), tcp };
}

export function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readProc(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
    );
  } catch {
    return []; // it has ended since
  }
}

/** Its number in the parent process namespace. */
export function ownPid(pid: number): number {
  try {
    return Number(
      /^NSpid:\s+(.*)$/m
        .exec(readProc(`/proc/${pid}/status`))?.[1]
        ?.split(/\s+/)
        .at(-2),
    );
  } catch {
    return 0;
  }
}
