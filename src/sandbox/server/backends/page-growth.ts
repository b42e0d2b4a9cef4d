// A lower bound of the pages that processes hold, from a number that the kernel keeps for each: to count shared pages
// once takes it a hundred times as long.

import { closeSync, openSync, readSync } from 'node:fs';
import { numberAfter, type Process } from './usage.ts';

const page = Buffer.allocUnsafe(8 * 1024);

/** A tree with more processes is not looked at so often. */
const MOST = 64;

interface Counted {
  /** Descriptors of its status and of the list of its children, which never come to name another process. */
  status: number;
  children: number;
  /** Bytes of its own pages at the last count, or when it was first seen. */
  before: number;
  /** The same at the count under way; null: it is not part of it. */
  next: number | null;
}

/** The pages at the last count, and what its processes added since: never too much, as shared pages add nothing, and a new process what it adds once it is seen. */
export class PageGrowth {
  readonly #processes = new Map<number, Counted>();
  #counted = 0;

  /** Called before the shared pages of these processes are counted. */
  begin(processes: readonly Pick<Process, 'pid' | 'folder'>[]): void {
    for (const one of this.#processes.values()) one.next = null;
    for (const { pid, folder } of processes) {
      const known = this.#processes.get(pid);
      const now = known === undefined ? null : ownBytes(known.status);
      if (known !== undefined && now !== null) known.next = now;
      else this.#add(pid, folder);
    }
  }

  #add(pid: number, folder = `/proc/${pid}`): void {
    const known = this.#processes.get(pid);
    if (known !== undefined) this.#forget(pid, known);
    if (this.#processes.size >= MOST) return;
    try {
      const status = openSync(`${folder}/status`, 'r');
      const before = ownBytes(status) ?? 0;
      this.#processes.set(pid, { status, children: childrenFile(folder, pid), before, next: before });
    } catch {
      // It has ended since, or this process has no descriptor left.
    }
  }

  /** Called after the count: what was added meanwhile may be part of it. @param counted bytes of their own pages */
  settle(counted: number): void {
    this.#counted = counted;
    for (const [pid, one] of this.#processes) {
      if (one.next === null) this.#forget(pid, one);
      else one.before = Math.max(one.next, ownBytes(one.status) ?? 0);
    }
  }

  /** Bytes. Processes that were forked meanwhile are watched from now on. */
  least(): number {
    let bytes = this.#counted;
    for (const { status, children, before } of this.#processes.values()) {
      bytes += (ownBytes(status) ?? 0) - before;
      for (const child of procText(children).split(' '))
        if (child !== '' && !this.#processes.has(Number(child))) this.#add(Number(child));
    }
    return bytes;
  }

  /** The processes that still run: the number of an ended one may be given again. */
  get pids(): number[] {
    return [...this.#processes].filter(([, { status }]) => ownBytes(status) !== null).map(([pid]) => pid);
  }

  close(): void {
    for (const [pid, one] of this.#processes) this.#forget(pid, one);
  }

  #forget(pid: number, { status, children }: Counted): void {
    closeSync(status);
    if (children !== NONE) closeSync(children);
    this.#processes.delete(pid);
  }
}

/** No descriptor. */
const NONE = -1;

function childrenFile(folder: string, pid: number): number {
  try {
    return openSync(`${folder}/task/${pid}/children`, 'r');
  } catch {
    return NONE;
  }
}

/** '' once the process has ended. */
function procText(file: number): string {
  if (file === NONE) return '';
  try {
    return page.toString('latin1', 0, readSync(file, page, 0, page.length, 0));
  } catch {
    return '';
  }
}

/** The pages of no file that a process has mapped; null once it has ended. */
function ownBytes(status: number): number | null {
  const text = procText(status);
  return text === '' ? null : numberAfter(text, '\nRssAnon:') * 1024;
}
