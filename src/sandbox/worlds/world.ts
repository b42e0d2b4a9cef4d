import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { killWhole } from '../server/backends/kill-whole.ts';
import { hasSeccomp, seccompFilter } from '../server/backends/seccomp.ts';
import { childrenOf, killAtOnce } from '../server/backends/usage.ts';
import { WORLD_LIMITS, WorldGuard, type WorldLimits } from './guard.ts';
import { MarkedStream } from './marked-stream.ts';
import { mountScript } from './mount.ts';
import { commandLineOf, descendantsOf, isFirst, stopAll } from './processes.ts';
import { namesIn } from './tree.ts';
import {
  captureText,
  commandText,
  helperText,
  PROLOGUE,
  restoreText,
  type ShellKind,
  shellQuoted,
} from './world-shell.ts';

export interface WorldPlan {
  /** Stacked directories, the image last; all are read-only. */
  lowers: readonly string[];
  /** An empty directory of the caller's, for `up`, `work` and `root`. The world's writes go to `up`. */
  folder: string;
  hostname: string;
  env: Readonly<Record<string, string>>;
  workdir: string;
  shell: ShellKind;
  network: boolean;
  /** Directories that appear empty in the world, such as a home's keys. */
  hidden: readonly string[];
  /** An earlier shell's saved state. */
  captured?: string | undefined;
  limits?: WorldLimits | undefined;
}

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

const SHARED_MEMORY_MB = 64;

