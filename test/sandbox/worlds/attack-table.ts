/** A program's attempt in a world. It prints ESCAPED where it got what it must not have. */
export interface Attack {
  name: string;
  /** Calls one after another, a layer each. `CANARY` becomes a folder of this machine that holds `secret`. */
  calls: readonly string[];
  /** Part of the fast tests. */
  short?: true;
  seconds?: number;
}

const targets = [
  'CANARY/secret',
  '../../../../../../../../..CANARY/secret',
  '/proc/1/rootCANARY/secret',
  '/proc/self/cwd/../../../..CANARY/secret',
  '/proc/self/root/..CANARY/secret',
];

const links: Attack[] = targets.flatMap((target, i) => [
  {
    name: `reads through a link to ${target}`,
    calls: [`ln -s ${target} /tmp/l`, 'cat /tmp/l'],
    ...(i === 0 ? { short: true as const } : {}),
  },
  {
    name: `writes through a link to ${target}`,
    calls: [`ln -s ${target} /tmp/l; echo bad > /tmp/l`, 'echo bad >> /tmp/l'],
  },
  { name: `links hard to ${target}`, calls: [`ln ${target} /tmp/h && echo bad > /tmp/h`] },
  {
    name: `removes below a link to the folder of ${target}`,
    calls: [
      `ln -s $(dirname ${target} 2>/dev/null || echo ${target.replace('/secret', '')}) /tmp/e`,
      'rm -rf /tmp/e/secret /tmp/e/*',
      'echo bad > /tmp/e/new',
    ],
  },
  { name: `moves ${target}`, calls: [`mv ${target} /tmp/m; cat /tmp/m`] },
  {
    name: `changes the mode and size of ${target}`,
    calls: [`chmod 777 ${target}; truncate -s 0 ${target}; touch ${target}`],
  },
  {
    name: `puts a link to ${target} where a folder was`,
    calls: [
      'mkdir -p /tmp/f/secret',
      `rm -r /tmp/f; ln -s ${target.replace('/secret', '')} /tmp/f`,
      'echo bad > /tmp/f/secret; cat /tmp/f/secret | grep -v bad',
    ],
  },
]);

const tops: Attack[] = ['etc', 'tmp', 'root', 'home', 'opt', 'srv', 'mnt', 'work'].flatMap((top, i) => [
  {
    name: `replaces /${top} by a link`,
    calls: [`rm -rf /${top}; ln -s CANARY /${top}`, `echo bad > /${top}/secret; rm -rf /${top}/*`],
    ...(i === 0 ? { short: true as const } : {}),
  },
  {
    name: `replaces /${top} by a file and a folder again`,
    calls: [`rm -rf /${top}; echo f > /${top}`, `rm /${top}; mkdir /${top}; echo n > /${top}/n`],
  },
]);

const numbers: readonly [string, number, number][] = [
  ['c', 1, 1],
  ['c', 1, 3],
  ['c', 1, 5],
  ['c', 1, 9],
  ['c', 5, 0],
  ['c', 10, 229],
  ['c', 10, 237],
  ['b', 7, 0],
  ['b', 8, 0],
  ['b', 252, 0],
  ['b', 253, 0],
  ['b', 254, 0],
  ['b', 259, 0],
];
const devices: Attack[] = numbers.map(([kind, major, minor], i) => ({
  name: `makes a device ${kind} ${major} ${minor}`,
  calls: [
    `for d in /tmp /dev /work /; do mknod $d/dv ${kind} ${major} ${minor} 2>/dev/null && head -c 16 $d/dv 2>/dev/null | wc -c | grep -vq '^0' && echo ESCAPED; done; true`,
    'ls -l /tmp/dv /work/dv 2>&1',
  ],
  ...(i === 0 ? { short: true as const } : {}),
}));

const setuid: Attack[] = [
  ...['4755', '2755', '6755', '4777', '1777', '7777'].map((mode) => ({
    name: `leaves a program of mode ${mode}`,
    calls: [`cp /bin/bash /work/s; chmod ${mode} /work/s`, '/work/s -pc "id -u"'],
  })),
  {
    name: 'gives a program to another user',
    calls: ['cp /bin/bash /work/s; chown 1000:1000 /work/s; chown nobody /work/s; chmod 4755 /work/s'],
  },
  {
    name: 'becomes another user',
    calls: ['perl -e \'$< = $> = 1000; print "ESCAPED\\n" if open(F, ">/etc/shadow-x") && $> == 1000\''],
  },
  {
    name: 'sets file capabilities',
    calls: [
      `perl -e '$v = pack("V5", 0x02000001, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff); syscall(188, "/work/a", "security.capability", $v, 20, 0)'`,
      '/work/a; true',
    ],
  },
  {
    name: 'takes all capabilities',
    calls: [
      "setpriv --ambient-caps +sys_admin --inh-caps +sys_admin true && grep -q 'CapEff:.*0000003fffffffff' /proc/self/status && echo ESCAPED; true",
    ],
  },
];

