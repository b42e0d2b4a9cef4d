// The attempts of hostile programs, by family. An attack is an expression of Python: if it has a true value, without an
// exception, it got what it must not get. Names: `sys_(number on x86-64, …)` calls the kernel, `SECRET` is a file of the
// host, `PORT` a listener on its loopback, `MARK` a word of its own for each attack.
import type { Confining } from '../backends.ts';

export interface Attack {
  name: string;
  try: string;
  /** Runs before it, as statements. */
  first?: string;
  only?: Confining;
}

const attacks = (lines: Record<string, string | [first: string, attempt: string]>, only?: Confining): Attack[] =>
  Object.entries(lines).map(([name, given]) => ({
    name,
    try: typeof given === 'string' ? given : given[1],
    ...(typeof given !== 'string' && { first: given[0] }),
    ...(only && { only }),
  }));

const files = attacks({
  'a file of the host by its path': 'open(SECRET).read()',
  'the same through the root of the first process': 'open("/proc/1/root" + SECRET).read()',
  'the same through its working folder': 'open("/proc/1/cwd/.." + SECRET).read()',
  'password hashes': 'open("/etc/shadow").read()',
  'keys of ssh': 'os.listdir("/root/.ssh")',
  'a link to a file of the host': ['os.symlink(SECRET, "/tmp/link")', 'open("/tmp/link").read()'],
  'a hard link to it': ['', 'os.link(SECRET, "/tmp/hard") is None'],
  'dots upwards': 'open("../" * 40 + SECRET.lstrip("/")).read()',
  'dots upwards through /proc/self/fd': [
    'fd = os.open("/", os.O_RDONLY)',
    'os.open(".." + SECRET, os.O_RDONLY, dir_fd=fd)',
  ],
  'a new file in /usr': 'open("/usr/rv-attack", "w")',
  'writing to the interpreter':
    'open(os.path.realpath(sys.executable), "r+b") if sys.platform == "linux" else open("/lib/python314.zip", "r+b") and False',
  'a device of disks, made':
    'os.open("/tmp/sda", os.O_RDONLY) if os.mknod("/tmp/sda", 0o60666, os.makedev(8, 0)) is None else 0',
  'memory of the machine, made as a device':
    'os.open("/tmp/mem", os.O_RDONLY) if os.mknod("/tmp/mem", 0o20666, os.makedev(1, 1)) is None else 0',
  'memory of the kernel': 'open("/proc/kcore", "rb").read(4096)',
  'the kernel log': 'open("/dev/kmsg", "rb").read(1)',
  'a setting of the kernel': 'sys.platform == "linux" and open("/proc/sys/kernel/core_pattern", "w").write("|/bin/x")',
  'the request key': 'sys.platform == "linux" and open("/proc/sysrq-trigger", "w").write("c")',
  'files of the system bus': 'os.listdir("/sys/class")',
  'control groups': 'os.listdir("/sys/fs/cgroup")',
  'the socket of docker': 'os.stat("/var/run/docker.sock")',
});

const network = attacks({
  'loopback of the host, TCP': 'connects(socket.AF_INET, ("127.0.0.1", PORT))',
  'loopback of the host, by name': 'connects(socket.AF_INET, ("localhost", PORT))',
  'loopback of the host, IPv6': 'connects(socket.AF_INET6, ("::1", PORT, 0, 0))',
  'loopback through a mapped address': 'connects(socket.AF_INET6, ("::ffff:127.0.0.1", PORT, 0, 0))',
  'the zero address': 'connects(socket.AF_INET, ("0.0.0.0", PORT))',
  'the internet': 'connects(socket.AF_INET, ("1.1.1.1", 80))',
  'the service of cloud secrets': 'connects(socket.AF_INET, ("169.254.169.254", 80))',
  'a name in the DNS': 'not socket.getaddrinfo("example.com", 80)[0][4][0].startswith("172.29.")',
  'a datagram out': 'socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("8.8.8.8", 53))',
  'a raw socket': 'socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)',
  'packets of the wire': 'socket.socket(17, socket.SOCK_RAW, 3)',
  'the hypervisor (vsock)': 'socket.socket(40, socket.SOCK_STREAM)',
  bluetooth: 'socket.socket(31, socket.SOCK_RAW, 1)',
  'crypto of the kernel (AF_ALG)': 'socket.socket(38, socket.SOCK_SEQPACKET)',
  'an abstract unix socket of the host': 'connects(socket.AF_UNIX, "\\0rv-" + MARK)',
  urllib: '__import__("urllib.request").request.urlopen("http://127.0.0.1:%d/" % PORT, timeout=2)',
});

