// Runs of Python forked from a warmed interpreter. Slots are forked ahead, so a run finds its namespaces, its root and
// its locks in place; what it is given goes straight to its own process, and what it says comes straight from there.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { CommandRunResult } from '../../protocol.ts';
import { LineSplitter } from '../lines.ts';
import { Output } from '../output.ts';
import { confine } from '../paths.ts';
import { type Job, type Outcome, SandboxFault } from './backend.ts';
import type { Cgroup, Cgroups } from './cgroups.ts';
import { temporaryName } from './languages.ts';
import { watchGroup, watchRun } from './memory-watch.ts';
import { startTimer } from './timer.ts';
import { usageOfTree } from './usage.ts';
import { HEAD, ZYGOTE } from './zygote-python.ts';

/** A program that the kernel does not end at once is not waited for. */
const GRACE_SECONDS = 5;
/** A slot's init process, and what it shares with the program. */
const OWN_BYTES = 8 * 1024 * 1024;
const OWN_PROCESSES = 4;
/** The capacity of a pipe: a job below it is written at once. */
const PIPE_BYTES = 65_536;
/** RLIMIT_* of Linux. */
const RESOURCE = { cpu: 0, fsize: 1, data: 2, core: 4, nproc: 6, as: 9 };
/** The folders in which a file of a job may lie; elsewhere the system's folders are mounted. */
const WRITABLE = /^\/(?:tmp|mnt|home|root|srv|opt|var\/tmp)\//;

export interface ZygoteOptions {
  program: string;
  /** Arguments of bubblewrap for the zygote's own sandbox. */
  sandbox: readonly string[];
  uid: number | undefined;
  filter: Buffer | null;
  groups: Cgroups | null;
  diskMb: number;
  defaultMemoryMb: number;
  /** Slots that wait. */
  ahead: number;
}

interface Slot {
  number: number;
  /** In the zygote's process namespace. */
  pid: number;
  job: number;
  out: number;
  err: number;
  report: number;
  group: Cgroup | null;
}

const CONTROL_FD = 3;
const INFO_FD = 4;
const SOURCE_FD = 5;

export class Zygote {
  readonly #options: ZygoteOptions;
  readonly #directory = `/tmp/${temporaryName()}`;
  readonly #path = `${this.#directory}/${temporaryName()}.py`;
  readonly #child: ChildProcess;
  readonly #control: Duplex;
  readonly #free: Slot[] = [];
  readonly #waiting: { resolve: (slot: Slot) => void; reject: (error: Error) => void }[] = [];
  readonly #said = new Output(16 * 1024);
  /** On the host. */
  #pid: number | null = null;
  #asked = 0;
  #next = 0;
  #ended: Error | null = null;

