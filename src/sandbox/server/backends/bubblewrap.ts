// The system's interpreters inside bubblewrap: separate user, mount, pid, network, ipc and host-name namespaces, a
// size-limited root in memory, the system read-only, none of the host's files, no capabilities. A run
// leaves no file on the host, so there is nothing to clean up after a crash; --die-with-parent ends every process.
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, closeSync, copyFileSync, existsSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import type { Language } from '../../protocol.ts';
import { temporaryFolder } from '../leftovers.ts';
import { confine } from '../paths.ts';
import { PipePool } from '../pipes.ts';
import {
  type Backend,
  type BackendDeclaration,
  DEFAULT_RUN_LIMITS,
  type Job,
  type Limit,
  type Outcome,
  SandboxFault,
} from './backend.ts';
import { DEFAULT_MEMORY_MB, placeFiles, STDIN_PATH, systemArguments, ulimits } from './bubblewrap-arguments.ts';
import { type Cgroups, forForks, type GroupLimits, openGroups } from './cgroups.ts';
import { findOnPath, type Interpreters, linkFlags, resolveInterpreters } from './interpreters.ts';
import { killWhole } from './kill-whole.ts';
import { lackOfMachine, RUNNERS, temporaryName } from './languages.ts';
import { provesItself, provesItsLimits } from './proof.ts';
import { hasSeccomp, seccompFilter } from './seccomp.ts';
import { BLOCK_FD, feed, INFO_FD, supervise } from './supervised-run.ts';
import { SUPERVISOR } from './supervisor.ts';
import { usageOfTree } from './usage.ts';
import { Warden } from './warden.ts';
import { Zygote, type ZygoteOptions } from './zygote.ts';

/** The memory of the helper processes around a program. */
const OWN_BYTES = 8 * 1024 * 1024;
/** Forked interpreters waiting for a job, 8 MB each. */
const AHEAD = 4;
/** Debian reserves 60000-64999 for packages on request; each running program gets a different one. */
const FIRST_UID = 64100;

export const bubblewrap: BackendDeclaration = {
  name: 'bubblewrap',
  confines: true,
  async open({ log, toolchains = [], cgroups, python }) {
    if (process.platform !== 'linux') throw new Error('it needs Linux');
    const program = findOnPath('bwrap');
    if (program === null) throw new Error('bwrap is not on PATH (the package is called bubblewrap)');
    if (!existsSync('/bin/bash')) throw new Error('there is no /bin/bash');
    const uids = process.getuid?.() === 0 ? new Uids() : null;
    const interpreters = await resolveInterpreters(uids?.first, toolchains, python);
    const groups = openGroups(cgroups, log);
    const backend = new Bubblewrap(program, interpreters, await linkFlags(), uids, groups, forForks(groups, cgroups));
    if (!hasSeccomp()) log(`no filter of system calls: there is no table of them for ${process.arch}`);
    try {
      await provesItsLimits(backend);
    } catch (error) {
      await backend.close();
      throw error;
    }
    try {
      await backend.warm();
    } catch (error) {
      log(`Python is started again for each run: ${error instanceof Error ? error.message : String(error)}`);
    }
    weighMore();
    for (const line of interpreters.notes) log(line);
    return backend;
  },
};

/**
 * A program that starts hundreds of processes leaves the server almost no CPU. Only root may raise its own share.
 */
function weighMore(): void {
  try {
    writeFileSync('/proc/self/autogroup', '-19');
  } catch {
    // Not root, or a kernel that shares by process.
  }
}

/** The process limit is not enforced for root (runtime-facts.md), so each run gets an unprivileged uid. */
class Uids {
  readonly first = FIRST_UID;
  readonly #used = new Set<number>();

  take(): number {
    let uid = this.first;
    while (this.#used.has(uid)) uid++;
    this.#used.add(uid);
    return uid;
  }

  give(uid: number): void {
    this.#used.delete(uid);
  }
}

class Bubblewrap implements Backend {
  readonly name = 'bubblewrap';
  readonly languages = new Set(Object.keys(RUNNERS)) as Backend['languages'];
  readonly limits = new Set<Limit>(['time', 'memory', 'processes', 'disk', 'output', 'files', 'network']);
  readonly #program: string;
  readonly #system: readonly string[];
  readonly #linkFlags: string;
  readonly #interpreters: Interpreters;
  readonly #uids: Uids | null;
  readonly #pipes = new PipePool();
  readonly #running = new Set<ChildProcess>();
  readonly #folder = temporaryFolder();
  readonly #groups: Cgroups | null;
  readonly #warden: Warden;
  readonly #filter: string | null;
  readonly #supervisor: string;
  readonly #zygoteOptions: ZygoteOptions;
  #zygote: Zygote | null = null;

