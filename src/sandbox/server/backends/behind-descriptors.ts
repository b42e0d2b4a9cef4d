// Memory that processes hold behind their descriptors: buffers, records of the kernel, locks, sockets. From /proc.

import { readdirSync, readlinkSync } from 'node:fs';
import { open, readdir, readFile } from 'node:fs/promises';
import { itemAt } from '../../../core/lists/at.ts';
import { type Process, readProc } from './usage.ts';

const KB = 1024;

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
