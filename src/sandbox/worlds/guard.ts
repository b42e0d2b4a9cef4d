import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, rmdirSync, statfsSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { ANY_VERSION, type Cgroup, Cgroups } from '../server/backends/cgroups.ts';
import { watchGroup, watchRun } from '../server/backends/memory-watch.ts';
import { killAtOnce } from '../server/backends/usage.ts';
import { descendantsOf, isFirst } from './processes.ts';

/** The most that all processes of a world may take together. */
export interface WorldLimits {
  memoryMb: number;
  processes: number;
  /** Limits for everything it writes, and for one file. */
  diskMb: number;
}

const MB = 1024 * 1024;

export const WORLD_LIMITS: WorldLimits = {
  memoryMb: Math.floor(Math.min(4096 * MB, totalmem() / 2) / MB),
  processes: 1024,
  diskMb: 8192,
};

/** A world ends while the disk still has this much: programs beside it need it. */
const DISK_RESERVE_MB = 256;
const LOOK_MS = 100;
/** Names that a world may make: each takes memory of the kernel's. */
const MOST_NAMES = 2_000_000;

/** Holds a world to its limits: by a control group if one can be had, else by rlimits and sums. */
export class WorldGuard {
  readonly #limits: WorldLimits;
  readonly #group: Cgroup | null;
  #stops: (() => void)[] = [];

  constructor(limits: WorldLimits) {
    this.#limits = limits;
    this.#group = openGroups()?.create() ?? null;
    this.#group?.limit({ memoryBytes: limits.memoryMb * MB, processes: limits.processes });
  }

  /**
   * The line of sh that sets what the kernel counts for a process or a user, files in blocks of 512 bytes. Root has no
   * limit of processes there.
   */
  get ulimits(): string {
    const { diskMb, processes } = this.#limits;
    return `ulimit -c 0; ulimit -f ${diskMb * 2048} 2>/dev/null${this.#group === null ? `; ulimit -u ${processes} 2>/dev/null` : ''}`;
  }

  /**
   * Begins with the first process, before it starts another. @param folder where the world writes
   * @param onExcess receives what it took too much of @param hasTerminal the first process ends by itself, once it has given it back
   */
  async hold(
    child: ChildProcess,
    folder: string,
    onExcess: (what: string) => void,
    hasTerminal = false,
  ): Promise<void> {
    const { pid } = child;
    if (pid === undefined) return;
    const { memoryMb, diskMb, processes } = this.#limits;
    const end = (what: string) => {
      onExcess(what);
      // All die with the first process: it is the parent of bubblewrap.
      killAtOnce(hasTerminal ? [...descendantsOf(pid)] : [...descendantsOf(pid), pid]);
    };
    const over = () => end(`more than ${memoryMb} MB of memory`);
    // The first process itself shares the namespaces of this machine, with all of its sockets.
    let inside: number | undefined;
    const insideOf = () => {
      inside ??= [...descendantsOf(pid)].find(isFirst);
      return inside;
    };
    if (this.#group !== null) {
      // A child that has ended already says why by itself.
      await this.#group.addSoon(pid).catch(() => {});
      this.#stops.push(watchGroup(this.#group, insideOf, memoryMb, over));
    } else {
      this.#stops.push(
        watchRun(
          () => [pid],
          memoryMb,
          (pids) => (pids.length > processes ? end(`more than ${processes} processes`) : over()),
          insideOf,
        ),
      );
    }
    this.#stops.push(watchDisk(folder, diskMb, end));
  }

  /** Memory of no process counts, too. */
  get isCounted(): boolean {
    return this.#group !== null;
  }

  /** All of its processes have ended before. */
  close(): void {
    for (const stop of this.#stops) stop();
    this.#stops = [];
    this.#group?.remove();
  }
}

let groups: Cgroups | null | undefined;

/** One folder of groups for all worlds of this program; a later start removes that of a killed one. */
function openGroups(): Cgroups | null {
  if (groups !== undefined) return groups;
  try {
    groups = Cgroups.share(ANY_VERSION);
    process.once('exit', removeGroups);
  } catch {
    groups = null;
  }
  return groups;
}

function removeGroups(): void {
  for (const base of groups?.bases ?? []) {
    try {
      for (const name of readdirSync(base)) if (name.startsWith('run-')) rmdirSync(join(base, name));
      rmdirSync(base);
    } catch {
      // A process in it is about to end.
    }
  }
}

/** Looks at the free space of the whole disk, which costs nothing, and counts only when that has shrunk by the limit. */
function watchDisk(folder: string, limitMb: number, onExcess: (what: string) => void): () => void {
  let from = freeOf(folder);
  let isCounting = false;
  const timer = setInterval(async () => {
    const now = freeOf(folder);
    if (now.mb < DISK_RESERVE_MB && from.mb - now.mb > DISK_RESERVE_MB / 2) {
      onExcess(`the last free space of the disk: ${Math.round(now.mb)} MB are left`);
      return;
    }
    if (isCounting || (from.mb - now.mb < limitMb && from.names - now.names < MOST_NAMES)) return;
    isCounting = true;
    const held = await usedIn(folder);
    isCounting = false;
    if (held.mb > limitMb) onExcess(`more than ${limitMb} MB of disk`);
    else if (held.names > MOST_NAMES) onExcess(`more than ${MOST_NAMES} files`);
    else from = now;
  }, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

interface HeldWorld {
  mb: number;
  names: number;
}

function freeOf(folder: string): HeldWorld {
  try {
    const { bavail, bsize, ffree } = statfsSync(folder);
    return { mb: (bavail * bsize) / MB, names: ffree };
  } catch {
    return { mb: Number.POSITIVE_INFINITY, names: Number.POSITIVE_INFINITY };
  }
}

/** `du` in a separate process: a million names must not block this one. */
async function usedIn(folder: string): Promise<HeldWorld> {
  const [mb, names] = await Promise.all([du(folder, '-sk'), du(folder, '-s', '--inodes')]);
  return { mb: mb / 1024, names };
}

const du = (folder: string, ...flags: readonly string[]): Promise<number> =>
  new Promise((resolve) => {
    const child = spawn('du', [...flags, '-x', '--', folder], { stdio: ['ignore', 'pipe', 'ignore'] });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    child.on('error', () => resolve(0));
    child.on('close', () => resolve(Number.parseInt(text, 10) || 0));
  });
