import type { Attack } from './attack-table.ts';

/** Families of sockets that reach the kernel or another machine past the network's namespace. */
const families: Attack[] = [
  ['AF_VSOCK', 40],
  ['AF_ALG', 38],
  ['AF_PACKET', 17],
  ['AF_KEY', 15],
  ['AF_BLUETOOTH', 31],
  ['AF_XDP', 44],
  ['AF_TIPC', 30],
  ['AF_CAN', 29],
].map(([name, number]) => ({
  name: `opens a socket of ${name}`,
  calls: [`perl -MSocket -e 'for $t (1, 2, 3, 5) { print "ESCAPED\\n" if socket(S, ${number}, $t, 0) }'`],
}));

/** The same calls by the numbers of another interface of the kernel. */
const otherNumbers: Attack[] = [
  ['unshare', 272, '0x10000000'],
  ['mount', 165, '"tmpfs", "/mnt", "tmpfs", 0, 0'],
  ['ptrace', 521, '16, 1, 0, 0'],
  ['process_vm_readv', 539, '1, 0, 0, 0, 0, 0'],
  ['add_key', 248, '"user", "x", "y", 1, -3'],
].map(([name, number, words]) => ({
  name: `calls ${name} of x32`,
  calls: [`perl -e '$r = syscall(0x40000000 + ${number}, ${words}); print "ESCAPED\\n" if $r != -1'`],
}));

const later: readonly [string, number, string][] = [
  ['pidfd_getfd', 438, '0, 0, 0'],
  ['process_madvise', 440, '0, 0, 0, 0, 0'],
  ['kcmp', 312, '1, $$, 0, 0, 0'],
  ['io_uring_enter', 426, '0, 1, 0, 0, 0'],
  ['io_uring_register', 427, '-1, 0, 0, 0'],
  ['request_key', 249, '"user", "x", 0, -3'],
  ['fspick', 433, '-100, "/", 0'],
  ['lookup_dcookie', 212, '1, 0, 0'],
  ['migrate_pages', 256, '1, 0, 0, 0'],
  ['ioperm', 173, '0, 1, 1'],
];
const calls: Attack[] = later.map(([name, number, words]) => ({
  name: `calls ${name}`,
  calls: [`perl -e '$r = syscall(${number}, ${words}); print "ESCAPED\\n" if $r != -1'`],
}));

/** Attacks that delay, blind or mislead the copier of files or the shell's reader. */
const copying: Attack[] = [
  {
    name: 'holds a lease on a file that is copied',
    calls: [
      `perl -e 'open(F, "+<", "/work/a") or die; fcntl(F, 1024, 1) or die "no lease"; print "held\\n"; $| = 1; open(STDOUT, ">", "/dev/null"); open(STDERR, ">", "/dev/null"); sleep 60' & sleep 0.3; echo more >> /work/b`,
      'cat /work/b',
    ],
  },
  {
    name: 'locks a file that is copied',
    calls: [
      `perl -e 'open(F, "+<", "/work/a"); flock(F, 2); print F "new\\n"; close(STDOUT); close(STDERR); sleep 60' & sleep 0.3; true`,
      'ls /work',
    ],
  },
  {
    name: 'makes a file that nobody can remove',
    calls: [
      `perl -e 'for $f ("/work/a", "/work/d") { open(F, "<", $f); $v = pack("L", 0x30); print "ESCAPED\\n" if ioctl(F, 0x40086602, $v) }'`,
      'echo x >> /work/a; true',
    ],
  },
  {
    name: 'gives files times before and after all others',
    calls: ['cd /work; touch -d @-9223372036 a; touch -d @99999999999 b; touch -d @4294967296 d', 'ls -l /work'],
  },
  {
    name: 'writes the end of a file of four exabytes',
    calls: ['truncate -s 4E /work/e 2>&1; truncate -s 1P /work/e 2>&1; echo x >> /work/e; ls -l /work/e; rm /work/e'],
  },
  {
    name: 'swaps a folder for a link while it is copied',
    calls: [
      `(while :; do mv /work/d /work/x; ln -s CANARY /work/d; rm /work/d; mv /work/x /work/d; done) >/dev/null 2>&1 & sleep 0.3; true`,
      'kill %1; wait 2>/dev/null; true',
    ],
    seconds: 10,
  },
  { name: 'stops all processes that it sees', calls: ['kill -STOP -1; true', 'echo on'], seconds: 4 },
  { name: 'kills all processes that it sees', calls: ['kill -KILL -1; true', 'echo on'], seconds: 4 },
  {
    name: 'writes to the descriptors of its own shell',
    calls: [
      'for f in /proc/$$/fd/*; do echo "x 0 /etc" > $f; done 2>/dev/null; true',
      'head -c 100 /proc/$$/fd/0 >/dev/null; true',
      'echo on',
    ],
    seconds: 4,
  },
  {
    name: 'reads and writes other processes through /proc',
    calls: [
      'for p in /proc/[0-9]*; do [ $p = /proc/$$ ] || cat $p/environ $p/cmdline 2>/dev/null | tr "\\0" "\\n" | grep -a CANARY; done; true',
      'for p in /proc/[0-9]*; do for f in $p/root $p/cwd $p/fd/*; do cat $f/..CANARY/secret "$f"CANARY/secret 2>/dev/null; done; done; true',
    ],
    seconds: 10,
  },
];

/** The state that a shell is asked for, and that another one gets. */
const states: Attack[] = [
  {
    name: 'leaves traps that run between calls',
    calls: [
      "trap 'echo bad > CANARY/secret' EXIT DEBUG RETURN ERR; trap 'echo x' USR1",
      'trap - DEBUG RETURN ERR; true',
    ],
  },
  {
    name: 'replaces what the shell is asked with',
    calls: ['builtin() { :; }; declare() { :; }; printf() { :; }; trap() { :; }; dirs() { :; }; true', 'true'],
    seconds: 4,
  },
  {
    name: 'has arguments and folders that are commands',
    calls: [
      `set -- '$(touch CANARY/x)' $'a\\nb' "'; touch CANARY/x; '"; mkdir -p $'/work/$(touch CANARY\\nx)'; pushd $'/work/$(touch CANARY\\nx)'; rmdir "$PWD"; true`,
      'popd; echo "$#"',
    ],
  },
  {
    name: 'has a function whose name is a command',
    calls: [
      `eval '/bin/ls() { echo mine; }; -x() { echo bad > CANARY/secret; }' 2>/dev/null; export -f -- -x 2>/dev/null; true`,
      'true',
    ],
  },
];

export const KERNEL_ATTACKS: readonly Attack[] = [...families, ...otherNumbers, ...calls, ...copying, ...states];