const processes = attacks({
  'killing every process': ['', 'any(kills(pid) for pid in range(4, 400))'],
  'killing the first process': ['', 'os.kill(1, 9) is None and not alive(1)'],
  'stopping the first process': ['', 'os.kill(1, 19) is None and state(1) == "T"'],
  'processes of the host in /proc': 'len([n for n in os.listdir("/proc") if n.isdigit()]) > 4',
  'the environment of the first process': 'open("/proc/1/environ", "rb").read()',
  'the memory of the first process': 'open("/proc/1/mem", "rb")',
  'the maps of the first process': 'open("/proc/1/maps").read()',
  'the descriptors of the first process': 'any(os.readlink("/proc/1/fd/" + name) for name in os.listdir("/proc/1/fd"))',
  'a descriptor of the first process': 'os.open("/proc/1/fd/3", os.O_RDWR)',
  'root of the machine': 'os.setresuid(1000, 0, 0) is None',
  'another group': 'os.setgroups([0, 4, 27]) is None',
  'a program with the set-user bit': [
    'open("/tmp/s", "w").write("#!/bin/sh\\n"); os.chmod("/tmp/s", 0o4755)',
    'False if os.stat("/tmp/s").st_uid == os.getuid() else True',
  ],
  'a higher priority': 'os.nice(-10) < 0',
  'real time': 'os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50)) is None',
  'more processes than may be':
    '__import__("resource").setrlimit(__import__("resource").RLIMIT_NPROC, (100000, 100000)) is None',
  'more memory than may be': '__import__("resource").setrlimit(__import__("resource").RLIMIT_AS, (-1, -1)) is None',
});

