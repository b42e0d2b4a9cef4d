// The system's own interpreters inside bubblewrap: a user, mount, pid, network, ipc and host-name space of its own, a
// root that lives in memory with a size, the system read-only, nothing of the host's files, no capability. No run
// leaves a file on the host, so there is nothing to clean up after a crash; --die-with-parent ends every process.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  lstatSync,
  openSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, posix } from 'node:path';
import type { Duplex, Readable, Writable } from 'node:stream';
import type { CommandRunResult } from '../../protocol.ts';
import { temporaryFolder } from '../leftovers.ts';
import { LineSplitter } from '../lines.ts';
import { Output } from '../output.ts';
import { confine, confineFile } from '../paths.ts';
import { type Pipe, PipePool } from '../pipes.ts';
import {
  type Backend,
  type BackendDeclaration,
  DEFAULT_RUN_LIMITS,
  type Job,
  type Limit,
  type Outcome,
  SandboxFault,
} from './backend.ts';
import { type Cgroup, Cgroups, type CgroupVersions, type GroupLimits } from './cgroups.ts';
import { findOnPath, type Interpreters, linkFlags, resolveInterpreters } from './interpreters.ts';
import { RUNNERS, type Source, temporaryName } from './languages.ts';
import { watchGroup, watchRun } from './memory-watch.ts';
import { provesItself, provesItsLimits } from './proof.ts';
import { hasSeccomp, seccompFilter } from './seccomp.ts';
import { LONGEST_REPORT, ReportReader, type Step, SUPERVISOR } from './supervisor.ts';
import { startTimer } from './timer.ts';
import { usageOfTree } from './usage.ts';
import { Warden } from './warden.ts';
import { Zygote, type ZygoteOptions } from './zygote.ts';

const DEFAULT_MEMORY_MB = 2048;
const SHARED_MEMORY_MB = 64;
/** The memory of the processes around a program. */
const OWN_BYTES = 8 * 1024 * 1024;
/** Interpreters that are forked and wait for a job, 8 MB each. */
const AHEAD = 4;
/** The supervisor answers a kill in a millisecond; one that does not is not waited for. */
const GRACE_SECONDS = 5;
const MAX_FILES = 1000;
/** The files of /etc that programs need to start and to check certificates; all of them are public. Each costs 0.1 ms a run. */
const ETC = [
  'alternatives',
  'ld.so.cache',
  'ssl/certs',
  'ssl/openssl.cnf',
  'java-11-openjdk',
  'java-17-openjdk',
  'java-21-openjdk',
  'R',
  'php',
  'racket',
  'matplotlibrc',
  'fonts',
  'ldc2.conf',
  'dmd.conf',
].map((name) => `/etc/${name}`);
/** Empty, and the program's own, as on a machine of its own. */
const WRITABLE = ['/mnt', '/home', '/var/tmp'];
/** Debian keeps 60000-64999 for packages that ask; each running program has one of its own. */
const FIRST_UID = 64100;

export const bubblewrap: BackendDeclaration = {
  name: 'bubblewrap',
  confines: true,
  async open({ log, toolchains = [], cgroups = [2], python }) {
    if (process.platform !== 'linux') throw new Error('it needs Linux');
    const program = findOnPath('bwrap');
    if (program === null) throw new Error('bwrap is not on PATH (the package is called bubblewrap)');
    if (!existsSync('/bin/bash')) throw new Error('there is no /bin/bash');
    const uids = process.getuid?.() === 0 ? new Uids() : null;
    const interpreters = await resolveInterpreters(uids?.first, toolchains, python);
    const groups = openGroups(cgroups, log);
    const backend = new Bubblewrap(program, interpreters, await linkFlags(), uids, groups);
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
      log(`Python is started anew for each run: ${error instanceof Error ? error.message : String(error)}`);
    }
    for (const line of interpreters.notes) log(line);
    return backend;
  },
};

const otherVersion = (versions: CgroupVersions): string =>
  !versions.includes(1) && existsSync('/sys/fs/cgroup/memory') && process.getuid?.() === 0
    ? '; --cgroup-v1 uses the groups of version 1, which count exactly and are slower'
    : '';

function openGroups(versions: CgroupVersions, log: (line: string) => void): Cgroups | null {
  if (versions.length === 0) return null;
  try {
    const groups = Cgroups.share(versions);
    log(`limits: each run has a cgroup (version ${groups.version}) for memory and processes`);
    return groups;
  } catch (error) {
    const why = (error as Error).message;
    log(
      `limits: no cgroup can be had (${why}); rlimits and sampled sums hold, to about a fifth${otherVersion(versions)}`,
    );
    return null;
  }
}

