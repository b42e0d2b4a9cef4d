// Watches the memory of a whole run if no cgroup counts it. rlimits apply to one process at a time, and not to shared
// memory, so many small processes could still exhaust the machine; this sums what they hold, and what the kernel holds for them.
import { statfsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { BehindDescriptors, locksOf, socketsOf } from './behind-descriptors.ts';
import type { Cgroup } from './cgroups.ts';
import { forAreas, forShared, mostForAreas, mostShared, sharedOnce } from './mapped-memory.ts';
import { PageGrowth } from './page-growth.ts';
import { type Process, processesOf } from './usage.ts';

/** Two processors fill no more per millisecond: a run is checked before it could have reached its limit. */
const BYTES_A_MS = 8 * 1024 * 1024;
const LONGEST_MS = 50;
const SHORTEST_MS = 2;
/** All checks together take at most this share of the thread that answers /v1/ping: 1 in 5. */
const SHARE = 5;
/** A tree with more processes, or with this many times its limit, is not asked which pages it shares: that takes too long. */
const MOST_PROCESSES = 64;
const MOST_TIMES = 16;

/** A full socket buffer of default size; a tmpfs name with all that the kernel keeps for it. */
const SOCKET_BYTES = 232 * 1024;
const INODE_BYTES = 1024;
/** TCP enlarges its buffers by itself. Fewer sockets than this cannot hold much. */
const FEW_TCP = 8;
/** The kernel's bookkeeping around a queue's content. */
const QUEUE_OVERHEAD = 1.3;

/**
 * Checks the processes and their descendants until stopped.
 * @param onExcess receives all of them
 * @param insideOf the process whose namespaces are the run's: what the kernel holds for them counts too. By default the first one
 */
export function watchRun(
  pidsOf: () => readonly number[],
  limitMb: number,
  onExcess: (pids: readonly number[]) => void,
  insideOf: () => number | undefined = () => pidsOf()[0],
): () => void {
  const queues = new TcpQueues();
  const locks = new Locks();
  const descriptors = new BehindDescriptors();
  return watch(
    () => {
      const processes = [...processesOf(pidsOf())];
      const inside = insideOf();
      const first = processes.find(({ pid }) => pid === inside)?.pid;
      return {
        processes,
        own: processes.reduce((sum, { bytes }) => sum + bytes, 0),
        kernel: descriptors.of(processes) + locks.of(processes) + (first === undefined ? 0 : inSpacesOf(first, queues)),
      };
    },
    limitMb,
    onExcess,
  );
}

/** The same for a single process of the host. */
export function watchProcess(pid: number, limitMb: number, onExcess: () => void): () => void {
  return watch(
    () => {
      const processes = [...processesOf([pid])];
      return { processes, alone: true, own: processes.reduce((sum, { bytes }) => sum + bytes, 0), kernel: 0 };
    },
    limitMb,
    onExcess,
  );
}

interface HeldMemory {
  processes: Process[];
  /** Their pages are not shared. */
  alone?: boolean;
  own: number;
  kernel: number;
}

let freeAt = 0;

/** Pages that came between two numbers of the kernel are not held against a program. */
const INEXACT_BYTES = 2 * 1024 * 1024;

function watch(held: () => HeldMemory, limitMb: number, onExcess: (pids: readonly number[]) => void): () => void {
  const limit = limitMb * 1024 * 1024;
  let isOver = false;
  const growth = new PageGrowth();
  let glance: NodeJS.Timeout | undefined;
  /** Between two counts of shared pages, which take some 20 ms each. */
  const glanceAt = (): void => {
    const began = performance.now();
    const left = limit - growth.least();
    const pause = Math.max(SHORTEST_MS, left / BYTES_A_MS, SHARE * (performance.now() - began));
    if (left < -INEXACT_BYTES) excess(growth.pids);
    else glance = setTimeout(glanceAt, Math.min(LONGEST_MS, pause));
  };
  const stop = () => {
    isOver = true;
    clearTimeout(timer);
    clearTimeout(glance);
    growth.close();
  };
  const excess = (pids: readonly number[]) => {
    stop();
    onExcess(pids);
  };
  const look = async () => {
    const began = performance.now();
    if (began < freeAt) {
      timer = setTimeout(look, freeAt - began);
      return;
    }
    const { processes, alone = false, own, kernel } = held();
    freeAt = began + SHARE * (performance.now() - began);
    const pids = processes.map(({ pid }) => pid);
    let bytes = own + kernel;
    if (bytes <= limit && bytes + mostForAreas(processes) > limit) bytes += await forAreas(processes, limit - bytes);
    const shared = bytes <= limit && bytes + mostShared(processes) > limit;
    const letGo = shared ? forShared(processes, limit - bytes) : 0;
    if (shared) freeAt = began + SHARE * (performance.now() - began);
    bytes += letGo;
    if (isOver) return;
    // A process with tens of thousands of areas is killed before its exact page count is known.
    const isScattered = bytes - letGo - own - kernel > limit / 2;
    const mayShare =
      !alone && !isScattered && pids.length > 1 && pids.length <= MOST_PROCESSES && bytes < MOST_TIMES * limit;
    if (bytes > limit && mayShare) {
      clearTimeout(glance);
      growth.begin(processes);
      glanceAt();
      const once = await sharedOnce(processes);
      if (isOver) return;
      growth.settle(once.own);
      bytes += once.own + once.others - own;
    } else clearTimeout(glance);
    if (isOver) return;
    if (bytes > limit) return excess(pids);
    const pause = Math.max(SHORTEST_MS, (limit - bytes) / BYTES_A_MS, performance.now() - began);
    timer = setTimeout(look, Math.min(LONGEST_MS, pause));
  };
  let timer = setTimeout(look, Math.min(LONGEST_MS, limit / BYTES_A_MS));
  return stop;
}

/** The type of file systems whose files are in memory. */
const TMPFS = 0x01021994;

/** Roughly what the kernel holds for a process's namespaces: socket buffers, and files in memory. */
function inSpacesOf(pid: number, queues: TcpQueues): number {
  let bytes = 0;
  try {
    const { all, tcp } = socketsOf(pid);
    bytes += all * SOCKET_BYTES + (tcp > FEW_TCP ? queues.of(pid) : 0);
  } catch {
    // It has ended since.
  }
  // The program cannot move a mount.
  for (const place of ['', 'dev/shm']) {
    try {
      const { type, blocks, bfree, bsize, files, ffree } = statfsSync(`/proc/${pid}/root/${place}`);
      if (type !== TMPFS) continue;
      bytes += (blocks - bfree) * bsize + (files - ffree) * INODE_BYTES;
    } catch {
      // Only a process that may trace it can follow this; otherwise its tmpfs is bounded only by its size.
    }
  }
  return bytes;
}

/** The bytes in a run's TCP queues. The kernel takes 10 ms to list them, so they are read in the background. */
class TcpQueues {
  #bytes = 0;
  #reading = false;

  of(pid: number): number {
    if (!this.#reading) void this.#read(pid);
    return this.#bytes;
  }

  async #read(pid: number): Promise<void> {
    this.#reading = true;
    try {
      const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/${pid}/net/${name}`, 'latin1')));
      let bytes = 0;
      for (const [, sent = '', received = ''] of tables.join('').matchAll(/ ([0-9A-F]{8}):([0-9A-F]{8}) /g))
        bytes += Number.parseInt(sent, 16) + Number.parseInt(received, 16);
      this.#bytes = bytes * QUEUE_OVERHEAD;
    } catch {
      // It has ended since.
    } finally {
      this.#reading = false;
    }
  }
}

/** The size of a file-range lock, and how old a count may be: the kernel takes longer to place a lock than to count them. */
const LOCK_BYTES = 256;
const LOCKS_MS = 1000;

/** The file locks that a run holds, counted in the background. */
class Locks {
  #bytes = 0;
  #nextAt = performance.now() + LOCKS_MS;

  of(processes: readonly Process[]): number {
    if (performance.now() > this.#nextAt) void this.#count(processes);
    return this.#bytes;
  }

  async #count(processes: readonly Process[]): Promise<void> {
    this.#nextAt = Number.POSITIVE_INFINITY;
    let locks = 0;
    for (const process of processes) locks += await locksOf(process);
    this.#bytes = locks * LOCK_BYTES;
    this.#nextAt = performance.now() + LOCKS_MS;
  }
}

const GROUP_INTERVAL_MS = 100;

/**
 * In a cgroup the kernel kills one process of a run that exceeds its limit; this reports it, so the rest can be ended.
 * @param pidOf a process in the run's network namespace: version 1 does not count socket memory
 */
export function watchGroup(
  group: Cgroup,
  pidOf: () => number | undefined,
  limitMb: number,
  onExcess: () => void,
): () => void {
  const timer = setInterval(() => {
    const isOver = !group.countsSockets && group.bytes + socketBytes(pidOf()) > limitMb * 1024 * 1024;
    if (!isOver && !group.killedForMemory) return;
    clearInterval(timer);
    onExcess();
  }, GROUP_INTERVAL_MS);
  return () => clearInterval(timer);
}

function socketBytes(pid: number | undefined): number {
  try {
    return pid === undefined ? 0 : socketsOf(pid).all * SOCKET_BYTES;
  } catch {
    return 0; // it has ended since
  }
}
