import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What this process and those that it starts take of the machine's memory, the kernel's for them included. */
export class TakenMemory {
  readonly #group: string | null;

  /** Whether what others on the machine do changes no figure. */
  static isOwn(): boolean {
    const taken = new TakenMemory();
    taken.leave();
    return taken.#group !== null;
  }

  /** In a control group of their own, if the system lets us make one; others on the machine change no figure then. */
  constructor() {
    const groups = existsSync(GROUPS) ? readFileSync(GROUPS, 'utf8') : '';
    const own = /^\d+:memory:(.*)$/m.exec(groups)?.[1];
    const group = own === undefined ? null : join('/sys/fs/cgroup/memory', own, `rollout-viewer-taken-${process.pid}`);
    this.#group = group !== null && isJoined(group) ? group : null;
  }

  /** In MB, but for a constant. */
  now(): number {
    if (this.#group === null) return -numberIn('/proc/meminfo', /^MemAvailable: +(\d+)/m) / 1024;
    const of = (name: string) => join(this.#group ?? '', name);
    // Pages of files that are read are given back as soon as anyone wants them.
    const cached = ['inactive', 'active'].map((kind) =>
      numberIn(of('memory.stat'), new RegExp(`^total_${kind}_file (\\d+)`, 'm')),
    );
    const taken = numberIn(of('memory.usage_in_bytes')) + numberIn(of('memory.kmem.tcp.usage_in_bytes'));
    return cached.reduce((left, bytes) => left - bytes, taken) / 2 ** 20;
  }

  /** The most since it was told to forget, as the kernel counts it, files that are read included; as now() where there is no group. */
  most(): number {
    return this.#group === null ? this.now() : numberIn(join(this.#group, MOST)) / 2 ** 20;
  }

  forget(): void {
    if (this.#group !== null) writeFileSync(join(this.#group, MOST), '0');
  }

  leave(): void {
    if (this.#group === null) return;
    writeFileSync(join(dirname(this.#group), 'cgroup.procs'), String(process.pid));
    try {
      rmdirSync(this.#group);
    } catch {
      // A process of a run is just ending; an empty group costs nothing.
    }
  }
}

function isJoined(group: string): boolean {
  try {
    mkdirSync(group, { recursive: true });
    writeFileSync(join(group, 'cgroup.procs'), String(process.pid));
    return true;
  } catch {
    return false;
  }
}

const GROUPS = '/proc/self/cgroup';
const MOST = 'memory.max_usage_in_bytes';

const numberIn = (path: string, pattern = /(\d+)/): number =>
  Number(pattern.exec(readFileSync(path, 'utf8'))?.[1] ?? 0);
