// A lower bound of the pages that processes hold, from a number that the kernel keeps for each: to count shared pages
// once takes it a hundred times as long.

import { closeSync, openSync, readSync } from 'node:fs';
import { numberAfter, type Process } from './usage.ts';

const page = Buffer.allocUnsafe(8 * 1024);

interface Counted {
  /** A descriptor of its status, which never comes to name another process. */
  status: number;
  /** Bytes of its own pages at the last count; null: it was not part of it. */
  before: number | null;
  /** The same at the count under way. */
  next: number | null;
}

/** The pages at the last count, and what its processes added since: never too much, as new processes and shared pages add nothing. */
export class PageGrowth {
  readonly #processes = new Map<number, Counted>();
  #counted = 0;

  /** Called before the shared pages of these processes are counted. */
  begin(processes: readonly Process[]): void {
    for (const one of this.#processes.values()) one.next = null;
    for (const { pid, folder } of processes) {
      const known = this.#processes.get(pid);
      const now = known === undefined ? null : ownBytes(known.status);
      if (known !== undefined && now !== null) {
        known.next = now;
        continue;
      }
      if (known !== undefined) this.#forget(pid, known);
      try {
        const status = openSync(`${folder}/status`, 'r');
        this.#processes.set(pid, { status, before: null, next: ownBytes(status) });
      } catch {
        // It has ended since, or this process has no descriptor left.
      }
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

  /** Bytes. */
  get least(): number {
    let bytes = this.#counted;
    for (const { status, before } of this.#processes.values())
      if (before !== null) bytes += (ownBytes(status) ?? 0) - before;
    return bytes;
  }

  /** Of those that still run: the number of another one may be given again. */
  get pids(): number[] {
    return [...this.#processes].filter(([, { status }]) => ownBytes(status) !== null).map(([pid]) => pid);
  }

  close(): void {
    for (const [pid, one] of this.#processes) this.#forget(pid, one);
  }

  #forget(pid: number, { status }: Counted): void {
    closeSync(status);
    this.#processes.delete(pid);
  }
}

/** The pages of no file that a process has mapped; null once it has ended. */
function ownBytes(status: number): number | null {
  try {
    const text = page.toString('latin1', 0, readSync(status, page, 0, page.length, 0));
    return numberAfter(text, '\nRssAnon:') * 1024;
  } catch {
    return null;
  }
}