const kernel = attacks(
  {
    io_uring: 'sys_(425, 8, buffer)',
    bpf: 'sys_(321, 0, buffer, 72)',
    userfaultfd: 'sys_(323, 1)',
    perf: 'sys_(298, buffer, 0, -1, -1, 0)',
    'the session keyring': 'sys_(250, 0, -3, 1)',
    'a new key': 'sys_(248, b"user", b"rv", b"x", 1, -3)',
    'a wanted key': 'sys_(249, b"user", b"rv", None, -3)',
    'tracing the first process': 'sys_(101, 16, 1, 0, 0)',
    'being traced': 'sys_(101, 0, 0, 0, 0)',
    'memory of the first process': 'sys_(310, 1, buffer, 1, buffer, 1, 0)',
    'writing there': 'sys_(311, 1, buffer, 1, buffer, 1, 0)',
    'a descriptor of the first process': ['fd = libc.syscall(434, 1, 0)', 'fd >= 0 and sys_(438, fd, 3, 0)'],
    'a user namespace': 'sys_(272, 0x10000000)',
    'a mount namespace': 'sys_(272, 0x20000)',
    'a network namespace': 'sys_(272, 0x40000000)',
    'a time namespace': 'sys_(272, 0x80)',
    'a namespace by clone': 'clones(0x10000000 | 17)',
    'a namespace by clone3': 'sys_(435, struct.pack("<11Q", 0x10000000, *([0] * 10)), 88)',
    'a namespace of the first process': ['', 'sys_(308, os.open("/proc/1/ns/mnt", os.O_RDONLY), 0)'],
    mount: 'sys_(165, b"tmpfs", b"/mnt", b"tmpfs", 0, 0)',
    unmount: 'sys_(166, b"/proc", 2)',
    'a mount by descriptor': 'sys_(430, b"tmpfs", 0)',
    'a copy of a mount': 'sys_(428, -100, b"/", 1)',
    pivot_root: 'sys_(155, b"/tmp", b"/tmp")',
    chroot: 'sys_(161, b"/tmp")',
    'a module': 'sys_(175, buffer, 8, b"")',
    kexec: 'sys_(246, 0, 0, 0, 0)',
    'the host name': 'sys_(170, b"evil", 4)',
    'the clock': 'sys_(227, 0, buffer)',
    'watching a file of the system': 'sys_(294, 0)',
    swap: 'sys_(167, b"/tmp/x", 0)',
    'a file by its handle': 'sys_(304, -100, buffer, 0)',
    'watching all files': 'sys_(300, 0, 0)',
    'a secret part of memory': 'sys_(447, 0)',
    'the terminal of the server': ['import fcntl', 'any(types(fd) for fd in range(3))'],
    'calls of another machine (x32)': 'sys_(0x40000000 + 39)',
    'comparing kernel objects': 'sys_(312, 1, os.getpid(), 0, 0, 0)',
    'pages of another process': 'sys_(279, 1, 0, 0, 0, 0, 0)',
    'a way of running another program has': 'sys_(135, 0x0800000)',
    'who opens what in a folder of the system': [
      'import fcntl\nfd = os.open("/usr/lib", os.O_RDONLY)',
      'fcntl.fcntl(fd, 1026, 0x80000001) == 0',
    ],
    'who opens a file of the system': [
      'import fcntl\nfd = os.open("/usr/bin/env", os.O_RDONLY)',
      'fcntl.fcntl(fd, 1024, 0) == 0',
    ],
    'rules of landlock, which nothing counts': 'sys_(444, struct.pack("<Q", 4), 8, 0)',
    'a long list of who may read a file': [
      'open("/tmp/acl", "w").close()\nentries = [(1, 6, 2**32 - 1)] + [(2, 6, os.getuid())] * 8000 + [(n, 6, 2**32 - 1) for n in (4, 16, 32)]',
      'os.setxattr("/tmp/acl", "system.posix_acl_access", struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *e) for e in entries)) is None',
    ],
  },
  'bubblewrap',
);

const runs = attacks({
  'a file of /tmp': kept('os.path.exists("/tmp/rv-left")', 'open("/tmp/rv-left", "w").write("x")'),
  'a file of /dev/shm': kept(
    'os.path.exists("/dev/shm/rv-left")',
    'os.makedirs("/dev/shm", exist_ok=True); open("/dev/shm/rv-left", "w").write("x")',
  ),
  'a file of the home folder': kept(
    'os.path.exists("/root/rv-left")',
    'os.makedirs("/root", exist_ok=True); open("/root/rv-left", "w").write("x")',
  ),
  'a file of the root': kept('os.path.exists("/rv-left")', 'open("/rv-left", "w").write("x")'),
  'a variable of the environment': kept('"RV_LEFT" in os.environ', 'os.environ["RV_LEFT"] = "x"'),
  'a module': kept('"rv_left" in sys.modules', 'sys.modules["rv_left"] = sys'),
  'a builtin name': kept('hasattr(__import__("builtins"), "rv_left")', '__import__("builtins").rv_left = 1'),
  'a path of modules': kept('"/rv-left" in sys.path', 'sys.path.append("/rv-left")'),
  'the working folder': kept('os.path.exists("rv-left")', 'open("rv-left", "w").write("x")'),
  'a file in any folder but those of the kernel': kept(
    'any("rv-any" in names for _, _, names in folders())',
    'for folder, _, _ in folders():\n        try: open(folder + "/rv-any", "w").write("x")\n        except OSError: pass',
  ),
  'code of earlier runs in memory': [
    'import re\npattern = re.compile(rb"[r]v-secre[t]-of-a-ru[n]")',
    'sys.platform == "linux" and any(pattern.search(part) for part in memory())',
  ],
  'files of the server in its own folder': 'any("supervisor" in n or "filter" in n for n in os.listdir("/tmp"))',
  'descriptors of the server': ['', 'len(descriptors()) > 0'],
  'shared memory segments': ['', 'sys.platform == "linux" and len(open("/proc/sysvipc/shm").read().splitlines()) > 1'],
  'message queues': ['', 'sys.platform == "linux" and len(open("/proc/sysvipc/msg").read().splitlines()) > 1'],
});