/** Capabilities of a container's root here: those over its own files, and no more. */
const CAPABILITIES = [
  'CAP_CHOWN',
  'CAP_DAC_OVERRIDE',
  'CAP_FOWNER',
  'CAP_FSETID',
  'CAP_KILL',
  'CAP_SETGID',
  'CAP_SETUID',
  'CAP_NET_BIND_SERVICE',
];

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
  #streams: { in: Writable; out: MarkedStream; err: MarkedStream; status: MarkedStream } | null = null;
  #captured: string | undefined;
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
    const probe = await this.#send(helperText('command -v bash >/dev/null || exit 97', 'PROBE'), 'PROBE', 20);
    if (probe.exit === null || probe.ended)
      throw new Error(
        `the world did not start: ${probe.stderr.toString('utf8').trim().slice(0, 500) || 'its shell ended at once'}`,
      );
  }

  /** Runs a command as the agent's shell would. */
  async run(command: string, { timeLimit, merged, dir = this.dir }: CommandLimits): Promise<WorldRun> {
    const { shell } = this.#plan;
    if (this.#child === null) await this.#restart();
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
  async help(script: string, timeLimit = 30): Promise<WorldRun> {
    if (this.#child === null) await this.#restart();
    const mark = newMark();
    const run = await this.#send(helperText(script, mark), mark, timeLimit);
    if (run.ended || run.timedOut) await this.#restart();
    return run;
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

  /** Saves a persistent shell's state. */
  async capture(): Promise<void> {
    if (this.#plan.shell !== 'persistent' || this.#child === null) return;
    const mark = newMark();
    const run = await this.#send(captureText(mark), mark, 10);
    if (run.exit !== null) this.#captured = run.stdout.toString('utf8');
  }

  /** The processes running beside the shell, one line each. */
  processes(): string[] {
    return this.#beside().flatMap((pid) => commandLineOf(pid) ?? []);
  }

  /** Stops the processes beside the shell. @returns the function that lets them go on */
  pause(): () => void {
    return stopAll(() => this.#beside());
  }

  /** The world's first process, whose first child is the shell. */
  #init(): number | undefined {
    const pid = this.#child?.pid;
    if (pid === undefined) return undefined;
    for (const one of descendantsOf(pid)) if (isFirst(one)) return one;
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

  async close(): Promise<void> {
    const child = this.#child;
    const guard = this.#guard;
    this.#child = null;
    this.#guard = null;
    this.#streams = null;
    if (child !== null && child.pid !== undefined) {
      const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
      killWhole(child);
      await gone;
    }
    guard?.close();
  }

  async #restart(): Promise<void> {
    await this.close();
    this.restarts++;
    await this.#start();
  }

  async #start(): Promise<void> {
    const { lowers, folder, hostname, env, network, hidden, shell, workdir } = this.#plan;
    const filter = join(folder, 'filter');
    if (hasSeccomp()) writeFileSync(filter, seccompFilter(true));
    const words = [
      'bwrap',
      ...['--unshare-all', '--unshare-user', '--die-with-parent', '--new-session'],
      ...(network ? ['--share-net'] : []),
      ...['--uid', '0', '--gid', '0', '--hostname', hostname, '--clearenv'],
      ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
      ...['--bind', join(folder, 'root'), '/', ...kernelArguments(folder)],
      ...['/dev/shm', ...hidden].flatMap((path) => [
        ...['--perms', '1777', '--size', String(SHARED_MEMORY_MB * 1024 * 1024), '--tmpfs', path],
      ]),
      ...['--cap-drop', 'ALL', ...CAPABILITIES.flatMap((name) => ['--cap-add', name])],
      ...(hasSeccomp() ? ['--seccomp', '4'] : []),
      ...['--', 'bash', '--norc', '--noprofile'],
    ];
    const guard = new WorldGuard(this.#limits);
    // It waits for a line: nothing runs before the limits hold.
    const script = `read -r _ || exit 90
cd ${shellQuoted(folder)} && mkdir -p up work root && chmod 755 up || exit 91
${mountScript(lowers)}
${DEVICE_SCRIPT}
[ -e gone ] || mknod gone c 0 0
${guard.ulimits}
exec 6>&1 7>&2
{ ${words.map(shellQuoted).join(' ')} 2>&1 1>&8 6>&- 7>&- 8>&- | cat >&7; } 8>&1 | cat >&6`;
    const seccomp = hasSeccomp() ? openSync(filter, 'r') : null;
    const child = spawn(
      'unshare',
      [
        ...['--user', '--map-root-user', '--mount', '--propagation', 'private', '--'],
        ...['setpriv', '--pdeathsig', 'KILL', 'sh', '-c', script],
      ],
      {
        stdio: ['pipe', 'pipe', 'pipe', 'pipe', seccomp ?? 'ignore'],
        detached: true,
        env: { PATH: process.env.PATH ?? '/usr/sbin:/usr/bin:/sbin:/bin' },
      },
    );
    if (seccomp !== null) closeSync(seccomp);
    this.#child = child;
    this.#guard = guard;
    this.#excess = null;
    const [input, out, err, status] = child.stdio as unknown as [Writable, Readable, Readable, Readable];
    input.on('error', () => {});
    this.#streams = {
      in: input,
      out: new MarkedStream(out),
      err: new MarkedStream(err),
      status: new MarkedStream(status),
    };
    child.on('error', () => this.#ended(child));
    child.on('close', () => this.#ended(child));
    if (child.pid !== undefined)
      await guard
        .hold(child.pid, folder, (what) => {
          this.#excess = what;
          killWhole(child);
        })
        .catch(() => {
          // It has ended already; the first answer says why.
        });
    input.write(`\n${PROLOGUE}`);
    if (shell === 'persistent') {
      input.write(`cd ${shellQuoted(workdir)} 2>/dev/null\n`);
      if (this.#captured !== undefined) input.write(restoreText(this.#captured));
    }
  }

  #ended(child: ChildProcess): void {
    if (this.#child !== child) return;
    this.#child = null;
    for (const one of Object.values(this.#streams ?? {})) if (one instanceof MarkedStream) one.end();
  }

  async #send(text: string, mark: string, timeLimit: number): Promise<WorldRun & { cwd: string | null }> {
    const streams = this.#streams;
    if (streams === null) throw new Error('the world is closed');
    const { in: input, out, err, status } = streams;
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
    const [told, stdout, stderr] = answer;
    const line = told.found ? told.line : null;
    const cwd =
      this.#plan.shell === 'persistent'
        ? (/ (\/.*)$/.exec(line ?? '')?.[1] ?? null)
        : (/(?:^|\n)cwd (\/[^\n]*)\n/.exec(told.bytes.toString('utf8'))?.[1] ?? null);
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
    const told = await Promise.race([
      this.#late,
      new Promise<null>((resolve) => setTimeout(() => resolve(null), 2000)),
    ]);
    this.#late = null;
    if (told === null) await this.#restart();
  }
}

/** What the kernel says of the whole machine, and only its root may read. */
const MASKED = ['kcore', 'kmsg', 'timer_list', 'sched_debug'].map((name) => `/proc/${name}`);
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'];

/**
 * /proc and the devices, on read-only mounts. If root starts a world, entries of the kernel and nodes of this machine belong
 * to the world's root too, who may write to what its owner may write (core_pattern names a program that the kernel runs
 * outside) and change its mode. A device can be written to on a read-only mount.
 */
const kernelArguments = (folder: string): string[] => [
  ...[
    '--proc',
    '/proc',
    ...MASKED.filter((path) => existsSync(path)).flatMap((path) => ['--ro-bind', '/dev/null', path]),
  ],
  ...['--remount-ro', '/proc', '--dev', '/dev'],
  ...DEVICES.flatMap((name) => ['--dev-bind', join(folder, 'devices', name), `/dev/${name}`]),
];

/** The lines of sh before bubblewrap's. */
const DEVICE_SCRIPT = `mkdir -p devices && mount --rbind /dev devices && mount -o remount,bind,ro devices || exit 91`;

const newMark = (): string => `__rv${randomBytes(12).toString('hex')}`;
