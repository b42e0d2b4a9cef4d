import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { killWhole } from '../server/backends/kill-whole.ts';
import { childrenOf, killAtOnce } from '../server/backends/usage.ts';
import { openDescriptors } from './descriptors.ts';
import { WORLD_LIMITS, WorldGuard, type WorldLimits } from './guard.ts';
import { launchWorld, type WorldPlan } from './launch.ts';
import { MarkedStream } from './marked-stream.ts';
import { Pipes } from './pipes.ts';
import { commandLineOf, descendantsOf, isFirst, stopAll } from './processes.ts';
import { namesIn } from './tree.ts';
import {
  captureText,
  commandText,
  helperText,
  PROLOGUE,
  probeText,
  restoreText,
  shellQuoted,
  streamsText,
} from './world-shell.ts';

export interface WorldRun {
  stdout: Buffer;
  stderr: Buffer;
  /** null if the shell ended or the time limit came first. */
  exit: number | null;
  timedOut: boolean;
  /** The shell itself ended, and with it all processes of the world. */
  ended: boolean;
  /** The limit that ended it; null if none did. */
  excess: string | null;
  seconds: number;
}

export interface CommandLimits {
  timeLimit: number;
  merged: boolean;
  /** Another directory for this command alone. */
  dir?: string | undefined;
}

interface OutputStreams {
  out: MarkedStream;
  err: MarkedStream;
}

interface WorldStreams extends OutputStreams {
  in: Writable;
  status: MarkedStream;
  /** Streams of our scripts: processes that an agent left running write into the others. */
  help: OutputStreams;
}

/**
 * A running world: namespaces over an overlay, with one shell. Commands run one after another; processes they leave behind survive
 * until the world is closed.
 */
export class LiveWorld {
  readonly #plan: WorldPlan;
  readonly #limits: WorldLimits;
  #guard: WorldGuard | null = null;
  #excess: string | null = null;
  #child: ChildProcess | null = null;
  #streams: WorldStreams | null = null;
  #first: { of: number; pid: number } | null = null;
  #captured: string | undefined;
  #lost: readonly string[] = [];
  #pipes: Pipes | null = null;
  #isStopped = false;
  /** The pending answer of a command that ran too long. */
  #late: Promise<unknown> | null = null;
  /** The directory where the next command starts. */
  dir: string;
  /** How often the shell ended and was replaced. */
  restarts = 0;

  constructor(plan: WorldPlan) {
    this.#plan = plan;
    this.#limits = plan.limits ?? WORLD_LIMITS;
    this.dir = plan.workdir;
    this.#captured = plan.captured;
  }

  /** The shell's state, as text that another shell can read; undefined before the first capture. */
  get captured(): string | undefined {
    return this.#captured;
  }

  /** @throws Error with the message of the failed mount or start */
  async open(): Promise<void> {
    await this.#start();
    const probe = await this.#send(probeText('PROBE'), 'PROBE', 20);
    if (probe.exit !== null && !probe.ended) return;
    const silent = probe.timedOut ? 'its shell gave no answer' : 'its shell ended at once';
    const took = probe.excess === null ? silent : `it took ${probe.excess}`;
    const why = probe.stderr.toString('utf8').trim().slice(0, 500) || took;
    const isForeign = why.includes('Exec format error');
    throw new Error(
      `the world did not start: ${why}${isForeign ? `; the programs of this image are of another architecture than ${process.arch}` : ''}`,
    );
  }