function kept(attempt: string, leave: string): [string, string] {
  return [`found = ${attempt}\ntry:\n    ${leave}\nexcept Exception: pass`, 'found'];
}

/** Ways from Python to the JavaScript around it. */
const javascript = attacks(
  {
    'js.process': '__import__("js").process',
    'js.fetch': '__import__("js").fetch',
    'js.globalThis': '__import__("js").globalThis',
    'js.eval': '__import__("js").eval("1")',
    'js.Object': '__import__("js").Object',
    'js.require': '__import__("js").require',
    'js.Deno or Bun': '__import__("js").Deno or __import__("js").Bun',
    'the constructor of a constructor':
      '__import__("pyodide.ffi").ffi.to_js([1]).constructor.constructor("return process")()',
    'an async function by its constructor': '__import__("pyodide.ffi").ffi.to_js([1]).map.constructor("return 1")()',
    'a generator by its constructor':
      '__import__("pyodide.ffi").ffi.to_js([1]).values().constructor.constructor("return 1")()',
    run_js: '__import__("pyodide.code").code.run_js("1")',
    'a script through ctypes': '__import__("ctypes").CDLL(None).emscripten_run_script(b"1")',
    'the script of an int': '__import__("ctypes").CDLL(None).emscripten_run_script_int(b"42") == 42',
    'the folder of the host': '__import__("pyodide_js").mountNodeFS("/h", "/") is None and os.listdir("/h")',
    'the file systems of Emscripten':
      '__import__("pyodide_js").FS.mount(__import__("pyodide_js").FS.filesystems.NODEFS, __import__("pyodide_js")._module, "/h") and os.listdir("/h/etc")',
    'the module of Emscripten': '__import__("pyodide_js")._module.HEAPU8.buffer.constructor.constructor("return 1")()',
    'a listener in JavaScript':
      '__import__("pyodide_js")._api.public_api.globals.constructor.constructor("return 1")()',
    'what the frames of the stack run on': [
      'from pyodide.ffi import to_js, create_proxy\nseen = []\ntry: to_js([1]).flatMap(5)\nexcept Exception as error: errors = error.constructor.__proto__',
      '[setattr(errors, "prepareStackTrace", create_proxy(lambda error, frames, *_: seen.extend(f.getThis() for f in frames))), to_js([1]).at(create_proxy(lambda: 1 / 0))] and seen',
    ],
    'the caller of a function': '__import__("pyodide_js")._module._emscripten_run_script.caller',
    'a folder by a plain object of JavaScript': [
      'from pyodide.ffi import to_js\nimport pyodide_js\nroot = to_js([1]).constructor.prototype.__proto__.constructor.new()\nroot.root = os.path.dirname(SECRET)\nos.mkdir("/mounted")',
      'pyodide_js.FS.mount(pyodide_js.FS.filesystems.NODEFS, root, "/mounted") and os.listdir("/mounted")',
    ],
    'a worker': '__import__("js").Worker',
    'a getter on what all objects inherit': [
      'import pyodide_js\nfrom pyodide.ffi import create_proxy\nO = pyodide_js._module.FS.constructor\nd = O.new()\nd.get = create_proxy(lambda this: True).captureThis()',
      'O.defineProperty(O.prototype, "noDeprecation", d)',
    ],
    'a setter on what all objects inherit': [
      'import pyodide_js\nfrom pyodide.ffi import create_proxy\nO = pyodide_js._module.FS.constructor\nd = O.new()\nd.set = create_proxy(lambda this, value: None).captureThis()',
      'O.defineProperty(O.prototype, "oncomplete", d)',
    ],
    'another method of all lists': [
      'from pyodide.ffi import to_js, create_proxy\nA = to_js([1]).constructor\nold = A.prototype.push',
      '[setattr(A.prototype, "push", create_proxy(lambda *a: 1))] and str(A.prototype.push) != str(old)',
    ],
    'another method of all functions': [
      'from pyodide.ffi import to_js, create_proxy\nF = to_js([1]).map.__proto__',
      '[setattr(F, "call", create_proxy(lambda *a: 1))] and F.call() == 1',
    ],
    'another prototype of all lists': 'O.setPrototypeOf(__import__("pyodide.ffi").ffi.to_js([1]).__proto__, O.new())',
    'the operations of NODEFS': '__import__("pyodide_js")._module.FS.filesystems.NODEFS.stream_ops',
    'the nodes of NODEFS': '__import__("pyodide_js").FS.filesystems.NODEFS.node_ops.setattr',
    'another file system of Emscripten':
      '[getattr(__import__("pyodide_js").FS.filesystems, n).mount for n in ("PROXYFS", "WORKERFS", "IDBFS", "NODERAWFS") if hasattr(__import__("pyodide_js").FS.filesystems, n)]',
    'a mount of any kind':
      '__import__("pyodide_js").FS.mount(__import__("pyodide_js").FS.filesystems.MEMFS, O.new(), "/tmp")',
    'process through a method of the module':
      '__import__("pyodide_js")._module.process or __import__("pyodide_js")._api.process',
    'a script that Pyodide loads': '__import__("pyodide_js")._api.loadScript(SECRET) is None and False',
    'a package of the host': '__import__("pyodide_js").loadPackage(SECRET) and os.path.exists("/lib/python3/secret")',
    'the path of the interpreter':
      '"node_modules" in str(__import__("pyodide_js")._api.config.indexURL) and HOST in str(__import__("pyodide_js")._api.config.indexURL)',
    'a module of Node by import': '__import__("pyodide_js")._module.import("node:fs")',
    'shared memory': '__import__("js").SharedArrayBuffer',
    // The interpreter ends of it, so it comes last.
    'a file of the host that is loaded late':
      '__import__("pyodide_js").FS.createLazyFile("/", "lazy", SECRET, True, False) and open("/lazy").read()',
  },
  'pyodide',
);

