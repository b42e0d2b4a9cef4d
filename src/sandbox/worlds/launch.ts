import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasSeccomp, seccompFilter } from '../server/backends/seccomp.ts';
import { WORLD_LIMITS, WorldGuard, type WorldLimits } from './guard.ts';
import { makeFolders, mountScript } from './mount.ts';
import { PIPES } from './pipes.ts';
import { restoreText, type ShellKind, shellQuoted } from './world-shell.ts';

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
  /** Directories that appear empty in the world, and files that cannot be read there, such as a home's keys. */
  hidden: readonly string[];
  /** An earlier shell's saved state. */
  captured?: string | undefined;
  limits?: WorldLimits | undefined;
}

const SHARED_MEMORY_MB = 64;
/** Options of a person's shell in a world. */
const PROMPT = '(copy) \\w # ';

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

/** Facts about the whole machine that only its root may read. */
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
  ...['--ro-bind', join(folder, PIPES.folder), PIPES.path],
];

/** The lines of sh before bubblewrap's. */
const DEVICE_SCRIPT = `mount -o rbind,ro /dev devices || exit 91`;

const KEPT_OPEN = 6;
const CLOSED_BY_EXEC = 0o2000000;

/** Descriptors of whoever started this program: what they lead to belongs to no world. */
function inheritedDescriptors(): number[] {
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((number) => {
      if (number <= KEPT_OPEN) return false;
      try {
        const flags = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${number}`, 'latin1'))?.[1] ?? '0';
        return (Number.parseInt(flags, 8) & CLOSED_BY_EXEC) === 0;
      } catch {
        return false;
      }
    });
}

/** Other shells than bash cannot name descriptors above 9. */
function shellThatRuns(script: string): string[] {
  const inherited = inheritedDescriptors();
  if (inherited.length === 0) return ['sh', '-c', script];
  // A bash whose input is a socket takes itself for a remote shell, and would read the user's .bashrc.
  return ['bash', '--norc', '-c', `exec ${inherited.map((number) => `${number}>&-`).join(' ')}\n${script}`];
}

/**
 * Starts a world's first shell: it waits for a line on its standard input, or on descriptor 3 if that is a terminal, because
 * nothing may run before the limits hold. Bubblewrap takes the place of the shell that dies with this program: a shell between them would
 * keep a world alive after a kill. @param isTerminal a person types into it
 */
export function launchWorld(plan: WorldPlan, guard: WorldGuard, isTerminal: boolean): ChildProcess {
  const { lowers, folder, hostname, env, network, hidden, workdir } = plan;
  makeFolders(folder, lowers);
  const filter = join(folder, 'filter');
  if (hasSeccomp()) writeFileSync(filter, seccompFilter(guard.isCounted));
  // Without a filter, a program could type into the terminal that it shares.
  const isApart = !isTerminal || !hasSeccomp();
  const words = [
    'bwrap',
    ...['--unshare-all', '--unshare-user', '--die-with-parent', ...(isApart ? ['--new-session'] : [])],
    ...(network ? ['--share-net'] : []),
    ...['--uid', '0', '--gid', '0', '--hostname', hostname, '--clearenv'],
    ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
    ...['--bind', join(folder, 'root'), '/', ...kernelArguments(folder)],
    ...['/dev/shm', ...hidden].flatMap((path) =>
      statSync(path, { throwIfNoEntry: false })?.isFile() !== true
        ? ['--perms', '1777', '--size', String(SHARED_MEMORY_MB * 1024 * 1024), '--tmpfs', path]
        : ['--ro-bind', '/dev/null', path],
    ),
    ...['--cap-drop', 'ALL', ...CAPABILITIES.flatMap((name) => ['--cap-add', name])],
    ...(hasSeccomp() ? ['--seccomp', '4'] : []),
    ...(isTerminal ? ['--setenv', 'TERM', process.env.TERM ?? 'xterm'] : []),
    ...['--', 'bash', ...(isTerminal ? ['--rcfile', '/run/rc', '-i'] : ['--norc', '--noprofile'])],
  ];
  const end = `end-${randomBytes(12).toString('hex')}`;
  const bwrap = words.map(shellQuoted).join(' ');
  const script = `read -r _ ${isTerminal ? '<&3 ' : ''}|| exit 90
cd ${shellQuoted(folder)} || exit 91
${mountScript(lowers)}
${DEVICE_SCRIPT}
[ -e gone ] || mknod gone c 0 0
${guard.ulimits}
${
  isTerminal
    ? `mkdir -p root/run && cat > root/run/rc <<'${end}'\ncd ${shellQuoted(workdir)} 2>/dev/null\n${plan.captured === undefined ? '' : restoreText(plan.captured)}PS1='${PROMPT}'\n${end}\nset -m\n${bwrap} 3<&-`
    : `exec 7>&1 8>&2
rm -f out errors && mkfifo out errors || exit 91
cat <out >&7 5>&- 6>&- &
cat <errors >&8 5>&- 6>&- &
exec ${bwrap} >out 2>errors 7>&- 8>&-`
}`;
  const seccomp = hasSeccomp() ? openSync(filter, 'r') : null;
  const child = spawn(
    'unshare',
    [
      ...['--user', '--map-root-user', '--mount', '--propagation', 'private', '--'],
      ...['setpriv', '--pdeathsig', 'KILL', ...shellThatRuns(script)],
    ],
    {
      stdio: isTerminal
        ? ['inherit', 'inherit', 'inherit', 'pipe', seccomp ?? 'ignore']
        : ['pipe', 'pipe', 'pipe', 'pipe', seccomp ?? 'ignore', 'pipe', 'pipe'],
      detached: !isTerminal,
      env: { PATH: process.env.PATH ?? '/usr/sbin:/usr/bin:/sbin:/bin' },
    },
  );
  if (seccomp !== null) closeSync(seccomp);
  return child;
}

/**
 * A shell for a person, in a separate world. It is a job of a shell outside, which takes the terminal back for this program: the inner
 * one cannot name a process out here. @returns its exit status, and the limit that ended it
 */
export async function worldTerminal(plan: WorldPlan): Promise<{ exit: number; excess: string | null }> {
  const guard = new WorldGuard(plan.limits ?? WORLD_LIMITS);
  const child = launchWorld(plan, guard, true);
  let excess: string | null = null;
  const ended = new Promise<number>((resolve) => {
    child.on('error', () => resolve(127));
    child.on('close', (code) => resolve(code ?? 137));
  });
  const onExcess = (what: string) => {
    excess = what;
  };
  await guard.hold(child, plan.folder, onExcess, true);
  const door = child.stdio[3];
  if (door !== null && door !== undefined && 'write' in door) door.end('\n');
  const exit = await ended;
  guard.close();
  return { exit, excess };
}
