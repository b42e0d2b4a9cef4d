// The resource usage of a process and its descendants, from /proc. Linux only; elsewhere there is nothing to read.

import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import type { Usage } from './backend.ts';

const TICK_MS = 10;
const KB = 1024;
/** Longer than any file read here. */
const page = Buffer.allocUnsafe(64 * 1024);

/** Reads a small file of /proc: readFileSync would take 64 kB of new memory for each. @throws {Error} once the process has ended */
export function readProc(path: string): string {
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
export function numberAfter(status: string, name: string): number {
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
