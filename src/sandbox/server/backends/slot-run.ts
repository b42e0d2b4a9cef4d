// One run in a slot of the zygote: the job goes in through a pipe, the two streams and the reports come out, and the run's
// time and memory limits are enforced.
import { closeSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { CommandRunResult } from '../../protocol.ts';
import { Output } from '../output.ts';
import { DESCRIPTORS, type Job, type Outcome, PENDING_SIGNALS, QUEUE_BYTES, SandboxFault } from './backend.ts';
import type { Cgroup } from './cgroups.ts';
import { watchGroup, watchRun } from './memory-watch.ts';
import { SlotOutput } from './slot-output.ts';
import { startTimer } from './timer.ts';
import { killAtOnce, usageOfTree } from './usage.ts';

/** How long to wait for a killed program that the kernel does not end at once. */
const GRACE_SECONDS = 5;
/** A slot's init process, and the memory it shares with the program. */
const OWN_BYTES = 8 * 1024 * 1024;
const OWN_PROCESSES = 4;
/** The capacity of a pipe: a smaller job is written at once. */
const PIPE_BYTES = 65_536;
/** RLIMIT_* of Linux. */
const RESOURCE = { cpu: 0, fsize: 1, data: 2, core: 4, nproc: 6, nofile: 7, as: 9, sigpending: 11, msgqueue: 12 };

/** Bytes of a job's head: the length of the following line, which holds the limits and the lengths of all parts. Matches zygote.py. */
const HEAD = 16;

export interface Slot {
  number: number;
  /** In the zygote's process namespace: the program's process, and the first of its own namespace. */
  pid: number;
  init: number;
  /** The same on the host, once requested. */
  hosts: { program: number; init: number } | null;
  job: number;
  out: number;
  err: number;
  report: number;
  group: Cgroup | null;
}

interface Hands {
  /** The file for the names of the files to fetch; null for none. */
  wanted: number | null;
  /** Ends the program and all its descendants; its files can still be fetched. */
  kill(): void;
  /** The program's process first; empty once it has ended. */
  hostPids(): number[];
  /** The interpreter that the slot was forked from has ended, and all its runs with it. */
  isLost(): boolean;
  memoryMb: number;
}

export class SlotRun {
  readonly #slot: Slot;
  readonly #job: Job;
  readonly #fetch: readonly string[];
  readonly #hands: Hands;
  readonly #files = new Map<string, Buffer>();
  readonly #report: Socket;
  #streams: readonly SlotOutput[] = [];
  readonly #wanted: Socket | null;
  #jobOpen = true;
  #began: bigint | null = null;
  #ended: { status: number; at: bigint } | null = null;
  #fault: string | null = null;
  #late = false;
  #hungry = false;
  #stopTimer = () => {};
  #stopWatch = () => {};
  #file: { index: number; left: number; parts: Buffer[] } | null = null;
  #fetched = 0;
  #isFetched = false;
  #rest: Buffer = Buffer.alloc(0);

  constructor(slot: Slot, job: Job, fetch: readonly string[], hands: Hands) {
    this.#slot = slot;
    this.#job = job;
    this.#fetch = fetch;
    this.#hands = hands;
    this.#report = new Socket({ fd: slot.report, readable: true, writable: false });
    this.#wanted = hands.wanted === null ? null : new Socket({ fd: hands.wanted, readable: false, writable: true });
    this.#wanted?.on('error', () => {});
  }

  async perform(parts: readonly Buffer[], signal?: AbortSignal): Promise<Outcome> {
    const { limits, watch } = this.#job;
    const outputs = [new Output(limits.outputBytes), new Output(limits.outputBytes)] as const;
    this.#streams = [
      new SlotOutput(this.#slot.out, outputs[0], watch && ((chunk) => watch(chunk, () => this.#expire()))),
      new SlotOutput(this.#slot.err, outputs[1]),
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
    const abort = () => this.#kill();
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted) abort();
    this.#job.metered?.(() => {
      const usage = usageOfTree(...this.#hostPids());
      return usage && group ? { ...usage, bytes: group.bytes } : usage;
    });
    this.#give(parts);
    await over;
    for (const stream of this.#streams) stream.finish();
    await Promise.all(this.#streams.map(({ ended }) => ended));
    this.#stopTimer();
    this.#stopWatch();
    this.#closeJob();
    this.#wanted?.destroy();
    signal?.removeEventListener('abort', abort);
    signal?.throwIfAborted();
    if (this.#fault !== null) throw new SandboxFault(this.#fault);
    if (this.#ended === null && !this.#late && !this.#hungry && this.#hands.isLost())
      throw new SandboxFault('the interpreter that runs are forked from ended, and this run with it');
    // A limit may end it sooner; it never ends by itself.
    if (this.#began === null && this.#ended?.status === 0)
      throw new SandboxFault('the process of the run ended before the program began');
    // A state that was not returned must not pass for a run that left none.
    const hasRunOut = this.#late || this.#hungry || this.#fetched > limits.fetchBytes;
    if (this.#wanted !== null && this.#ended !== null && !this.#isFetched && !hasRunOut)
      throw new SandboxFault('the files of the run could not be fetched');
    if (this.#fetched > limits.fetchBytes)
      throw new SandboxFault(`fetch_files: more than ${limits.fetchBytes} bytes were requested`);
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
    let left = parts.filter((part) => part.length > 0);
    if (left.reduce((sum, part) => sum + part.length, 0) <= PIPE_BYTES) {
      const whole = Buffer.concat(left);
      try {
        // The kernel gives short pipes to a user who holds many: not all of it may fit.
        left = [whole.subarray(writeSync(this.#slot.job, whole))].filter((part) => part.length > 0);
      } catch {
        left = []; // it has ended: its report says so
      }
      if (left.length === 0) {
        this.#closeJob();
        return;
      }
    }
    const stream = new Socket({ fd: this.#slot.job, readable: false, writable: true });
    this.#jobOpen = false;
    stream.on('error', () => {});
    for (const part of left) stream.write(part);
    stream.end();
  }

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
      const excess = (pids: readonly number[] = []) => {
        this.#hungry = true;
        killAtOnce(pids);
        this.#kill();
      };
      const { group } = this.#slot;
      this.#stopWatch = group
        ? watchGroup(group, () => this.#hostPids()[0], this.#hands.memoryMb, excess)
        : watchRun(() => this.#hostPids(), this.#hands.memoryMb, excess);
    } else if (word === 'E') {
      this.#stopTimer();
      this.#stopWatch();
      this.#hungry ||= this.#slot.group?.killedForMemory ?? false;
      this.#ended = { status: Number(first), at: BigInt(second) };
      this.#ask();
    } else if (word === 'F') {
      this.#fetched += Number(second);
      this.#file = { index: Number(first), left: Number(second), parts: [] };
      if (this.#fetched > this.#job.limits.fetchBytes) this.#kill();
    } else if (word === 'D') this.#isFetched = true;
    else if (word === 'X') this.#fault = `the run could not be prepared: ${line.slice(2)}`;
  }

  #ask(): void {
    if (this.#wanted === null) return;
    const most = this.#job.limits.fetchBytes;
    this.#wanted.end(this.#fetch.map((path) => `${most} ${Buffer.from(path).toString('hex')}\n`).join(''));
  }

  #expire(): void {
    this.#late = true;
    this.#kill();
  }

  #kill(): void {
    killAtOnce(this.#hostPids());
    this.#hands.kill();
    this.#stopTimer();
    this.#stopTimer = startTimer(GRACE_SECONDS, () => {
      this.#report.destroy();
      for (const stream of this.#streams) stream.destroy();
    });
  }

  #hostPids(): number[] {
    return this.#ended ? [] : this.#hands.hostPids();
  }
}

export const asBuffer = (content: string | Buffer): Buffer =>
  typeof content === 'string' ? Buffer.from(content) : content;

export function wordsOf(job: Job, files: readonly [string, Buffer][], defaultMemoryMb: number): Buffer[] {
  const { limits } = job;
  const memory = (limits.memoryMb ?? defaultMemoryMb) * 1024 * 1024;
  const seconds = Math.ceil(Math.max(job.runTimeout, 0)) + 1;
  const limit = [
    `${RESOURCE.core}=0`,
    `${RESOURCE.fsize}=${limits.diskMb * 1024 * 1024}`,
    `${RESOURCE.nproc}=${limits.processes}`,
    `${RESOURCE.nofile}=${DESCRIPTORS}`,
    `${RESOURCE.sigpending}=${PENDING_SIGNALS}`,
    `${RESOURCE.msgqueue}=${QUEUE_BYTES}`,
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