const modules = attacks(
  {
    subprocess: '__import__("subprocess").run(["id"])',
    'os.system': 'os.system("id") == 0',
    fork: 'os.fork() >= 0',
    exec: 'os.execv("/bin/sh", ["sh"])',
    posix_spawn: 'os.posix_spawn("/bin/sh", ["sh"], {})',
    multiprocessing: '__import__("multiprocessing").Process(target=print).start() is None',
    threads: '__import__("_thread").start_new_thread(print, ())',
    'a shared library of the host': '__import__("ctypes").CDLL("/usr/lib/x86_64-linux-gnu/libc.so.6")',
    'dlopen of a written file': [
      'open("/tmp/x.so", "wb").write(b"\\0asm\\1\\0\\0\\0")',
      '__import__("ctypes").CDLL("/tmp/x.so")',
    ],
    'mmap of a device': '__import__("mmap").mmap(os.open("/dev/mem", 2), 4096)',
    'a terminal': 'os.openpty()',
    'pipes to the server': 'os.write(3, b"{}\\n")',
    'the job channel': 'os.read(4, 1)',
    'the name of the machine': 'os.uname().nodename == HOST',
    'the user': '__import__("pwd").getpwuid(os.getuid()).pw_dir == "/root/x"',
    'open files of the process': 'os.listdir("/proc/self/fd") and len(os.listdir("/proc/self/fd")) > 6',
    'the command line': 'b"pyodide" in open("/proc/self/cmdline", "rb").read()',
    'the environment': 'any("rollout" in value or "node" in value for value in os.environ.values())',
    'sleep of another thread': '__import__("threading").Thread(target=print).start() is None',
  },
  'pyodide',
);

/** The forbidden reads and writes, by the name of a place. */
const places = attacks(
  Object.fromEntries(
    [
      '/usr',
      '/usr/bin',
      '/usr/lib',
      '/etc',
      '/dev',
      '/proc',
      '/proc/sys',
      '/bin',
      '/lib',
      '/sbin',
      '/usr/local',
      '/usr/share',
      '/run/bin',
    ].map((folder) => [`a file written to ${folder}`, `open("${folder}/rv-attack", "w").write("x")`]),
  ),
  'bubblewrap',
);