/** As root the process limit is not enforced (runtime-facts.md), so each run gets an unprivileged uid. */
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
  readonly #zygoteOptions: ZygoteOptions;
  #zygote: Zygote | null = null;

  constructor(program: string, interpreters: Interpreters, flags: string, uids: Uids | null, groups: Cgroups | null) {
    this.#program = program;
    this.#linkFlags = flags;
    this.#interpreters = interpreters;
    this.#uids = uids;
    this.#groups = groups;
    this.#warden = new Warden(this.#folder, groups?.bases);
    chmodSync(this.#folder, 0o711);
    const supervisor = join(this.#folder, 'supervisor');
    copyFileSync('/bin/bash', supervisor);
    chmodSync(supervisor, 0o111);
    this.#filter = hasSeccomp() ? join(this.#folder, 'filter') : null;
    if (this.#filter !== null) writeFileSync(this.#filter, seccompFilter(groups !== null));
    const system = systemArguments(interpreters);
    this.#system = [
      ...[...system, '--disable-userns', '--cap-drop', 'ALL', '--info-fd', String(INFO_FD)],
      ...['--ro-bind', supervisor, SUPERVISOR_PATH],
    ];
    this.#zygoteOptions = {
      program,
      sandbox: [...system, '--cap-add', 'ALL'],
      uid: uids?.first,
      filter: hasSeccomp() ? seccompFilter(groups !== null) : null,
      groups,
      diskMb: DEFAULT_RUN_LIMITS.diskMb,
      defaultMemoryMb: DEFAULT_MEMORY_MB,
      ahead: AHEAD,
    };
  }

  async execute(job: Job, signal?: AbortSignal): Promise<Outcome> {
    signal?.throwIfAborted();
    const runner = RUNNERS[job.language];
    if (!runner) throw new SandboxFault(`'${job.language}'`);
    if (this.#zygote?.hasEnded) {
      this.#zygote = null;
      void this.warm().catch(() => {}); // until then, and if it never can be, each run starts its own
    }
    if (this.#zygote?.takes(job)) return this.#zygote.execute(job, signal);
    const directory = `/tmp/${temporaryName()}`;
    const source = runner.prepare(job.code, {
      fresh: (extension) => `${directory}/${temporaryName()}${extension}`,
      files: [...job.files.keys()],
      linkFlags: this.#linkFlags,
      jars: this.#interpreters.jars,
      nodeFolder: this.#interpreters.nodeFolder,
    });
    const files = placeFiles(job, source, directory);
    const fetch = job.fetchFiles.map((name) => confine(name, directory, true));
    const uid = this.#uids?.take();
    const filter = this.#filter === null ? null : openSync(this.#filter, 'r');
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
          // A group of its own: ^C at the server's terminal lets what runs end, as the server says.
          detached: true,
          stdio: [
            ...(['ignore', 'ignore', 'pipe', 'pipe'] as const),
            ...(pipes.length === 4 ? [] : (['ignore', 'ignore'] as const)),
            ...pipes.map((pipe) => pipe.writeFd),
            'pipe',
            filter ?? 'ignore',
            group === null ? 'ignore' : 'pipe',
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
      group?.remove();
      for (const pipe of pipes) pipe.release();
      if (uid !== undefined) this.#uids?.give(uid);
    }
  }

  /** Runs of Python are forked from a warmed interpreter from now on. @throws {Error} that says why they cannot be */
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

const STDIN_PATH = '/run/stdin';
const SUPERVISOR_PATH = '/run/supervisor';
const INFO_FD = 8;
const FILTER_FD = 9;
const BLOCK_FD = 10;
const FIRST_FILE_FD = 11;

/** Everything that is the same for each run. */
function systemArguments({ mounts, links, path }: Interpreters): string[] {
  const topLevel = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'].flatMap((name) => {
    const folder = `/${name}`;
    if (!existsSync(folder)) return [];
    if (lstatSync(folder).isSymbolicLink()) return ['--symlink', readlinkSync(folder), folder];
    return ['--ro-bind', folder, folder];
  });
  return [
    ...['--unshare-all', '--unshare-user', '--die-with-parent', '--new-session', '--as-pid-1'],
    ...['--uid', '0', '--gid', '0', '--hostname', 'sandbox'],
    ...['--clearenv', '--setenv', 'PATH', path, '--setenv', 'HOME', '/root', '--setenv', 'LANG', 'C.UTF-8'],
    ...['--ro-bind', '/usr', '/usr', ...topLevel],
    ...ETC.filter(existsSync).flatMap((path) => ['--ro-bind', path, path]),
    ...mounts.flatMap((folder) => ['--ro-bind', folder, folder]),
    ...links.flatMap(([target, link]) => ['--symlink', target, link]),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...['--size', String(SHARED_MEMORY_MB * 1024 * 1024), '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    ...['--dir', '/root', '--dir', '/run', '--dir', '/etc', ...WRITABLE.flatMap((folder) => ['--dir', folder])],
  ];
}

/** Absolute paths and contents, the caller's files before the source, as upstream writes them. */
function placeFiles(job: Job, source: Source, directory: string): [string, Buffer][] {
  const files = [...job.files].map(([name, content]): [string, Buffer] => [
    confineFile(name, directory, true),
    content,
  ]);
  if (files.length > MAX_FILES) throw new SandboxFault(`${files.length} files are too many; the limit is ${MAX_FILES}`);
  if (source.file !== null) files.push([posix.resolve(directory, source.file), Buffer.from(source.text)]);
  if (job.stdin) files.push([STDIN_PATH, Buffer.from(job.stdin)]);
  return files;
}

/** Words for bash's ulimit; memory in kB. */
function ulimits(job: Job, reservesAddresses: boolean): string {
  const memory = (job.limits.memoryMb ?? DEFAULT_MEMORY_MB) * 1024;
  const seconds = Math.ceil(Math.max(job.compileTimeout, job.runTimeout, 0)) + 1;
  return [
    '-c 0',
    `-f ${job.limits.diskMb * 1024}`,
    `-u ${job.limits.processes}`,
    ...(seconds < 2 ** 31 ? [`-t ${seconds}`] : []),
    `-d ${memory}`,
    ...(reservesAddresses ? [] : [`-v ${memory}`]),
  ].join(',');
}

const groupLimits = (job: Job): GroupLimits => ({
  memoryBytes: (job.limits.memoryMb ?? DEFAULT_MEMORY_MB) * 1024 * 1024 + OWN_BYTES,
  // bash and its own, beside the program's.
  processes: job.limits.processes + 8,
});

function feed(stream: Writable, content: Buffer): void {
  stream.on('error', () => {}); // bubblewrap ended early; its own message says why
  stream.end(content);
}

/**
 * Ends a sandbox at once. Its first process dies with bubblewrap only once it has asked for that; one that is killed sooner
 * leaves it waiting for ever to be told its user (bubblewrap.c: child_wait_fd). It still has bubblewrap's group then.
 */
function killWhole(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL'); // all of it has ended, or it has no group yet
  }
}

