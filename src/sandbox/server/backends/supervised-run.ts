// One run that bubblewrap has started: turns its supervisor's reports into results, and enforces its time and memory limits.

import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Duplex, Readable, Writable } from 'node:stream';
import { itemAt } from '../../../core/lists/at.ts';
import type { CommandRunResult } from '../../protocol.ts';
import { LineSplitter } from '../lines.ts';
import { Output } from '../output.ts';
import type { Pipe } from '../pipes.ts';
import { type Job, type Outcome, SandboxFault } from './backend.ts';
import { DEFAULT_MEMORY_MB } from './bubblewrap-arguments.ts';
import type { Cgroup } from './cgroups.ts';
import { killWhole } from './kill-whole.ts';
import { watchGroup, watchRun } from './memory-watch.ts';
import { LONGEST_REPORT, ReportReader, type Step } from './supervisor.ts';
import { startTimer } from './timer.ts';
import { killAtOnce } from './usage.ts';

export const INFO_FD = 8;
export const BLOCK_FD = 10;
/** The supervisor answers a kill in a millisecond; this is how long to wait for one that does not. */
const GRACE_SECONDS = 5;

export function feed(stream: Writable, content: Buffer): void {
  stream.on('error', () => {}); // bubblewrap ended early; its own message says why
  stream.end(content);
}

export async function supervise(
  child: ChildProcess,
  job: Job,
  pipes: Pipe[],
  group: Cgroup | null,
  signal?: AbortSignal,
): Promise<Outcome> {
  const { limits } = job;
  const memoryMb = limits.memoryMb ?? DEFAULT_MEMORY_MB;
  const diagnosis = new Output(64 * 1024);
  const outputs = pipes.map(() => new Output(limits.outputBytes));
  const results: Record<Step, CommandRunResult | null> = { compile: null, run: null };
  const parts = new Map<string, Buffer[]>();
  // Node's types know five; all the requested ones exist.
  const stdio = child.stdio as unknown as Readable[];
  const reports = stdio[3] as Duplex;
  let supervisor: number | null = null;
  let step: RunningJob | null = null;
  let stopTimer = () => {};
  let stopWatch = () => {};
  let fetched = 0;

  /** Ends the step or, if the supervisor cannot hear it, the whole sandbox. */
  const kill = () => {
    if (supervisor === null) return killWhole(child);
    try {
      process.kill(supervisor, 'SIGUSR1');
    } catch {
      return; // it has just ended
    }
    stopTimer();
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
    return itemAt(outputs, index).collect(
      pipe.readable,
      watch && isRunStdout ? (chunk) => watch(chunk, expire) : undefined,
    );
  });
  const diagnosed = diagnosis.collect(child.stderr!);

  itemAt(stdio, INFO_FD).on('data', (chunk: Buffer) => {
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
      const excess = (pids: readonly number[] = []) => {
        current.hungry = true;
        killAtOnce(pids.filter((pid) => pid !== supervisor));
        kill();
      };
      stopWatch = group
        ? watchGroup(group, () => supervisor ?? undefined, memoryMb, excess)
        : watchRun(() => (supervisor === null ? [] : [supervisor]), memoryMb, excess);
    } else if (report?.kind === 'exited' && step) step.exited = true;
    else if (report?.kind === 'end' && step) {
      stopTimer();
      stopWatch();
      step.status = report.status;
      step.hungry ||= group?.killedForMemory ?? false;
      results[step.name] = runOutcome(step, report.seconds);
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
  if (step) results[(step as RunningJob).name] = runOutcome(step, 0);
  if (results.compile === null && results.run === null)
    throw new SandboxFault(diagnosis.text().trim() || 'bubblewrap ended');
  if (fetched > limits.fetchBytes)
    throw new SandboxFault(`fetch_files: more than ${limits.fetchBytes} bytes were requested`);

  const streams = outputs.map((output) => output.text());
  if (results.compile && pipes.length === 4) {
    results.compile.stdout = itemAt(streams, 0);
    results.compile.stderr = streams[1] + (results.compile.stderr ?? '');
  }
  if (results.run) {
    results.run.stdout = itemAt(streams, pipes.length - 2);
    results.run.stderr = streams[pipes.length - 1] + (results.run.stderr ?? '');
  }
  const files = new Map([...parts].map(([name, content]) => [name, Buffer.concat(content)]));
  return { compile: results.compile, run: results.run, files };
}

/** The state of a step while it runs. */
interface RunningJob {
  name: Step;
  /** As in the shell: 128 and more for a signal, but also for a program that chose such a code. */
  status: number;
  exited: boolean;
  late: boolean;
  hungry: boolean;
}

const KILLED = 128 + 9;

/** `stderr` holds only the sandbox's own messages; the program's output goes before it. */
function runOutcome({ status, exited, late, hungry }: RunningJob, seconds: number): CommandRunResult {
  // Signals are negative, as in upstream.
  // A shell waiting for a killed process may report the signal that notified it.
  const code = exited || status <= 128 ? status : 128 - (hungry ? KILLED : status);
  return {
    status: late ? 'TimeLimitExceeded' : 'Finished',
    execution_time: seconds,
    return_code: late ? null : code,
    stdout: '',
    stderr: hungry && !late ? '[killed: over the memory limit of the run]\n' : '',
  };
}