/** System calls of x86-64 that reach past a program's own files. */
const system: readonly [string, number, string][] = [
  ['mount', 165, '"tmpfs", "/mnt", "tmpfs", 0, 0'],
  ['bind mount', 165, '"/", "/mnt", 0, 4096, 0'],
  ['umount2', 166, '"/proc", 2'],
  ['pivot_root', 155, '"/mnt", "/mnt"'],
  ['chroot', 161, '"/tmp"'],
  ['unshare user', 272, '0x10000000'],
  ['unshare mount', 272, '0x20000'],
  ['unshare pid', 272, '0x20000000'],
  ['setns', 308, '0, 0'],
  ['open_tree', 428, '-100, "/", 1'],
  ['fsopen', 430, '"tmpfs", 0'],
  ['move_mount', 429, '0, "", 0, "", 0'],
  ['mount_setattr', 442, '-100, "/", 0, 0, 0'],
  ['open_by_handle_at', 304, '-100, 0, 0'],
  ['name_to_handle_at', 303, '-100, "/", 0, 0, 0'],
  ['bpf', 321, '0, 0, 0'],
  ['perf_event_open', 298, '0, 0, -1, -1, 0'],
  ['io_uring_setup', 425, '1, 0'],
  ['userfaultfd', 323, '0'],
  ['keyctl', 250, '0, -3, 1'],
  ['add_key', 248, '"user", "x", "y", 1, -3'],
  ['ptrace', 101, '16, 1, 0, 0'],
  ['process_vm_readv', 310, '1, 0, 0, 0, 0, 0'],
  ['kexec_load', 246, '0, 0, 0, 0'],
  ['init_module', 175, '0, 0, ""'],
  ['delete_module', 176, '"x", 0'],
  ['reboot', 169, '0, 0, 0, 0'],
  ['swapon', 167, '"/tmp/x", 0'],
  ['settimeofday', 164, '0, 0'],
  ['clock_settime', 227, '0, 0'],
  ['acct', 163, '"/tmp/x"'],
  ['syslog', 103, '3, 0, 0'],
  ['iopl', 172, '3'],
  ['sethostname', 170, '"x", 1'],
  ['setdomainname', 171, '"x", 1'],
  ['fanotify_init', 300, '0, 0'],
  ['quotactl', 179, '0, 0, 0, 0'],
];
/** These change only the world, or are harmless with these arguments. */
const HARMLESS = new Set(['settimeofday', 'clock_settime']);
const calls: Attack[] = system.map(([name, number, words], i) => ({
  name: `calls ${name}`,
  calls: [
    `perl -e '$r = syscall(${number}, ${words}); print "ESCAPED\\n" if $r != -1 && ${HARMLESS.has(name) ? 0 : 1}'`,
  ],
  ...(i % 12 === 0 ? { short: true as const } : {}),
}));

const names = [
  "$'a\\nb'",
  "$'a\\tb'",
  "$'\\xff\\xfe'",
  "$'\\xc3('",
  "'-rf'",
  "'--'",
  `"it's"`,
  `'say "x"'`,
  "'$(touch CANARY/x)'",
  "'`touch CANARY/x`'",
  "';touch CANARY/x;'",
  "$'\\e[31mred'",
  "$'\\u202egnp'",
  "'end '",
  "$'end\\n'",
  "'.wh.a'",
  "'.wh..wh..opq'",
  "'...'",
  "'a:b,c'",
  "'back\\slash'",
  `"$(printf 'n%.0s' {1..255})"`,
  "'*'",
  "'?'",
  "'__rv'",
  "$'\\x01'",
];
const named: Attack[] = names.flatMap((name, i) => [
  {
    name: `writes, renames and removes ${name}`,
    calls: [
      `cd /work; echo 1 > ./${name}`,
      `cd /work; mkdir sub; mv ./${name} sub/`,
      `cd /work; echo 2 > ./${name}; rm sub/${name}`,
    ],
    ...(i === 0 ? { short: true as const } : {}),
  },
  {
    name: `links to and makes a folder ${name}`,
    calls: [
      `cd /work; ln -s ${name} ln; mkdir ./${name} && echo in > ./${name}/f`,
      `cd /work; rm -r ./${name}; ln -s a ./${name}`,
    ],
  },
]);