  constructor(
    program: string,
    interpreters: Interpreters,
    flags: string,
    uids: Uids | null,
    groups: Cgroups | null,
    forkGroups: Cgroups | null,
  ) {
    this.#program = program;
    this.#linkFlags = flags;
    this.#interpreters = interpreters;
    this.#uids = uids;
    this.#groups = groups;
    this.#warden = new Warden(this.#folder, groups?.bases);
    chmodSync(this.#folder, 0o711);
    const supervisor = join(this.#folder, 'supervisor');
    copyFileSync('/bin/bash', supervisor);
    this.#supervisor = supervisor;
    this.#filter = hasSeccomp() ? join(this.#folder, 'filter') : null;
    if (this.#filter !== null) writeFileSync(this.#filter, seccompFilter(groups !== null));
    const system = systemArguments(interpreters);
    this.#system = [
      ...[...system, '--remount-ro', '/proc', '--disable-userns', '--cap-drop', 'ALL'],
      ...['--info-fd', String(INFO_FD)],
      // Copied in: mounting the file would reveal the server's folder in /proc/self/mountinfo.
      ...['--perms', '0111', '--ro-bind-data', String(SUPERVISOR_FD), SUPERVISOR_PATH],
    ];
    this.#zygoteOptions = {
      program,
      sandbox: [...system, '--cap-add', 'ALL'],
      uid: uids?.first,
      filter: hasSeccomp() ? seccompFilter(forkGroups !== null) : null,
      groups: forkGroups,
      diskMb: DEFAULT_RUN_LIMITS.diskMb,
      defaultMemoryMb: DEFAULT_MEMORY_MB,
      ahead: AHEAD,
    };
  }

  /** Sandboxes see none of the machine's devices. */
  lacks(language: Language): string | null {
    return lackOfMachine(language, { ...this.#machine(), hasGpu: false });
  }

  #machine() {
    const { jars, nodeFolder } = this.#interpreters;
    return { linkFlags: this.#linkFlags, jars, nodeFolder };
  }

  async execute(job: Job, signal?: AbortSignal): Promise<Outcome> {
    signal?.throwIfAborted();
    const runner = RUNNERS[job.language];
    if (!runner) throw new SandboxFault(`'${job.language}'`);
    if (this.#zygote?.hasEnded) {
      this.#zygote = null;
      void this.warm().catch(() => {}); // until then, or if it fails, each run starts an interpreter
    }
    if (this.#zygote?.takes(job)) return this.#zygote.execute(job, signal);
    const directory = `/tmp/${temporaryName()}`;
    const source = runner.prepare(job.code, {
      fresh: (extension) => `${directory}/${temporaryName()}${extension}`,
      files: [...job.files.keys()],
      ...this.#machine(),
    });
    const files = placeFiles(job, source, directory);
    const fetch = job.fetchFiles.map((name) => confine(name, directory, true));
    const uid = this.#uids?.take();
    const filter = this.#filter === null ? null : openSync(this.#filter, 'r');
    const supervisor = openSync(this.#supervisor, 'r');
    const group = this.#groups?.create() ?? null;
    group?.limit(groupLimits(job));
    const pipes = await Promise.all(Array.from({ length: source.compile === null ? 2 : 4 }, () => this.#pipes.take()));
    try {
      const child = spawn(
        this.#program,
        [
          ...['--size', String(job.limits.diskMb * 1024 * 1024), '--tmpfs', '/'],
          ...this.#system,
          ...['--dir', directory, '--chdir', directory],
          ...files.flatMap(([path], index) => ['--file', String(FIRST_FILE_FD + index), path]),
          ...(group === null ? [] : ['--block-fd', String(BLOCK_FD)]),
          ...(filter === null ? [] : ['--seccomp', String(FILTER_FD)]),
          ...[SUPERVISOR_PATH, '--norc', '-c', SUPERVISOR, 'sandbox', source.compile ?? '', source.run],
          ...[job.stdin ? STDIN_PATH : '/dev/null', ulimits(job, runner.reservesAddresses === true)],
          ...[String(job.limits.fetchBytes), ...fetch],
        ],
        {
          ...(uid !== undefined && { uid, gid: uid }),
          env: {},
          cwd: '/',
          // In a separate process group: on ^C at the server's terminal, current runs finish, as the server announces.
          detached: true,
          stdio: [
            ...(['ignore', 'ignore', 'pipe', 'pipe'] as const),
            ...(pipes.length === 4 ? [] : (['ignore', 'ignore'] as const)),
            ...pipes.map((pipe) => pipe.writeFd),
            'pipe',
            filter ?? 'ignore',
            group === null ? 'ignore' : 'pipe',
            supervisor,
            ...files.map(() => 'pipe' as const),
          ],
        },
      );
      this.#running.add(child);
      job.metered?.(() => (child.pid === undefined ? null : usageOfTree(child.pid)));
      try {
        for (const [index, [, content]] of files.entries())
          feed(child.stdio[FIRST_FILE_FD + index] as Writable, content);
        return await supervise(child, job, pipes, group, signal);
      } finally {
        this.#running.delete(child);
      }
    } finally {
      if (filter !== null) closeSync(filter);
      closeSync(supervisor);
      group?.remove();
      for (const pipe of pipes) pipe.release();
      if (uid !== undefined) this.#uids?.give(uid);
    }
  }

  /** From now on, Python runs are forked from a warmed interpreter. @throws {Error} that says why they cannot be */
  async warm(): Promise<void> {
    const zygote = new Zygote(this.#zygoteOptions);
    try {
      await provesItself((job) => zygote.execute(job));
      this.#zygote = zygote;
    } catch (error) {
      zygote.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#zygote?.close();
    for (const child of this.#running) killWhole(child);
    this.#pipes.close();
    await this.#groups?.close();
    await this.#warden.close();
  }
}

const SUPERVISOR_PATH = '/run/supervisor';
const FILTER_FD = 9;
const SUPERVISOR_FD = 11;
const FIRST_FILE_FD = 12;

const groupLimits = (job: Job): GroupLimits => ({
  memoryBytes: (job.limits.memoryMb ?? DEFAULT_MEMORY_MB) * 1024 * 1024 + OWN_BYTES,
  // bash and the supervisor, beside the program's processes.
  processes: job.limits.processes + 8,
});