async function supervise(
  child: ChildProcess,
  job: Job,
  pipes: Pipe[],
  group: Cgroup | null,
  signal?: AbortSignal,
): Promise<Outcome> {
  const { limits } = job;
  const diagnosis = new Output(64 * 1024);
  const outputs = pipes.map(() => new Output(limits.outputBytes));
  const results: Record<Step, CommandRunResult | null> = { compile: null, run: null };
  const parts = new Map<string, Buffer[]>();
  // Node's types know five; all that were asked for are there.
  const stdio = child.stdio as unknown as (Readable | null)[];
  const reports = stdio[3] as Duplex;
  let supervisor: number | null = null;
  let step: Running | null = null;
  let stopTimer = () => {};
  let stopWatch = () => {};
  let fetched = 0;

  /** Ends the step, or, where the supervisor cannot hear it, the whole sandbox. */
  const kill = () => {
    if (supervisor === null) return killWhole(child);
    try {
      process.kill(supervisor, 'SIGUSR1');
    } catch {
      return; // it has just ended
    }
    stopTimer = startTimer(GRACE_SECONDS, () => killWhole(child));
  };
  const expire = () => {
    if (step) step.late = true;
    kill();
  };
  const exited = new Promise<Error | null>((resolve) => {
    child.on('error', resolve);
    child.on('exit', () => resolve(null));
  });
  const abort = () => killWhole(child);
  signal?.addEventListener('abort', abort, { once: true });

  const watch = job.watch;
  const collected = pipes.map((pipe, index) => {
    pipe.release();
    const isRunStdout = index === pipes.length - 2;
    return outputs[index]!.collect(pipe.readable, watch && isRunStdout ? (chunk) => watch(chunk, expire) : undefined);
  });
  const diagnosed = diagnosis.collect(child.stderr!);

  stdio[INFO_FD]!.on('data', (chunk: Buffer) => {
    const pid = /"child-pid": (\d+)/.exec(chunk.toString())?.[1];
    if (pid === undefined) return;
    supervisor = Number(pid);
    if (group === null) return;
    try {
      group.add(supervisor);
    } catch {
      return killWhole(child);
    }
    feed(stdio[BLOCK_FD] as unknown as Writable, Buffer.from('g'));
  });
  const nonce = randomBytes(16).toString('hex');
  const reader = new ReportReader(nonce);
  const onLine = (line: Buffer) => {
    const report = reader.read(line);
    if (report?.kind === 'start') {
      step = { name: report.step, status: KILLED, exited: false, late: false, hungry: false };
      const current = step;
      stopTimer = startTimer(report.step === 'compile' ? job.compileTimeout : job.runTimeout, expire);
      const excess = () => {
        current.hungry = true;
        kill();
      };
      stopWatch = group
        ? watchGroup(group, excess)
        : watchRun(() => supervisor, limits.memoryMb ?? DEFAULT_MEMORY_MB, excess);
    } else if (report?.kind === 'exited' && step) step.exited = true;
    else if (report?.kind === 'end' && step) {
      stopTimer();
      stopWatch();
      step.status = report.status;
      step.hungry ||= group?.killedForMemory ?? false;
      results[step.name] = resultOf(step, report.seconds);
      if (report.step === 'compile') reports.write(step.status === 0 && !step.late ? 'run\n' : 'stop\n');
      step = null;
    } else if (report?.kind === 'file') {
      const name = job.fetchFiles[report.index];
      fetched += report.content.length;
      if (fetched > limits.fetchBytes) killWhole(child);
      else if (name !== undefined) {
        const held = parts.get(name);
        if (held) held.push(report.content);
        else parts.set(name, [report.content]);
      }
    }
  };
  const lines = new LineSplitter(LONGEST_REPORT, onLine, () => killWhole(child));
  const reported = new Promise<void>((resolve) => reports.once('close', resolve));
  reports.on('error', () => {});
  reports.on('data', (chunk: Buffer) => lines.push(chunk));
  reports.write(`${nonce}\n`);

  const failure = await exited;
  stopTimer();
  stopWatch();
  signal?.removeEventListener('abort', abort);
  await Promise.all([...collected, diagnosed, reported]);
  signal?.throwIfAborted();
  if (failure) throw new SandboxFault(`bubblewrap could not be started: ${failure.message}`);
  if (step) results[(step as Running).name] = resultOf(step, 0);
  if (results.compile === null && results.run === null)
    throw new SandboxFault(diagnosis.text().trim() || 'bubblewrap ended');
  if (fetched > limits.fetchBytes)
    throw new SandboxFault(`fetch_files: more than ${limits.fetchBytes} bytes were asked for`);

  const streams = outputs.map((output) => output.text());
  if (results.compile && pipes.length === 4) {
    results.compile.stdout = streams[0]!;
    results.compile.stderr = streams[1]! + (results.compile.stderr ?? '');
  }
  if (results.run) {
    results.run.stdout = streams[pipes.length - 2]!;
    results.run.stderr = streams[pipes.length - 1]! + (results.run.stderr ?? '');
  }
  const files = new Map([...parts].map(([name, content]) => [name, Buffer.concat(content)]));
  return { compile: results.compile, run: results.run, files };
}

/** The state of a step while it runs. */
interface Running {
  name: Step;
  /** As the shell has it: 128 and more for a signal, but also for a program that chose such a code. */
  status: number;
  exited: boolean;
  late: boolean;
  hungry: boolean;
}

const KILLED = 128 + 9;

/** `stderr` holds only what the sandbox itself has to say; the program's own goes before it. */
function resultOf({ status, exited, late, hungry }: Running, seconds: number): CommandRunResult {
  // Signals are negative, as upstream has them.
  const code = exited || status <= 128 ? status : 128 - status;
  return {
    status: late ? 'TimeLimitExceeded' : 'Finished',
    execution_time: seconds,
    return_code: late ? null : code,
    stdout: '',
    stderr: hungry && !late ? '[killed: over the memory limit of the run]\n' : '',
  };
}