/** The base of a forked run: its init, the interpreter that it was forked from, and the session that runs share. */
const forked = attacks(
  {
    'a child beside it, which nobody waits for': 'clones(0x8000 | 17)',
    'the first process as the first victim when memory is short': 'open("/proc/1/oom_score_adj", "w").write("1000")',
    'less processor time for the session of all runs': 'open("/proc/self/autogroup", "w").write("19")',
    'no processor time for the first process': 'os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0)) is None',
    'the same by attributes': 'sys_(314, 1, struct.pack("<IIQiIQQQ", 48, 5, 0, 0, 0, 0, 0, 0), 0)',
    'the same by its parameter': 'sys_(142, 1, struct.pack("i", 0))',
    'a low priority for the first process': 'os.setpriority(os.PRIO_PROCESS, 1, 19) is None',
    'a low priority for its group': 'os.setpriority(os.PRIO_PGRP, 0, 19) is None',
    'a low priority for its user': 'os.setpriority(os.PRIO_USER, 0, 19) is None',
    'one processor for the first process': 'os.sched_setaffinity(1, [0]) is None',
    'a limit for the first process': [
      'import resource',
      'resource.prlimit(1, resource.RLIMIT_CPU, (1, 1)) is not None',
    ],
    'the processes around it, in its own /proc': [
      '',
      '[n for n in os.listdir("/proc") if n.isdigit() and int(n) != os.getpid()]',
    ],
    'memory that is shared with the interpreter':
      '[line for line in open("/proc/self/maps") if "w-s" in line or "ws" in line.split()[1]]',
    'a capability, taken back':
      'libc.capset(struct.pack("<II", 0x20080522, 0), struct.pack("<6I", *[0xffffffff] * 6)) == 0',
    'a capability for what it executes': 'libc.prctl(47, 2, 12, 0, 0) == 0',
    'more than its bounding set': 'libc.prctl(23, 21, 0, 0, 0) == 1',
    'what setuid would give': 'libc.prctl(39, 0, 0, 0, 0) == 0',
    'a dump of its memory': ['import resource', 'resource.setrlimit(resource.RLIMIT_CORE, (1 << 20, 1 << 20)) is None'],
    'the interface of its network': [
      'import fcntl\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)',
      'fcntl.ioctl(s, 0x8914, b"lo".ljust(16, b"\\0") + bytes(24))',
    ],
    'a link by netlink': [
      's = socket.socket(16, 3, 0)\nbody = struct.pack("<BBHiII", 0, 0, 0, 0, 0, 0) + struct.pack("<HH", 12, 18 | 0x8000) + struct.pack("<HH", 8, 1) + b"veth"\ns.send(struct.pack("<IHHII", 16 + len(body), 16, 0x605, 1, 0) + body)',
      'struct.unpack_from("<i", s.recv(4096), 16)[0] == 0',
    ],
    'a terminal of another run': '[n for n in os.listdir("/dev/pts") if n != "ptmx"]',
    'an alarm that wakes the machine': 'sys_(283, 8, 0)',
    'a deadline of the scheduler':
      'sys_(314, 0, struct.pack("<IIQiIQQQ", 48, 6, 0, 0, 0, 1000000, 2000000, 2000000), 0)',
    'the memory of the first process, given up': ['fd = libc.syscall(434, 1, 0)', 'fd >= 0 and sys_(448, fd, 0)'],
    'the group of another process': 'os.setpgid(1, 0) is None',
    'a group that reaches beyond it': 'os.getpgid(1) != os.getpgrp() or os.getpgrp() not in (1, os.getpid())',
    'sockets of others, by their table': 'len(open("/proc/net/unix").read().splitlines()) > 1',
    'a file of /etc that all runs read': 'os.chmod("/etc/passwd", 0o600) is None',
    'the time of a file of the interpreter': 'os.utime(os.__file__) is None',
    'a place mounted over by a link of /proc': 'os.rename("/proc", "/old") is None',
  },
  'bubblewrap',
);

export const FAMILIES: Record<string, Attack[]> = {
  files,
  places,
  network,
  processes,
  kernel,
  'other runs': runs,
  forked,
  javascript,
  modules,
};