const whiteouts: Attack[] = [
  { name: 'makes a whiteout', calls: ['mknod /work/a2 c 0 0; mknod /work/d/x2 c 0 0; ls /work'], short: true },
  { name: 'makes a whiteout over a file of the image', calls: ['rm /work/a; mknod /work/a c 0 0; ls /work'] },
  ...[
    'user.overlay.opaque',
    'user.overlay.redirect',
    'user.overlay.metacopy',
    'user.overlay.whiteout',
    'user.overlay.origin',
    'user.overlay.xattr.x',
    'trusted.overlay.opaque',
    'trusted.overlay.redirect',
    'user.fuseoverlayfs.opaque',
  ].map((key) => ({
    name: `sets ${key}`,
    calls: [
      `perl -e 'for $v ("y", "/etc", "CANARY") { syscall(188, $_, "${key}", $v, length($v), 0) for "/work/d", "/work/a", "/work" }'`,
      'ls /work /work/d; cat /work/a',
    ],
  })),
  {
    name: 'renames with a whiteout',
    calls: ['perl -e \'syscall(316, -100, "/work/a", -100, "/work/z", 4)\'', 'ls /work'],
  },
  {
    name: 'exchanges a file and a folder',
    calls: ['perl -e \'syscall(316, -100, "/work/a", -100, "/work/d", 2)\'', 'ls /work /work/a'],
  },
  {
    name: 'removes a folder of the image and makes it again',
    calls: ['rm -r /work/d; mkdir /work/d; echo z > /work/d/z', 'echo x > /work/d/x', 'rm -r /work/d'],
    short: true,
  },
  {
    name: 'moves a folder of the image away and back',
    calls: ['mv /work/d /work/e', 'mv /work/e /work/d', 'rm /work/d/x'],
  },
  {
    name: 'unpacks a tar with whiteouts',
    calls: [
      'cd /tmp; mkdir t; touch t/.wh.a t/.wh..wh..opq; tar cf t.tar t; cd /work; tar xf /tmp/t.tar; cp -r t/. d/',
      'ls -a /work/d',
    ],
  },
];

const sizes: Attack[] = [
  { name: 'makes a file of a terabyte', calls: ['truncate -s 1T /work/big; ls -s /work/big'] },
  { name: 'makes a sparse file of a gigabyte', calls: ['truncate -s 40M /work/big', 'echo end >> /work/big'] },
  {
    name: 'fills the disk',
    calls: [
      'dd if=/dev/zero of=/work/big bs=1M count=500 2>&1',
      'for i in 1 2 3 4 5 6 7 8; do dd if=/dev/zero of=/work/b$i bs=1M count=60; done 2>&1',
    ],
    short: true,
  },
  {
    name: 'fills /dev/shm',
    calls: ['dd if=/dev/zero of=/dev/shm/x bs=1M count=400 2>&1; dd if=/dev/zero of=/dev/x bs=1M count=400 2>&1'],
  },
  {
    name: 'makes 5,000 files',
    calls: ['mkdir /work/m; cd /work/m; for i in {1..5000}; do echo $i > f$i; done', 'rm -r /work/m'],
  },
  {
    name: 'nests 300 folders',
    calls: ['cd /work; for i in {1..300}; do mkdir n && cd n || break; done; echo deep > f', 'rm -r /work/n'],
  },
  {
    name: 'nests folders beyond the longest path',
    calls: [
      'cd /work; p=$(printf "n%.0s" {1..200}); for i in {1..40}; do mkdir $p && cd $p || break; done; echo deep > f; true',
      'rm -rf /work/n*',
    ],
  },
  { name: 'links in a circle', calls: ['cd /work; ln -s l1 l2; ln -s l2 l1; ln -s . self', 'cat l1; rm l1'] },
  {
    name: 'links a file a thousand times',
    calls: ['cd /work; for i in {1..1000}; do ln a h$i; done', 'echo changed > /work/h5'],
  },
  { name: 'leaves a pipe with a name', calls: ['mkfifo /work/p', 'ls -l /work/p'] },
  {
    name: 'leaves a socket',
    calls: [`perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); bind(S, sockaddr_un("/work/s"))'`, 'ls /work'],
  },
  {
    name: 'keeps a folder from being read',
    calls: [
      'mkdir /work/x; echo 1 > /work/x/f; chmod 000 /work/x',
      'chmod 000 /work',
      'chmod 755 /work /work/x; cat /work/x/f',
    ],
  },
  { name: 'takes all memory', calls: [`perl -e '$x = "x" x 2_000_000_000; sleep 5'`], short: true },
  {
    name: 'takes all memory in many processes',
    calls: [`for i in {1..20}; do perl -e '$x = "x" x 60_000_000; sleep 4' & done; wait`],
  },
  { name: 'is a fork bomb', calls: ['f() { f | f & }; f; sleep 1'], short: true, seconds: 4 },
  { name: 'forks in perl', calls: ["perl -e '1 while defined fork'"], seconds: 4 },
  {
    name: 'writes without end',
    calls: ['yes() { while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done; }; yes'],
    seconds: 2,
  },
  { name: 'writes bytes without end', calls: ['cat /dev/urandom'], seconds: 2 },
  { name: 'writes a line without end', calls: ['perl -e \'print "x" x 1000000 while 1\''], seconds: 2 },
];

