// The system call filter that every sandboxed program runs under, as the BPF program that `bwrap --seccomp` and
// prctl(PR_SET_SECCOMP) take. It blocks what a program in namespaces without capabilities can still reach: tracing,
// kernel interfaces with a history of holes, new namespaces, and memory that no limit of the fallback counts.

type Architecture = 'x64' | 'arm64';

const AUDIT_ARCH: Record<Architecture, number> = { x64: 0xc000003e, arm64: 0xc00000b7 };
/** linux/errno.h */
const EPERM = 1;
const ENOSYS = 38;
const EINVAL = 22;
const EOPNOTSUPP = 95;
const EAFNOSUPPORT = 97;
const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const refusalOf = (errno: number): number => 0x00050000 | errno;

/** [x64, arm64] as libseccomp 2.5.4 resolves the names; -1 if the machine has no such call. */
const CALLS = {
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  pidfd_getfd: [438, 438],
  kcmp: [312, 272],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  bpf: [321, 280],
  userfaultfd: [323, 282],
  perf_event_open: [298, 241],
  keyctl: [250, 219],
  add_key: [248, 217],
  request_key: [249, 218],
  unshare: [272, 97],
  setns: [308, 268],
  clone: [56, 220],
  clone3: [435, 435],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  move_mount: [429, 429],
  open_tree: [428, 428],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  swapon: [167, 224],
  swapoff: [168, 225],
  reboot: [169, 142],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  syslog: [103, 116],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  fanotify_init: [300, 262],
  fanotify_mark: [301, 263],
  lookup_dcookie: [212, 18],
  nfsservctl: [180, 42],
  iopl: [172, -1],
  ioperm: [173, -1],
  modify_ldt: [154, -1],
  uselib: [134, -1],
  ustat: [136, -1],
  sysfs: [139, -1],
  _sysctl: [156, -1],
  personality: [135, 92],
  mbind: [237, 235],
  set_mempolicy: [238, 237],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
  clock_settime: [227, 112],
  settimeofday: [164, 170],
  adjtimex: [159, 171],
  clock_adjtime: [305, 266],
  vhangup: [153, 58],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  memfd_secret: [447, 447],
  memfd_create: [319, 279],
  shmget: [29, 194],
  msgget: [68, 186],
  semget: [64, 190],
  flock: [73, 32],
  socket: [41, 198],
  socketpair: [53, 199],
  ioctl: [16, 29],
  prlimit64: [302, 261],
  sched_setparam: [142, 118],
  sched_setscheduler: [144, 119],
  sched_setaffinity: [203, 122],
  sched_setattr: [314, 274],
  setpriority: [141, 140],
  io_setup: [206, 0],
  inotify_init: [253, -1],
  inotify_init1: [294, 26],
  setsockopt: [54, 208],
  fcntl: [72, 25],
  landlock_create_ruleset: [444, 444],
  setxattr: [188, 5],
  lsetxattr: [189, 6],
  fsetxattr: [190, 7],
  getxattr: [191, 8],
  lgetxattr: [192, 9],
  fgetxattr: [193, 10],
  listxattr: [194, 11],
  llistxattr: [195, 12],
  flistxattr: [196, 13],
  removexattr: [197, 14],
  lremovexattr: [198, 15],
  fremovexattr: [199, 16],
  vmsplice: [278, 75],
  prctl: [157, 167],
  seccomp: [317, 277],
  connect: [42, 203],
  bind: [49, 200],
  listen: [50, 201],
  accept: [43, 202],
  accept4: [288, 242],
  sendto: [44, 206],
  sendmsg: [46, 211],
  sendmmsg: [307, 269],
  recvfrom: [45, 207],
  recvmsg: [47, 212],
  recvmmsg: [299, 243],
  fork: [57, -1],
  vfork: [58, -1],
  kill: [62, 129],
  tkill: [200, 130],
  tgkill: [234, 131],
  rt_sigqueueinfo: [129, 138],
  rt_tgsigqueueinfo: [297, 240],
  pidfd_send_signal: [424, 424],
  pidfd_open: [434, 434],
  chmod: [90, -1],
  fchmod: [91, 52],
  fchmodat: [268, 53],
  chown: [92, -1],
  lchown: [94, -1],
  fchown: [93, 55],
  fchownat: [260, 54],
  utime: [132, -1],
  utimes: [235, -1],
  futimesat: [261, -1],
  utimensat: [280, 88],
  mknod: [133, -1],
  mknodat: [259, 33],
  truncate: [76, 45],
  mq_open: [240, 180],
  shmat: [30, 196],
  ioprio_set: [251, 30],
  setpgid: [109, 154],
} as const satisfies Record<string, readonly [number, number]>;
type SystemCall = keyof typeof CALLS;