  /** Runs a command as the agent's shell would. */
  async run(command: string, { timeLimit, merged, dir = this.dir }: CommandLimits): Promise<WorldRun> {
    const { shell } = this.#plan;
    if (this.#child === null) await this.#restart();
    // A process left running by an earlier command writes into the output of that command.
    if (shell !== 'persistent' && this.#beside().length > 0) this.#renewStreams();
    const mark = newMark();
    const run = await this.#send(commandText(command, mark, shell, dir, merged), mark, timeLimit);
    if (run.cwd !== null) this.dir = run.cwd;
    const left = run.ended ? 0 : this.#beside().length;
    if (left > this.#limits.processes / 2) {
      // A world that can start no more processes answers no more.
      await this.#restart();
      return { ...run, excess: `too many processes: ${left} were left running` };
    }
    if (run.ended || run.timedOut) {
      if (shell === 'persistent' || run.ended) await this.#restart();
      else await this.#killCommands();
    }
    return run;
  }

  /** Runs our own script in the world's files, with its own umask and directory. */
  async help(script: string, timeLimit = 30, isFirstTry = true): Promise<WorldRun> {
    if (this.#child === null) await this.#restart();
    const mark = newMark();
    const run = await this.#send(helperText(script, mark, this.#plan.env), mark, timeLimit, 'help');
    if (run.ended || run.timedOut) await this.#restart();
    // What an earlier command left running ended the shell, or went over a limit, only now.
    return run.ended && isFirstTry ? this.help(script, timeLimit, false) : run;
  }

  /** The bytes of a file; null if there is no readable one. */
  async readFile(path: string): Promise<Buffer | null> {
    const run = await this.help(`[ -f ${shellQuoted(path)} ] && cat -- ${shellQuoted(path)}`);
    return run.exit === 0 ? run.stdout : null;
  }

  /** Writes a file and its parent folders. @returns why not; null on success */
  async writeFile(path: string, content: Buffer): Promise<string | null> {
    const parent = shellQuoted(path.replace(/\/[^/]*$/, '') || '/');
    const text = content.toString('base64').replace(/.{1,76}/g, '$&\n');
    const run = await this.help(`mkdir -p -- ${parent} && base64 -d > ${shellQuoted(path)} <<'__RV'\n${text}__RV\n`);
    return run.exit === 0 ? null : run.stderr.toString('utf8').trim() || 'it could not be written';
  }

  /**
   * Saves a persistent shell's state. @returns false if the shell gave no answer, as one that can start no process: a new one in the
   * last saved state has replaced it
   */
  async capture(): Promise<boolean> {
    if (this.#plan.shell !== 'persistent' || this.#child === null) return true;
    const mark = newMark();
    const run = await this.#send(captureText(mark), mark, 30, 'help');
    if (run.exit === null) {
      this.#lost = ["the shell's state: it gave no answer"];
      await this.#restart();
      return false;
    }
    const shell = this.#shell();
    const { reopen, lost } = shell === undefined ? { reopen: [], lost: [] } : openDescriptors(shell);
    this.#captured = [run.stdout.toString('utf8').replace(/\n$/, ''), ...reopen, ''].join('\n');
    this.#lost = lost;
    return true;
  }

  /** The part of this shell's state that another shell cannot take over. */
  get lost(): readonly string[] {
    return this.#lost;
  }

  #renewStreams(): void {
    const streams = this.#streams;
    if (streams === null) return;
    this.#pipes ??= new Pipes(this.#plan.folder);
    const { out, errors, paths } = this.#pipes.open();
    streams.out.abandon();
    streams.err.abandon();
    streams.in.write(streamsText(paths.out, paths.errors));
    this.#streams = { ...streams, out: new MarkedStream(out), err: new MarkedStream(errors) };
  }

  /** The processes running beside the shell, one line each. */
  processes(): string[] {
    return this.#beside().flatMap((pid) => commandLineOf(pid) ?? []);
  }

  /** Stops the processes beside the shell. @returns the function that lets them go on */
  pause(): () => void {
    return stopAll(() => this.#beside());
  }

  /** The world's first process, whose first child is the shell. It is the same one until the world is closed. */
  #init(): number | undefined {
    const pid = this.#child?.pid;
    if (pid === undefined) return undefined;
    if (this.#first?.of === pid) return this.#first.pid;
    for (const one of descendantsOf(pid))
      if (isFirst(one)) {
        this.#first = { of: pid, pid: one };
        return one;
      }
    return undefined;
  }

  #shell(): number | undefined {
    const init = this.#init();
    return init === undefined ? undefined : childrenOf(init)[0];
  }

  #beside(): number[] {
    const init = this.#init();
    if (init === undefined) return [];
    const [shell] = childrenOf(init);
    return [...descendantsOf(init)].filter((pid) => pid !== shell);
  }

  /** The names that the world shows in a folder; null if it is not running. The way there must hold no link. */
  namesIn(path: string): string[] | null {
    const init = this.#init();
    return init === undefined ? null : namesIn(`/proc/${init}/root${path}`);
  }

  /** Ends it at once, also in the middle of a command, whose answer then never comes: `run` throws. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const outputs = outputsOf(this.#streams);
    await this.close();
    for (const one of outputs) one.end();
  }

  async close(): Promise<void> {
    const child = this.#child;
    const guard = this.#guard;
    this.#child = null;
    this.#first = null;
    this.#guard = null;
    this.#streams = null;
    if (child !== null && child.pid !== undefined) {
      const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
      killWhole(child);
      await gone;
    }
    this.#pipes?.close();
    this.#pipes = null;
    guard?.close();
  }

  async #restart(): Promise<void> {
    await this.close();
    this.restarts++;
    await this.#start();
  }

  async #start(): Promise<void> {
    if (this.#isStopped) throw new Error('it was stopped');
    const { folder, shell, workdir } = this.#plan;
    const guard = new WorldGuard(this.#limits);
    const child = launchWorld(this.#plan, guard, false);
    this.#child = child;
    this.#guard = guard;
    this.#excess = null;
    const [input, ...outputs] = child.stdio as unknown as [Writable, ...Readable[]];
    const [out, err, status, , helpOut, helpErr] = outputs.map((one) => one && new MarkedStream(one));
    input.on('error', () => {});
    if (!out || !err || !status || !helpOut || !helpErr) throw new Error('the world has no pipes');
    this.#streams = { in: input, out, err, status, help: { out: helpOut, err: helpErr } };
    child.on('error', () => this.#ended(child));
    child.on('close', () => this.#ended(child));
    await guard.hold(child, folder, (what) => {
      this.#excess = what;
    });
    input.write(`\n${PROLOGUE}`);
    if (shell === 'persistent') {
      // The agent's shell began there.
      input.write(`cd ${shellQuoted(workdir)} 2>/dev/null; unset OLDPWD\n`);
      if (this.#captured !== undefined) input.write(restoreText(this.#captured));
    }
  }

  #ended(child: ChildProcess): void {
    if (this.#child !== child) return;
    this.#child = null;
    for (const one of outputsOf(this.#streams)) one.end();
  }

  async #send(
    text: string,
    mark: string,
    timeLimit: number,
    whose: 'command' | 'help' = 'command',
  ): Promise<WorldRun & { cwd: string | null }> {
    const streams = this.#streams;
    if (streams === null) throw new Error('the world is closed');
    const { in: input, status } = streams;
    const { out, err } = whose === 'help' ? streams.help : streams;
    const began = performance.now();
    input.write(text);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), timeLimit * 1000);
    });
    const whole = Promise.all([status.until(`${mark} `, true), out.until(mark), err.until(mark)]);
    const answer = await Promise.race([whole, late]);
    clearTimeout(timer);
    const seconds = (performance.now() - began) / 1000;
    if (answer === 'late') {
      this.#late = whole;
      const stdout = out.drop();
      const stderr = err.drop();
      return { stdout, stderr, exit: null, timedOut: true, ended: false, excess: null, seconds, cwd: null };
    }
    const [ended, stdout, stderr] = answer;
    const line = ended.found ? ended.line : null;
    const cwd =
      this.#plan.shell === 'persistent'
        ? (/ (\/.*)$/.exec(line ?? '')?.[1] ?? null)
        : (/(?:^|\n)cwd (\/[^\n]*)\n/.exec(ended.bytes.toString('utf8'))?.[1] ?? null);
    return {
      stdout: stdout.bytes,
      stderr: stderr.bytes,
      exit: line === null ? null : Number.parseInt(line, 10),
      timedOut: false,
      ended: line === null,
      excess: line === null ? this.#excess : null,
      seconds,
      cwd,
    };
  }

  /** Kills the command that ran too long; the shell that started it answers then. */
  async #killCommands(): Promise<void> {
    if (this.#late === null) return;
    const shell = this.#shell();
    if (shell !== undefined) killAtOnce(childrenOf(shell).flatMap((one) => [...descendantsOf(one), one]));
    const answer = await Promise.race([
      this.#late,
      new Promise<null>((resolve) => setTimeout(() => resolve(null), 2000)),
    ]);
    this.#late = null;
    if (answer === null) await this.#restart();
  }
}

const outputsOf = (streams: WorldStreams | null): MarkedStream[] =>
  streams === null ? [] : [streams.out, streams.err, streams.status, streams.help.out, streams.help.err];

const newMark = (): string => `__rv${randomBytes(12).toString('hex')}`;
