// Python runs forked from a warmed interpreter. Slots are forked ahead, so a run finds its namespaces, its root and
// its locks in place; its input goes directly to its own process, and its output comes directly from there.

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import { itemAt } from '../../../core/lists/at.ts';
import { LineSplitter } from '../lines.ts';
import { Output } from '../output.ts';
import { confine } from '../paths.ts';
import type { Job, Outcome } from './backend.ts';
import type { Cgroups } from './cgroups.ts';
import { killWhole } from './kill-whole.ts';
import { temporaryName } from './languages.ts';
import { asBuffer, type Slot, SlotRun, wordsOf } from './slot-run.ts';
import { childrenOf, ownPid } from './usage.ts';
import ZYGOTE from './zygote.py';

/** The folders in which a job's files may be; elsewhere the system's folders are mounted. */
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
  /** Waiting slots. */
  ahead: number;
}

/** After this many failed slots in a row, which take some seconds, asking for more is useless. */
const MOST_MISSES = 400;
const MISS_DELAY_MS = 50;
/** All runs are checked one after the other. */
const HOSTS_MS = 10;
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
  readonly #kept = new Map<number, { resolve: (fd: number) => void; reject: (error: Error) => void }>();
  readonly #said = new Output(16 * 1024);
  /** Its pid on the host. */
  #pid: number | null = null;
  /** Its children's pids on the host, by those in its own process namespace. */
  #hosts = new Map<number, number>();
  #hostsAt = 0;
  #asked = 0;
  #next = 0;
  /** Failed slots in a row. */
  #misses = 0;
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
    const stdio = this.#child.stdio as unknown as Duplex[];
    this.#control = itemAt(stdio, CONTROL_FD);
    itemAt(stdio, SOURCE_FD)
      .on('error', () => {})
      .end(ZYGOTE);
    itemAt(stdio, INFO_FD).on('data', (chunk: Buffer) => {
      const pid = /"child-pid": (\d+)/.exec(chunk.toString())?.[1];
      if (pid !== undefined) this.#pid = Number(pid);
    });
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) void this.#said.collect(stream);
    const lines = new LineSplitter(4096, (line) => this.#hear(line.toString()));
    this.#control.on('data', (chunk: Buffer) => lines.push(chunk)).on('error', () => {});
    this.#child.on('error', (error) => this.#end(error));
    this.#child.on('exit', () => this.#end(new Error(this.#said.text().trim() || 'the interpreter ended')));
    this.#send(options.filter?.toString('hex') ?? '');
    for (const stream of [this.#child, ...stdio]) (stream as { unref?(): void } | null)?.unref?.();
    this.#fill();
  }

  /** Whether it has ended and serves no more. */
  get hasEnded(): boolean {
    return this.#ended !== null;
  }

  /** Whether everything the job needs is here. */
  takes(job: Job): boolean {
    const absolute = [...job.files.keys(), ...job.fetchFiles].filter((name) => name.startsWith('/'));
    return (
      job.language === 'python' &&
      job.ownInterpreter !== true &&
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
    const wanted = fetch.length > 0 ? await this.#keep(slot) : null;
    return new SlotRun(slot, job, fetch, {
      wanted,
      kill: () => this.#send(`kill ${slot.number}`),
      hostPids: () => this.#hostPids(slot),
      isLost: () => this.#ended !== null,
      memoryMb: job.limits.memoryMb ?? this.#options.defaultMemoryMb,
    }).perform(wordsOf(job, files, this.#options.defaultMemoryMb), signal);
  }

  close(): void {
    this.#end(new Error('the sandbox is closed'));
  }

  #send(line: string): void {
    if (this.#ended === null) this.#control.write(`${line}\n`);
  }

  #fill(): void {
    if (this.#ended) return;
    const wanted = this.#options.ahead + this.#waiting.length;
    while (this.#free.length + this.#asked < wanted) {
      this.#asked++;
      this.#send(`more ${this.#next++} ${this.#options.diskMb * 1024 * 1024}`);
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
    if (word === 'failed') this.#miss(new Error(line));
    if (word === 'kept') this.#kept.get(Number(values[0]))?.resolve(Number(values[1]));
    if (word === 'slot') this.#open(values.map(Number)).catch((error: Error) => this.#miss(error));
  }

  /** Retries a failed slot: ending the zygote would end every run under way. */
  #miss(error: Error): void {
    this.#asked--;
    if (++this.#misses >= MOST_MISSES) this.#end(error);
    else setTimeout(() => this.#fill(), MISS_DELAY_MS);
  }

  /** Prepares to fetch the files of its run. @returns the descriptor that the names are written to */
  async #keep(slot: Slot): Promise<number> {
    if (this.#ended) throw this.#ended;
    const kept = new Promise<number>((resolve, reject) => this.#kept.set(slot.number, { resolve, reject }));
    this.#send(`keep ${slot.number}`);
    try {
      return this.#openTheirs(await kept, constants.O_WRONLY);
    } catch (error) {
      // It has ended while it waited.
      for (const fd of [slot.job, slot.out, slot.err, slot.report]) closeSync(fd);
      slot.group?.remove();
      throw error;
    } finally {
      this.#kept.delete(slot.number);
    }
  }

  #openTheirs(fd: number, flags: number): number {
    return openSync(`/proc/${this.#pid}/fd/${fd}`, flags | constants.O_NONBLOCK);
  }

  async #open([number = 0, pid = 0, init = 0, ...theirs]: number[]): Promise<void> {
    const opened: number[] = [];
    const group = this.#options.groups?.create() ?? null;
    let slot: Slot;
    try {
      for (const [index, fd] of theirs.entries())
        opened.push(this.#openTheirs(fd, index === 0 ? constants.O_WRONLY : constants.O_RDONLY));
      const [job, out, err, report] = opened as [number, number, number, number];
      slot = { number, pid, init, hosts: null, job, out, err, report, group };
      if (group !== null) {
        const [host] = this.#hostPids(slot);
        if (host === undefined) throw new Error('a slot has no process');
        await group.addSoon(host);
      }
      // It takes a job, and with it everything it forks, only within its group.
      writeSync(job, 'g');
    } catch (error) {
      for (const fd of opened) closeSync(fd);
      group?.remove();
      throw error;
    } finally {
      this.#send(`got ${number}`);
    }
    this.#misses = 0;
    this.#asked--;
    const waiting = this.#waiting.shift();
    if (waiting) waiting.resolve(slot);
    else this.#free.push(slot);
  }

  /** The program's process, and those its init has adopted. */
  #hostPids(slot: Slot): number[] {
    // Looked up when first needed: most runs have ended by then.
    slot.hosts ??= this.#findHosts(slot);
    return slot.hosts === null ? [] : [slot.hosts.program, ...childrenOf(slot.hosts.init)];
  }

  #findHosts({ pid, init }: Slot): Slot['hosts'] {
    // Cached for a moment only: the kernel reuses numbers.
    const now = performance.now();
    if (now - this.#hostsAt > HOSTS_MS) {
      this.#hosts.clear();
      this.#hostsAt = now;
    }
    const known = new Map([...this.#hosts].map(([own, host]) => [host, own]));
    this.#hosts = new Map(childrenOf(this.#pid ?? 0).map((host) => [known.get(host) ?? ownPid(host), host]));
    const hosts = { program: this.#hosts.get(pid), init: this.#hosts.get(init) };
    return hosts.program === undefined || hosts.init === undefined ? null : (hosts as Slot['hosts']);
  }

  #end(error: Error): void {
    if (this.#ended) return;
    this.#ended = error;
    for (const { job, out, err, report, group } of this.#free.splice(0)) {
      for (const fd of [job, out, err, report]) closeSync(fd);
      group?.remove();
    }
    for (const { reject } of [...this.#waiting.splice(0), ...this.#kept.values()]) reject(error);
    // It is the first process of its namespace, so everything it forked ends with it.
    killWhole(this.#child);
  }
}