/** Libraries meet these errors on old kernels and have fallbacks; clone3 keeps its flags where no filter sees them. */
const MISSING: SystemCall[] = [
  'clone3',
  'io_setup',
  'io_uring_setup',
  'io_uring_enter',
  'io_uring_register',
  'memfd_secret',
];
/** All runs share their user's watches, and a watch on a system file reveals who opens it. */
const SHARED: SystemCall[] = ['inotify_init', 'inotify_init1'];
/** Only a cgroup counts their memory. vmsplice keeps pages that their process has released. */
const UNCOUNTED: SystemCall[] = [
  'memfd_create',
  'shmget',
  'msgget',
  'semget',
  'landlock_create_ruleset',
  'vmsplice',
  'seccomp',
];
/** Calls a process that computes alone does not need: sockets, other processes, and files that it cannot open anyway. */
const COMPANY: SystemCall[] = [
  ...(['socket', 'socketpair', 'connect', 'bind', 'listen', 'accept', 'accept4'] as const),
  ...(['sendto', 'sendmsg', 'sendmmsg', 'recvfrom', 'recvmsg', 'recvmmsg'] as const),
  ...(['fork', 'vfork', 'kill', 'tkill', 'tgkill', 'rt_sigqueueinfo', 'rt_tgsigqueueinfo'] as const),
  ...(['pidfd_send_signal', 'pidfd_open', 'setpgid', 'mq_open', 'shmat', 'flock'] as const),
  ...([
    'chmod',
    'fchmod',
    'fchmodat',
    'chown',
    'lchown',
    'fchown',
    'fchownat',
    'utime',
    'utimes',
    'futimesat',
  ] as const),
  ...(['utimensat', 'mknod', 'mknodat', 'truncate', 'ioprio_set'] as const),
  // Landlock does not cover attributes.
  ...(['getxattr', 'lgetxattr', 'fgetxattr', 'listxattr', 'llistxattr', 'flistxattr'] as const),
  ...(['removexattr', 'lremovexattr', 'fremovexattr'] as const),
];
/** A file's access control list takes 64 kB per name, uncounted. Programs cope with file systems without them. */
const ATTRIBUTES: SystemCall[] = ['setxattr', 'lsetxattr', 'fsetxattr'];
/** PR_SET_SECCOMP: a filter per process takes 256 kB plus its machine code, uncounted. */
const SET_FILTER = 22;
/** Beyond the newest call of the table's libseccomp; calls of newer kernels are missing here. */
const NEWEST = 450;

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

/** The process that ends a run. Starved of CPU, it ends nothing. */
const FIRST_PROCESS = 1;

const LOAD = 0x20;
const RETURN = 0x06;
const JUMP_EQUAL = 0x15;
const JUMP_GREATER = 0x25;
const JUMP_SET = 0x45;
const NUMBER_AT = 0;
const ARCH_AT = 4;
const FIRST_ARGUMENT_AT = 16;

type Instruction = readonly [code: number, whenTrue: number, whenFalse: number, value: number];
const give = (value: number): Instruction => [RETURN, 0, 0, value];

/** Skips the block if the number is not this call's; every block ends the filter. */
const block = (number: number, body: Instruction[]): Instruction[] =>
  number < 0 ? [] : [[JUMP_EQUAL, 0, body.length, number], ...body];