  constructor(options: ZygoteOptions) {
    this.#options = options;
    const { program, sandbox, uid } = options;
    this.#child = spawn(
      program,
      [
        ...['--size', String(64 * 1024 * 1024), '--tmpfs', '/', ...sandbox, '--info-fd', String(INFO_FD)],
        ...['--dir', this.#directory, '--file', String(SOURCE_FD), this.#path, '--chdir', this.#directory],
        ...['python', this.#path],
      ],
      {
        ...(uid !== undefined && { uid, gid: uid }),
        env: {},
        cwd: '/',
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
      },
    );
    const stdio = this.#child.stdio as unknown as (Duplex | null)[];
    this.#control = stdio[CONTROL_FD]!;
    stdio[SOURCE_FD]!.on('error', () => {}).end(ZYGOTE);
    stdio[INFO_FD]!.on('data', (chunk: Buffer) => {
      const pid = /"child-pid": (\d+)/.exec(chunk.toString())?.[1];
      if (pid !== undefined) this.#pid = Number(pid);
    });
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) void this.#said.collect(stream);
    const lines = new LineSplitter(4096, (line) => this.#hear(line.toString()));
    this.#control.on('data', (chunk: Buffer) => lines.push(chunk)).on('error', () => {});
    this.#child.on('error', (error) => this.#end(error));
    this.#child.on('exit', () => this.#end(new Error(this.#said.text().trim() || 'the interpreter ended')));
    this.#tell(options.filter?.toString('hex') ?? '');
    for (const stream of [this.#child, ...stdio]) (stream as { unref?(): void } | null)?.unref?.();
    this.#fill();
  }

  /** It has ended, and serves no more. */
  get hasEnded(): boolean {
    return this.#ended !== null;
  }

  /** A job that finds everything it needs here. */
  takes(job: Job): boolean {
    const absolute = [...job.files.keys(), ...job.fetchFiles].filter((name) => name.startsWith('/'));
    return (
      job.language === 'python' &&
      job.limits.diskMb === this.#options.diskMb &&
      absolute.every((name) => WRITABLE.test(confine(name, this.#directory, true)))
    );
  }

  async execute(job: Job, signal?: AbortSignal): Promise<Outcome> {
    const files = [...job.files].map(([name, content]): [string, Buffer] => [
      confine(name, this.#directory, true),
      content,
    ]);
    const fetch = job.fetchFiles.map((name) => confine(name, this.#directory, true));
    files.push([this.#path, asBuffer(job.code)]);
    const slot = await this.#take(signal);
    return new SlotRun(slot, job, fetch, {
      stop: () => this.#tell(`stop ${slot.pid}`),
      kill: () => this.#tell(`kill ${slot.pid}`),
      hostPid: () => this.#hostPid(slot),
      memoryMb: job.limits.memoryMb ?? this.#options.defaultMemoryMb,
    }).perform(wordsOf(job, files, this.#options.defaultMemoryMb), signal);
  }

  close(): void {
    this.#end(new Error('the sandbox is closed'));
    killWhole(this.#child);
  }

  #tell(line: string): void {
    if (this.#ended === null) this.#control.write(`${line}\n`);
  }

  #fill(): void {
    const wanted = this.#options.ahead + this.#waiting.length;
    while (this.#free.length + this.#asked < wanted) {
      this.#asked++;
      this.#tell(`more ${this.#next++} ${this.#options.diskMb * 1024 * 1024}`);
    }
  }

  async #take(signal?: AbortSignal): Promise<Slot> {
    if (this.#ended) throw this.#ended;
    const ready = this.#free.shift();
    if (ready) {
      this.#fill();
      return ready;
    }
    const waited = new Promise<Slot>((resolve, reject) => this.#waiting.push({ resolve, reject }));
    this.#fill();
    this.#child.ref();
    const slot = await waited;
    this.#child.unref();
    if (signal?.aborted) {
      this.#free.push(slot);
      signal.throwIfAborted();
    }
    return slot;
  }

  #hear(line: string): void {
    const [word, ...values] = line.split(' ');
    if (word === 'failed') this.#end(new Error(line));
    if (word === 'slot') this.#open(values.map(Number)).catch((error: Error) => this.#end(error));
  }

  async #open([number = 0, pid = 0, ...theirs]: number[]): Promise<void> {
    const open = (fd: number, flags: number) => openSync(`/proc/${this.#pid}/fd/${fd}`, flags | constants.O_NONBLOCK);
    const [job, out, err, report] = theirs.map((fd, index) =>
      open(fd, index === 0 ? constants.O_WRONLY : constants.O_RDONLY),
    ) as [number, number, number, number];
    this.#tell(`got ${number}`);
    const group = this.#options.groups?.create() ?? null;
    const slot: Slot = { number, pid, job, out, err, report, group };
    if (group !== null) {
      const host = this.#hostPid(slot);
      if (host === null) throw new Error('a slot has no process');
      await group.addSoon(host);
    }
    // The slot forks the program's process only now: it is born in its group.
    writeSync(job, 'g');
    this.#asked--;
    const waiting = this.#waiting.shift();
    if (waiting) waiting.resolve(slot);
    else this.#free.push(slot);
  }

  /** Looked for when it is first needed: most runs have ended by then. */
  #hostPid({ pid }: Slot): number | null {
    try {
      const children = readFileSync(`/proc/${this.#pid}/task/${this.#pid}/children`, 'latin1').trim().split(' ');
      for (const child of children.reverse()) {
        const spaces = /^NSpid:\s+(.*)$/m.exec(readFileSync(`/proc/${child}/status`, 'latin1'))?.[1]?.split(/\s+/);
        if (spaces?.at(-2) === String(pid)) return Number(child);
      }
    } catch {
      // It has ended since.
    }
    return null;
  }

  #end(error: Error): void {
    if (this.#ended) return;
    this.#ended = error;
    for (const { job, out, err, report, group } of this.#free.splice(0)) {
      for (const fd of [job, out, err, report]) closeSync(fd);
      group?.remove();
    }
    for (const { reject } of this.#waiting.splice(0)) reject(error);
    killWhole(this.#child);
  }
}

interface Hands {
  /** Ends the program; its files can still be fetched. */
  stop(): void;
  kill(): void;
  hostPid(): number | null;
  memoryMb: number;
}

class SlotRun {
  readonly #slot: Slot;
  readonly #job: Job;
  readonly #fetch: readonly string[];
  readonly #hands: Hands;
  readonly #files = new Map<string, Buffer>();
  readonly #report: Socket;
  #jobOpen = true;
  #began: bigint | null = null;
  #ended: { status: number; at: bigint } | null = null;
  #fault: string | null = null;
  #late = false;
  #hungry = false;
  #pid: number | null | undefined;
  #stopTimer = () => {};
  #stopWatch = () => {};
  #file: { index: number; left: number; parts: Buffer[] } | null = null;
  #fetched = 0;
  #rest: Buffer = Buffer.alloc(0);

  constructor(slot: Slot, job: Job, fetch: readonly string[], hands: Hands) {
    this.#slot = slot;
    this.#job = job;
    this.#fetch = fetch;
    this.#hands = hands;
    this.#report = reading(slot.report);
  }

  async perform(parts: readonly Buffer[], signal?: AbortSignal): Promise<Outcome> {
    const { limits, watch } = this.#job;
    const outputs = [new Output(limits.outputBytes), new Output(limits.outputBytes)] as const;
    const streams = [reading(this.#slot.out), reading(this.#slot.err)] as const;
    const collected = [
      outputs[0].collect(streams[0], watch && ((chunk) => watch(chunk, () => this.#expire()))),
      outputs[1].collect(streams[1]),
    ];
    const over = new Promise<void>((resolve) => {
      this.#report.on('close', resolve);
      this.#report.on('error', () => {});
      this.#report.on('data', (chunk: Buffer) => {
        this.#hear(chunk);
        if (this.#ended && this.#fetch.length === 0) resolve();
      });
    });
    const { group } = this.#slot;
    if (group !== null) {
      this.#report.on('close', () => group.remove());
      try {
        group.limit({
          memoryBytes: this.#hands.memoryMb * 1024 * 1024 + OWN_BYTES,
          processes: limits.processes + OWN_PROCESSES,
        });
      } catch {
        // Less than the slot itself holds: the program's own limits end it.
      }
    }
    const abort = () => this.#hands.kill();
    signal?.addEventListener('abort', abort, { once: true });
    this.#job.metered?.(() => {
      const pid = this.#hostPid();
      const usage = pid === null ? null : usageOfTree(pid);
      return usage && group ? { ...usage, bytes: group.bytes } : usage;
    });
    this.#give(parts);
    await over;
    await Promise.all(collected);
    this.#stopTimer();
    this.#stopWatch();
    this.#closeJob();
    signal?.removeEventListener('abort', abort);
    signal?.throwIfAborted();
    if (this.#fault !== null) throw new SandboxFault(this.#fault);
    if (this.#fetched > limits.fetchBytes)
      throw new SandboxFault(`fetch_files: more than ${limits.fetchBytes} bytes were asked for`);
    return { compile: null, run: this.#result(outputs), files: this.#files };
  }

  #result(outputs: readonly [Output, Output]): CommandRunResult {
    this.#hungry ||= this.#slot.group?.killedForMemory ?? false;
    const ended = this.#ended ?? { status: 9, at: this.#began ?? 0n };
    const signal = ended.status & 0x7f;
    const killed = this.#hungry && !this.#late ? '[killed: over the memory limit of the run]\n' : '';
    return {
      status: this.#late ? 'TimeLimitExceeded' : 'Finished',
      execution_time: this.#began === null ? 0 : Number(ended.at - this.#began) / 1e9,
      return_code: this.#late ? null : signal === 0 ? (ended.status >> 8) & 0xff : -signal,
      stdout: outputs[0].text(),
      stderr: outputs[1].text() + killed,
    };
  }

  #give(parts: readonly Buffer[]): void {
    const whole = Buffer.concat(parts.length < 8 ? parts.filter((part) => part.length < PIPE_BYTES) : []);
    const { job } = this.#slot;
    if (
      whole.length > 0 &&
      whole.length <= PIPE_BYTES &&
      whole.length === parts.reduce((sum, part) => sum + part.length, 0)
    ) {
      try {
        writeSync(job, whole);
      } catch {
        // It has ended: its report says so.
      }
      if (this.#fetch.length === 0) this.#closeJob();
      return;
    }
    const stream = new Socket({ fd: job, readable: false, writable: true });
    this.#jobOpen = false;
    stream.on('error', () => {});
    for (const part of parts) stream.write(part);
    if (this.#fetch.length === 0) stream.end();
    else this.#ask = (text) => void stream.end(text);
  }

  #ask = (text: string): void => {
    try {
      writeSync(this.#slot.job, text);
    } catch {
      // as above
    }
    this.#closeJob();
  };

  #closeJob(): void {
    if (this.#jobOpen) closeSync(this.#slot.job);
    this.#jobOpen = false;
  }

  #hear(chunk: Buffer): void {
    let bytes: Buffer = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    for (;;) {
      if (this.#file) {
        const part = bytes.subarray(0, this.#file.left);
        this.#file.parts.push(part);
        this.#file.left -= part.length;
        bytes = bytes.subarray(part.length);
        if (this.#file.left > 0) break;
        const name = this.#job.fetchFiles[this.#file.index];
        if (name !== undefined && this.#fetched <= this.#job.limits.fetchBytes)
          this.#files.set(name, Buffer.concat(this.#file.parts));
        this.#file = null;
      }
      const end = bytes.indexOf(10);
      if (end < 0) break;
      this.#line(bytes.toString('utf8', 0, end));
      bytes = bytes.subarray(end + 1);
    }
    this.#rest = bytes;
  }

  #line(line: string): void {
    const [word, first = '0', second = '0'] = line.split(' ');
    if (word === 'S') {
      this.#began = BigInt(first);
      this.#stopTimer = startTimer(this.#job.runTimeout, () => this.#expire());
      const excess = () => {
        this.#hungry = true;
        this.#stop();
      };
      const { group } = this.#slot;
      this.#stopWatch = group
        ? watchGroup(group, excess)
        : watchRun(() => this.#hostPid(), this.#hands.memoryMb, excess);
    } else if (word === 'E') {
      this.#stopTimer();
      this.#stopWatch();
      this.#hungry ||= this.#slot.group?.killedForMemory ?? false;
      this.#ended = { status: Number(first), at: BigInt(second) };
      const most = this.#job.limits.fetchBytes;
      if (this.#fetch.length > 0)
        this.#ask(this.#fetch.map((path) => `${most} ${Buffer.from(path).toString('hex')}\n`).join(''));
    } else if (word === 'F') {
      this.#fetched += Number(second);
      this.#file = { index: Number(first), left: Number(second), parts: [] };
      if (this.#fetched > this.#job.limits.fetchBytes) this.#hands.kill();
    } else if (word === 'X') this.#fault = `the run could not be prepared: ${line.slice(2)}`;
  }

  #expire(): void {
    this.#late = true;
    this.#stop();
  }

  #stop(): void {
    this.#hands.stop();
    this.#stopTimer = startTimer(GRACE_SECONDS, () => this.#hands.kill());
  }

  #hostPid(): number | null {
    if (this.#ended) return null;
    if (this.#pid === undefined || this.#pid === null) this.#pid = this.#hands.hostPid();
    return this.#pid;
  }
}

const reading = (fd: number): Socket => new Socket({ fd, readable: true, writable: false });
const asBuffer = (content: string | Buffer): Buffer => (typeof content === 'string' ? Buffer.from(content) : content);

function wordsOf(job: Job, files: readonly [string, Buffer][], defaultMemoryMb: number): Buffer[] {
  const { limits } = job;
  const memory = (limits.memoryMb ?? defaultMemoryMb) * 1024 * 1024;
  const seconds = Math.ceil(Math.max(job.runTimeout, 0)) + 1;
  const limit = [
    `${RESOURCE.core}=0`,
    `${RESOURCE.fsize}=${limits.diskMb * 1024 * 1024}`,
    `${RESOURCE.nproc}=${limits.processes}`,
    ...(seconds < 2 ** 31 ? [`${RESOURCE.cpu}=${seconds}`] : []),
    `${RESOURCE.data}=${memory}`,
    `${RESOURCE.as}=${memory}`,
  ].join(',');
  const stdin = job.stdin === null ? Buffer.alloc(0) : asBuffer(job.stdin);
  const named = files.map(([path, content]): [Buffer, Buffer] => [Buffer.from(path), content]);
  const lengths = [stdin.length, ...named.flatMap(([path, content]) => [path.length, content.length])].join(',');
  const meta = Buffer.from(`${limit};${lengths}`);
  return [Buffer.from(String(meta.length).padEnd(HEAD)), meta, stdin, ...named.flat()];
}

/** The zygote is the first process of its namespace: with it, all that it forked ends. */
function killWhole(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL');
  }
}
