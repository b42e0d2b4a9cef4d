// The system call filter that every sandboxed program runs under, as the BPF program that `bwrap --seccomp` and
// prctl(PR_SET_SECCOMP) take. It blocks what a program in namespaces without capabilities can still reach: tracing,
// kernel interfaces with a history of holes, new namespaces, and memory that no limit of the fallback counts.

import {
  ALLOW,
  type Architecture,
  AUDIT_ARCH,
  block,
  EAFNOSUPPORT,
  EINVAL,
  ENOSYS,
  EOPNOTSUPP,
  EPERM,
  errnoAnswer,
  FIRST_ARGUMENT_AT,
  filterProgram,
  give,
  type Instruction,
  isNot,
  JUMP_EQUAL,
  LOAD,
  notFirst,
  onlyFor,
  secondIsNot,
  together,
  withBits,
  withoutBits,
} from './bpf.ts';
import { ATTRIBUTES, CALLS, COMPANY, MISSING, SHARED, type SystemCall, UNCOUNTED } from './system-calls.ts';

/** PR_SET_SECCOMP: a filter per process takes 256 kB plus its machine code, uncounted. */
const SET_FILTER = 22;
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET; unshare also knows NEWTIME. */
const NAMESPACES = 0x7e020000;
const NEWTIME = 0x80;
/** A child created as a sibling: nobody waits for it, and it is outside the tree whose memory is summed. */
const SIBLING = 0x8000;
const THREAD = 0x10000;
/** A thread with its own descriptors, which appear in no list of its process. */
const OWN_FILES = 0x400;
const FAMILIES = { unix: 1, inet: 2, inet6: 10, netlink: 16 };
/** SO_SNDBUF, SO_RCVBUF and their forced forms, of SOL_SOCKET. */
const SOCKET_LEVEL = 1;
const BUFFER_SIZES = [7, 8, 32, 33];
/** F_SETLEASE and F_NOTIFY reveal who opens a system file. */
const WATCHING = [1024, 1026];
/** F_SETOWN, F_SETSIG and F_SETOWN_EX, FIOSETOWN and SIOCSPGRP: the kernel would send signals on the program's behalf. */
const OWNING = [8, 10, 15];
const OWNING_BY_IOCTL = [0x8901, 0x8902];
/** TIOCSTI and TIOCLINUX type into a terminal, TIOCSETD loads line disciplines. */
const TERMINAL = [0x5412, 0x541c, 0x5423];
/** Linux as it is, the query for it, and address randomization off, which some runtimes request. */
const PERSONALITIES = [0, 0xffffffff, 0x40000];

export const hasSeccomp = (machine: string = process.arch): machine is Architecture => machine in AUDIT_ARCH;

/**
 * @param counted a cgroup counts the memory of the run; without one, memory that belongs to no process is refused
 * @throws {Error} on a machine whose system calls are not in the table
 */
export function seccompFilter(counted: boolean, machine: string = process.arch): Buffer {
  if (!hasSeccomp(machine)) throw new Error(`no table of system calls for ${machine}`);
  const numberOf = (call: SystemCall): number => CALLS[call][machine === 'x64' ? 0 : 1];
  const families = Object.values(FAMILIES);
  const special: Record<string, Instruction[]> = {
    clone: [...together(THREAD, OWN_FILES, EPERM), ...withoutBits(NAMESPACES | SIBLING, EPERM)],
    unshare: withoutBits(NAMESPACES | NEWTIME | OWN_FILES, EPERM),
    socket: onlyFor(families, EAFNOSUPPORT),
    socketpair: onlyFor(families, EAFNOSUPPORT),
    personality: onlyFor(PERSONALITIES, EPERM),
    prctl: counted ? [give(ALLOW)] : isNot([SET_FILTER], EINVAL),
    ioctl: secondIsNot(TERMINAL, EPERM),
    fcntl: secondIsNot(WATCHING, EINVAL),
    prlimit64: notFirst(0),
    sched_setparam: notFirst(0),
    sched_setscheduler: notFirst(0),
    sched_setaffinity: notFirst(0),
    sched_setattr: notFirst(0),
    // PRIO_PROCESS alone: the first process is in the program's group.
    setpriority: [[LOAD, 0, 0, FIRST_ARGUMENT_AT], [JUMP_EQUAL, 1, 0, 0], give(errnoAnswer(EPERM)), ...notFirst(1)],
    // Pretends to lock: locks on shared system files would be visible to other runs.
    flock: [give(errnoAnswer(0))],
    // Only a request: the kernel may grant less. The accounting assumes the kernel's default size for a socket.
    setsockopt: [
      [LOAD, 0, 0, FIRST_ARGUMENT_AT + 8],
      [JUMP_EQUAL, 1, 0, SOCKET_LEVEL],
      give(ALLOW),
      [LOAD, 0, 0, FIRST_ARGUMENT_AT + 16],
      ...BUFFER_SIZES.map((value, index): Instruction => [JUMP_EQUAL, BUFFER_SIZES.length - index, 0, value]),
      give(ALLOW),
      give(errnoAnswer(0)),
    ],
  };
  const answers = (Object.keys(CALLS) as SystemCall[]).flatMap((call) => {
    const own = special[call];
    if (own !== undefined) return block(numberOf(call), own);
    if (COMPANY.includes(call)) return [];
    if (ATTRIBUTES.includes(call)) return block(numberOf(call), [give(errnoAnswer(EOPNOTSUPP))]);
    if (UNCOUNTED.includes(call)) return counted ? [] : block(numberOf(call), [give(errnoAnswer(ENOSYS))]);
    return block(numberOf(call), [give(errnoAnswer([...MISSING, ...SHARED].includes(call) ? ENOSYS : EPERM))]);
  });
  return filterProgram(machine, answers);
}

/**
 * For a process that computes alone, a Python in Node: in addition to the other rules, no socket, no other process, no signal.
 * @throws {Error} on a machine whose system calls are not in the table
 */
export function filterForOne(machine: string = process.arch): Buffer {
  if (!hasSeccomp(machine)) throw new Error(`no table of system calls for ${machine}`);
  const numberOf = (call: SystemCall): number => CALLS[call][machine === 'x64' ? 0 : 1];
  const special: Partial<Record<SystemCall, Instruction[]>> = {
    clone: withBits(THREAD, EPERM),
    personality: onlyFor(PERSONALITIES, EPERM),
    prctl: [give(ALLOW)],
    ioctl: secondIsNot([...TERMINAL, ...OWNING_BY_IOCTL], EPERM),
    fcntl: secondIsNot([...WATCHING, ...OWNING], EINVAL),
    prlimit64: onlyFor([0], EPERM),
    setpriority: [give(errnoAnswer(EPERM))],
    sched_setparam: onlyFor([0], EPERM),
    sched_setscheduler: onlyFor([0], EPERM),
    sched_setaffinity: onlyFor([0], EPERM),
    sched_setattr: onlyFor([0], EPERM),
    setsockopt: [give(errnoAnswer(EPERM))],
    // The wall itself may be built on it, and a second ruleset only narrows.
    landlock_create_ruleset: [give(ALLOW)],
  };
  const answers = (Object.keys(CALLS) as SystemCall[]).flatMap((call) =>
    block(numberOf(call), special[call] ?? [give(errnoAnswer(MISSING.includes(call) ? ENOSYS : EPERM))]),
  );
  return filterProgram(machine, answers);
}