const shells: Attack[] = [
  'exit 7',
  'exec sleep 100',
  'exec > /dev/null',
  'exec 2>&-',
  'exec 1>&-',
  'exec 0<&-; exec 3>&-',
  'kill -9 $$',
  'kill -9 -1',
  'kill -STOP $$',
  'kill -9 $PPID',
  'set -e; false',
  'set -u; echo $none',
  'set -n',
  "trap '' TERM INT HUP; sleep 100",
  'trap "echo bye; sleep 100" EXIT; exit',
  'eval() { echo mine; }',
  'printf() { echo mine; }',
  'builtin() { :; }',
  'unset PATH',
  'PATH=',
  'IFS=xyz',
  'enable -n printf eval',
  'alias cd=false',
  'readonly PWD PATH',
  '( sleep 100 & ) ; echo left',
  'nohup sleep 100 > /dev/null 2>&1 &',
  'perl -e \'fork and exit; use POSIX; POSIX::setsid(); fork and exit; $0 = "bash"; sleep 100\'',
  'while :; do :; done',
  'cat',
  'read x',
  'ulimit -n 3',
  'ulimit -u 1',
  'ulimit -v 1000',
  'echo "unclosed',
  "cat <<'E'",
  'if true; then',
  ')',
  '}',
  'done',
  'coproc cat',
  'PS4="$(touch CANARY/x)"; set -x',
  'export BASH_ENV=/work/env ENV=/work/env; echo "echo ESC" > /work/env',
  'cd /work/d; rm -r /work/d',
  'disown -a; bg; fg',
  'echo x > /proc/self/oom_score_adj; echo -1000 > /proc/self/oom_score_adj',
  'for p in /proc/[0-9]*; do cat $p/environ $p/maps 2>/dev/null; done | grep -c CANARY | grep -qv "^0" && echo ESCAPED',
  'ls /proc/1/root/../../..CANARY && echo ESCAPED',
  'ls /proc/*/fd/ -l | grep CANARY && echo ESCAPED',
  'for p in /proc/[0-9]*; do for f in 0 1 2 3 4 5 6 7 8 9; do echo forged > $p/fd/$f; done; done 2>/dev/null',
  '(exec 3<>/dev/tcp/127.0.0.1/22) 2>/dev/null && echo ESCAPED',
  'v=$(cat /proc/sys/kernel/panic); echo $v > /proc/sys/kernel/panic && echo ESCAPED',
  'echo b > /proc/sysrq-trigger && echo ESCAPED',
  'v=$(cat /proc/sys/kernel/core_pattern); echo "$v" > /proc/sys/kernel/core_pattern && echo ESCAPED',
  'for f in $(find /proc/sys -type f 2>/dev/null | head -2000); do [ -w $f ] && echo ESCAPED $f; done',
  'm=$(stat -c %a /dev/full); chmod $m /dev/full && echo ESCAPED',
  'for f in /dev/* /proc/meminfo /proc/version /proc/sys; do touch $f && [ ! -L $f ] && [ -c $f ] && echo ESCAPED $f; done',
  'chmod 444 /proc/version && echo ESCAPED',
  'chown 0:0 /dev/null /proc/version && echo ESCAPED',
  'perl -e \'print "ESCAPED\\\\n" if syscall(188, "/dev/null", "user.x", "y", 1, 0) == 0\'',
  'rm /dev/null && ls /dev',
  'mv /dev/zero /dev/null && echo ESCAPED',
  'cat /proc/kmsg /proc/kcore /proc/timer_list | head -c 1 | grep -q . && echo ESCAPED',
  'echo hi > /dev/null && head -c 4 /dev/zero | wc -c',
  'cat /proc/kcore | head -c1 | grep -q . && echo ESCAPED',
  'ls /sys/fs/cgroup/* && echo x > /sys/fs/cgroup/cgroup.procs && echo ESCAPED',
].map((command) => ({ name: `runs ${command}`, calls: [command], seconds: 2 }));

export const ATTACKS: readonly Attack[] = [
  ...links,
  ...tops,
  ...devices,
  ...setuid,
  ...calls,
  ...named,
  ...whiteouts,
  ...sizes,
  ...shells,
];