/** Applies only if the first argument is one of these. */
const onlyFor = (values: readonly number[], errno: number): Instruction[] => [
  [LOAD, 0, 0, FIRST_ARGUMENT_AT],
  ...values.map((value, index): Instruction => [JUMP_EQUAL, values.length - index, 0, value]),
  give(refusalOf(errno)),
  give(ALLOW),
];
/** Refuses if the argument at this position is the first process. */
const notFirst = (at: number): Instruction[] => [
  [LOAD, 0, 0, FIRST_ARGUMENT_AT + 8 * at],
  [JUMP_EQUAL, 0, 1, FIRST_PROCESS],
  give(refusalOf(EPERM)),
  give(ALLOW),
];
/** If the first argument has one bit, it must have the other too. */
const together = (bit: number, other: number, errno: number): Instruction[] => [
  [LOAD, 0, 0, FIRST_ARGUMENT_AT],
  [JUMP_SET, 0, 2, bit],
  [JUMP_SET, 1, 0, other],
  give(refusalOf(errno)),
];
const withBits = (bits: number, errno: number): Instruction[] => [
  [LOAD, 0, 0, FIRST_ARGUMENT_AT],
  [JUMP_SET, 1, 0, bits],
  give(refusalOf(errno)),
  give(ALLOW),
];
const withoutBits = (bits: number, errno: number): Instruction[] => [
  [LOAD, 0, 0, FIRST_ARGUMENT_AT],
  [JUMP_SET, 0, 1, bits],
  give(refusalOf(errno)),
  give(ALLOW),
];
/** Applies unless the first argument is one of these. */
const isNot = (values: readonly number[], errno: number): Instruction[] => [
  [LOAD, 0, 0, FIRST_ARGUMENT_AT],
  ...values.map((value, index): Instruction => [JUMP_EQUAL, values.length - index, 0, value]),
  give(ALLOW),
  give(refusalOf(errno)),
];
/** The same for the second argument. */
const secondIsNot = (values: readonly number[], errno: number): Instruction[] => [
  [LOAD, 0, 0, FIRST_ARGUMENT_AT + 8],
  ...values.map((value, index): Instruction => [JUMP_EQUAL, values.length - index, 0, value]),
  give(ALLOW),
  give(refusalOf(errno)),
];

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
    setpriority: [[LOAD, 0, 0, FIRST_ARGUMENT_AT], [JUMP_EQUAL, 1, 0, 0], give(refusalOf(EPERM)), ...notFirst(1)],
    // Pretends to lock: locks on shared system files would be visible to other runs.
    flock: [give(refusalOf(0))],
    // Only a request: the kernel may grant less. The accounting assumes the kernel's default size for a socket.
    setsockopt: [
      [LOAD, 0, 0, FIRST_ARGUMENT_AT + 8],
      [JUMP_EQUAL, 1, 0, SOCKET_LEVEL],
      give(ALLOW),
      [LOAD, 0, 0, FIRST_ARGUMENT_AT + 16],
      ...BUFFER_SIZES.map((value, index): Instruction => [JUMP_EQUAL, BUFFER_SIZES.length - index, 0, value]),
      give(ALLOW),
      give(refusalOf(0)),
    ],
  };
  const answers = (Object.keys(CALLS) as SystemCall[]).flatMap((call) => {
    const own = special[call];
    if (own !== undefined) return block(numberOf(call), own);
    if (COMPANY.includes(call)) return [];
    if (ATTRIBUTES.includes(call)) return block(numberOf(call), [give(refusalOf(EOPNOTSUPP))]);
    if (UNCOUNTED.includes(call)) return counted ? [] : block(numberOf(call), [give(refusalOf(ENOSYS))]);
    return block(numberOf(call), [give(refusalOf([...MISSING, ...SHARED].includes(call) ? ENOSYS : EPERM))]);
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
    setpriority: [give(refusalOf(EPERM))],
    sched_setparam: onlyFor([0], EPERM),
    sched_setscheduler: onlyFor([0], EPERM),
    sched_setaffinity: onlyFor([0], EPERM),
    sched_setattr: onlyFor([0], EPERM),
    setsockopt: [give(refusalOf(EPERM))],
    // The wall itself may be built on it, and a second ruleset only narrows.
    landlock_create_ruleset: [give(ALLOW)],
  };
  const answers = (Object.keys(CALLS) as SystemCall[]).flatMap((call) =>
    block(numberOf(call), special[call] ?? [give(refusalOf(MISSING.includes(call) ? ENOSYS : EPERM))]),
  );
  return filterProgram(machine, answers);
}

function filterProgram(machine: Architecture, answers: readonly Instruction[]): Buffer {
  return assemble([
    [LOAD, 0, 0, ARCH_AT],
    [JUMP_EQUAL, 1, 0, AUDIT_ARCH[machine]],
    give(KILL_PROCESS),
    [LOAD, 0, 0, NUMBER_AT],
    // x32 calls of x86-64 are far above, too.
    [JUMP_GREATER, 0, 1, NEWEST],
    give(refusalOf(ENOSYS)),
    ...answers,
    give(ALLOW),
  ]);
}

function assemble(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, whenTrue, whenFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(whenTrue, index * 8 + 2);
    bytes.writeUInt8(whenFalse, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  }
  return bytes;
}
