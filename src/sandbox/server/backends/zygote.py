# The first process of a bubblewrap sandbox: a warmed interpreter from which runs of Python are forked. It prepares a slot
# ahead of each run: an init that only sleeps, and, forked into the init's process space, the process that will run the
# program, in separate namespaces. All protection is in place before that process takes a job; the zygote itself
# never sees a job, an output or a file.
#
# The program runs as `python FILE` would run it, by the same C function, with no Python frame below it: the hooks of a
# fork call it, in a thread that has no frame. A hook is an iterator's `next`, so a fork of the program finds it used up.
#
# argv: the path that every program gets. fd 3: the server. Its first line is the filter of system calls in hex ('' for
# none); commands follow, a line each: `more SLOT BYTES`, `got SLOT`, `keep SLOT`, `kill SLOT`. The answers are `slot SLOT
# PID INIT JOB OUT ERR REPORT` and `kept SLOT WANTED`; all but the first three are descriptors of this process, which the
# server opens through /proc. The report of a slot is closed when nothing of it runs any more. It says `S TIME`, `E STATUS
# TIME`, a `F INDEX LENGTH` with its bytes for each file, `D` behind the last of them, and `X WHY` for a failure.
import sys
_baseline = set(sys.modules)
import _signal, _thread, _weakref, atexit, collections, ctypes, functools, gc, itertools, os, select, time

_path = sys.argv[0]
_folder = os.path.dirname(_path)
_libc = ctypes.CDLL(None, use_errno=True)
_api = ctypes.PyDLL(None, use_errno=True)
_HEAD = 16
_NEWUSER = 0x10000000
_NEWPID = 0x20000000
# Mount, ipc and net.
_SPACES = 0x20000 | 0x08000000 | 0x40000000
# Memory and descriptors.
_SHARED = 0x100 | 0x400
_NOSUID, _NODEV, _NOEXEC, _BIND, _MOVE, _REC, _PRIVATE = 2, 4, 8, 4096, 8192, 16384, 262144
_FS, _DETACH = 0x200, 2
_ROOT = '/run/slot'
_fopen = _libc.fopen
_fopen.restype = ctypes.c_void_p
_exit = _api.Py_Exit
_exit.argtypes = [ctypes.c_bool]
_libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
_libc.mount.argtypes = [ctypes.c_char_p] * 3 + [ctypes.c_ulong, ctypes.c_char_p]


def _finish(failed):
    """Ends the process of a program that ran to its end: all that Py_Exit would show, without taking the interpreter
    itself apart, which takes longer than most programs. Where it cannot, the last hook calls Py_Exit."""
    is_begun = False
    try:
        if atexit._ncallbacks() or _thread._count() != _threads:
            return _left.append(failed)
        names = ['__main__', *(name for name in sys.modules if name not in _baseline)]
        # A program may put anything there: typing has put classes. Python clears modules alone.
        own = [sys.modules[name] for name in names if isinstance(sys.modules[name], type(sys))]
        modules = [_weakref.ref(module) for module in own]
        own = None
        for name in ('stdin', 'stdout', 'stderr'):
            setattr(sys, name, getattr(sys, '__' + name + '__'))
        _flush()
        for name in ('last_type', 'last_value', 'last_traceback', 'last_exc'):
            if hasattr(sys, name):
                setattr(sys, name, None)
        is_begun = True
        for name in sys.modules:
            sys.modules[name] = None
        gc.collect()
        # As _PyModule_Clear does it, the last module first.
        for module in filter(None, [reference() for reference in reversed(modules)]):
            values = vars(module)
            for is_first in (True, False):
                for name in list(values):
                    if name != '__builtins__' and is_first == (name[:1] == '_' and name[1:2] != '_'):
                        values[name] = None
        module = values = None
        gc.collect()
        _flush()
    except BaseException:
        # Py_Exit would look for the modules that are gone, and say so.
        if not is_begun:
            return _left.append(failed)
    _api.exit(-failed)


def _flush():
    for file in (sys.stdout, sys.stderr):
        if file is not None and not file.closed:
            file.flush()


# As pymain_run_file calls it.
_run = _api.PyRun_SimpleFileExFlags
_run.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p]
_run.restype = _finish
# One arena, or each thread sets 64 MB of addresses aside, which count against the limit.
_libc.mallopt(-8, 1)


def _check(result, what):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, what + ': ' + os.strerror(number))
    return result


def _mount(source, target, kind, flags, options=None):
    encode = lambda text: None if text is None else text.encode()
    _check(_libc.mount(encode(source), target.encode(), encode(kind), flags, encode(options)), target)


def _prctl(option, value=0):
    return _libc.prctl(option, value, 0, 0, 0)


def _root(disk):
    """The root of a program, but for /proc, which shows the process space of who mounts it."""
    _mount('tmpfs', _ROOT, 'tmpfs', _NOSUID | _NODEV, 'mode=755,size=%d,nr_inodes=%d' % (disk, 65536))
    for link, name in _links:
        os.symlink(link, name)
    for folder in _folders:
        os.mkdir(folder)
    for file in _empty:
        os.close(os.open(file, os.O_CREAT, 0o644))
    for name in ('/tmp', '/var/tmp'):
        os.chmod(_ROOT + name, 0o1777)
    # Moved, not bound: this file system space is a copy of the zygote's, and each mount takes its time to make and to end.
    for part in _parts:
        _check(_libc.mount(*part), part[1].decode())
    _mount('tmpfs', _ROOT + '/dev/shm', 'tmpfs', _NOSUID | _NODEV, 'mode=1777,size=67108864,nr_inodes=4096')
    _mount('devpts', _ROOT + '/dev/pts', 'devpts', _NOSUID | _NOEXEC, 'newinstance,ptmxmode=0666,mode=620,max=64')


def _loopback():
    socket = _check(_libc.socket(2, 2, 0), 'socket')
    request = b'lo'.ljust(16, b'\0') + (0x41).to_bytes(2, sys.byteorder) + bytes(22)
    _libc.ioctl(socket, ctypes.c_ulong(0x8914), ctypes.create_string_buffer(request, 40))
    os.close(socket)


def _write(path, text):
    file = os.open(path, os.O_WRONLY)
    os.write(file, text)
    os.close(file)


class _Filter(ctypes.Structure):
    _fields_ = [('len', ctypes.c_ushort), ('filter', ctypes.c_void_p)]

    def __init__(self, program):
        self.program = ctypes.create_string_buffer(program, len(program))
        super().__init__(len(program) // 8, ctypes.addressof(self.program))
        self.address = ctypes.addressof(self)


def _lock():
    """No capability, here and in all that is executed, and only the system calls of the filter."""
    _check(_prctl(38, 1), 'no_new_privs')
    for capability in _capabilities:
        _libc.prctl(24, capability, 0, 0, 0)
    _prctl(47, 4)
    _check(_libc.capset(_CAPABILITY_HEAD, _NO_CAPABILITIES), 'capset')
    if _filter:
        _check(_libc.prctl(22, 2, _filter.address, 0, 0), 'seccomp')
    _prctl(4, 0)


def _read(file, length):
    parts = []
    while length:
        part = os.read(file, min(length, 1 << 20))
        if not part:
            os._exit(0)
        parts.append(part)
        length -= len(part)
    return b''.join(parts)


def _save(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    view = memoryview(content)
    while view:
        view = view[os.write(file, view):]
    os.close(file)


def _limit(resource, value):
    _check(_libc.setrlimit(resource, _Pair(value, value)), 'setrlimit')


def _begin():
    """The first that a forked process does. The one of a program locks itself in, waits for its job, and leaves nothing
    open but the three streams; the next hook runs the program."""
    global _threads
    spaces, (job, out, err, report) = _fork
    try:
        if spaces is not None:
            _collect(spaces, job, report)
        # The group is the init's, in the init's session: the program may begin a new session.
        os.setpgid(0, 1)
        sys.unraisablehook = sys.__unraisablehook__
        _close_but(job, out, err, report)
        # The init's entry would be the program's to write to, as it is of the same user; and the init is the zygote's in part.
        _mount('proc', _ROOT + '/proc', 'proc', 1 | _NOSUID | _NODEV | _NOEXEC, 'hidepid=2')
        _check(_libc.unshare(_NEWUSER), 'user namespace')
        _write('/proc/self/setgroups', b'deny')
        _write('/proc/self/uid_map', b'0 0 1')
        _write('/proc/self/gid_map', b'0 0 1')
        os.chroot(_ROOT)
        os.chdir('/')
        null = os.open('/dev/null', os.O_RDWR)
        for file in (0, 1, 2):
            os.dup2(null, file)
        os.close(null)
        _lock()
        if not os.read(job, 1):
            os._exit(0)
        _prctl(4, 1)
        limits, lengths = _read(job, int(_read(job, _HEAD))).decode().split(';')
        lengths = [int(length) for length in lengths.split(',')]
        stdin = os.open('/run', os.O_TMPFILE | os.O_RDWR, 0o600) if lengths[0] else os.open('/dev/null', os.O_RDONLY)
        left = lengths[0]
        while left:
            left -= os.write(stdin, _read(job, min(left, 1 << 20)))
        if lengths[0]:
            os.lseek(stdin, 0, 0)
        for name, content in zip(lengths[1::2], lengths[2::2]):
            path = _read(job, name).decode('utf-8', 'surrogateescape')
            _save(path, _read(job, content))
        os.dup2(stdin, 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.chdir(_folder)
        # Not frozen as what is older: it may be part of the program's garbage.
        sys.modules['__main__'] = type(sys)('__main__')
        sys.modules['__main__'].__builtins__ = sys.modules['builtins']
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)
        for resource, value in (pair.split('=') for pair in limits.split(',')):
            _limit(int(resource), int(value))
        _threads = _thread._count()
        _files.append(_fopen(_path.encode(), b'rb'))
        if not _files[0]:
            os._exit(1)
        os.write(report, b'S %d\n' % time.monotonic_ns())
        _close_but(_libc.fileno(ctypes.c_void_p(_files[0])))
    except BaseException as error:
        os.write(report, ('X %s\n' % error).encode())
        os._exit(97)


def _close_but(*files):
    before = 2
    for file in sorted(files):
        os.closerange(before + 1, file)
        before = file
    # close_range
    if _libc.syscall(436, before + 1, -1, 0) < 0:
        os.closerange(before + 1, 65536)


def _collect(spaces, wanted, report):
    """A process in the file system of a program that has ended: hands out its files."""
    try:
        _check(_libc.setns(spaces, 0x20000), 'setns')
        os.chroot(_ROOT)
        os.chdir('/')
        _close_but(wanted, report)
        _lock()
        paths = b''
        while True:
            part = os.read(wanted, 65536)
            if not part:
                break
            paths += part
        for index, entry in enumerate(paths.split(b'\n')[:-1]):
            most, path = entry.split(b' ', 1)
            _fetch(report, index, int(most), bytes.fromhex(path.decode()))
        os.write(report, b'D\n')
    except BaseException as error:
        os.write(report, ('X %s\n' % error).encode())
    os._exit(0)


def _fetch(report, index, most, path):
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return
    state = os.fstat(file)
    if state.st_mode & 0o170000 == 0o100000:
        length = min(state.st_size, most + 1)
        os.write(report, b'F %d %d\n' % (index, length))
        while length:
            part = os.read(file, min(length, 65536)) or bytes(min(length, 65536))
            length -= len(part)
            while part:
                part = part[os.write(report, part):]
    os.close(file)


class _Slot:
    """A program's place: its init, then the program, then who hands out its files."""

    def __init__(self, number, disk):
        self.number = number
        self.disk = disk
        self.kept = None
        pipes = [os.pipe() for _ in range(4)]
        (job, to), (out_from, out), (err_from, err), (report_from, report) = pipes
        self.theirs, self.ours = (job, out, err, report), (to, out_from, err_from, report_from)
        self.report = report
        self.init = self.pid = None

    def prepare(self):
        self.sleeper = _sleepers.pop() if _sleepers else _Sleeper()
        self.init = self.sleeper.start()
        os.setpgid(self.init, self.init)
        space = os.open('/proc/%d/ns/pid' % self.init, os.O_RDONLY)
        _enter(space, _NEWPID)
        os.close(space)
        # Made by this thread, in warm memory: the program's process would copy each page that it touches.
        _check(_libc.unshare(_SPACES), 'namespaces')
        _loopback()
        _root(self.disk)
        _fork[:] = [None, self.theirs]

    def abandon(self):
        """It is not to be."""
        if self.init:
            os.kill(self.init, _signal.SIGKILL)
            os.waitpid(self.init, 0)
        for file in (self.kept or ()) if self.theirs is None else (*self.theirs[:3], *self.ours):
            os.close(file)
        self.close()

    def forked(self, pid):
        for file in self.theirs[:3]:
            os.close(file)
        self.theirs = None
        self.pid = pid
        _watch(pid, self.ended)
        os.write(3, b'slot %d %d %d %d %d %d %d\n' % ((self.number, pid, self.init) + self.ours))

    def got(self):
        for file in self.ours:
            os.close(file)

    def keep(self):
        """Its files are wanted when it has ended."""
        to = -1
        try:
            spaces = os.open('/proc/%d/ns/mnt' % self.pid, os.O_RDONLY)
            wanted, to = os.pipe()
            self.kept = (spaces, wanted, to)
        except (OSError, TypeError):
            pass
        os.write(3, b'kept %d %d\n' % (self.number, to))

    def kill(self):
        pid = self.init or self.pid
        if pid:
            os.kill(pid, _signal.SIGKILL)

    def ended(self, status):
        now = time.monotonic_ns()
        self.pid = None
        self.kill()
        _watch(self.init, self.swept)
        self.say(b'E %d %d\n' % (status, now))

    def swept(self, _):
        """Nothing of it runs any more."""
        self.init = None
        _sleepers.append(self.sleeper)
        if self.kept is None:
            self.close()
        else:
            _waiting.append(self.fetch)

    def fetch(self):
        spaces, wanted, _ = self.kept
        _fork[:] = [spaces, (wanted, wanted, wanted, self.report)]
        return self.fetching

    def fetching(self, pid):
        for file in self.kept:
            os.close(file)
        self.kept = None
        self.pid = pid
        _watch(pid, lambda _: self.close())

    def close(self):
        if self.report is not None:
            os.close(self.report)
            _slots.pop(self.number, None)
        self.report = None

    def say(self, text):
        try:
            os.write(self.report, text)
        except OSError:
            pass


def _enter(space, kind):
    _check(_libc.setns(space, kind), 'setns')


def _go_home():
    """What is forked from now on has the zygote's own spaces."""
    _check(_libc.unshare(_FS), 'folder')
    for space, kind in _home:
        _enter(space, kind)


def _watch(pid, ended):
    file = _check(_libc.syscall(434, pid, 0), 'pidfd_open')
    _ends[file] = (pid, ended)
    _poll.register(file, select.POLLIN)


def _more(number, disk):
    slot = _slots[number] = _Slot(number, disk)
    try:
        slot.prepare()
    except OSError:
        slot.abandon()
        raise
    return slot.forked


def _hear(line):
    word, *values = line.split()
    number, *rest = [int(value) for value in values]
    if word == b'more':
        _waiting.append(functools.partial(_more, number, *rest))
        return
    slot = _slots.get(number)
    if slot is None:
        return
    if word == b'got':
        slot.got()
    elif word == b'keep':
        slot.keep()
    elif word == b'kill':
        slot.kill()


def _next():
    """Serves until a process has to be forked, and returns the arguments of os.fork."""
    global _rest, _filter, _forked
    if _forked is not None:
        _go_home()
        _forked(_pids.pop())
        _forked = None
    while True:
        for file, _ in _poll.poll(0 if _waiting else None):
            if file == 3:
                part = os.read(3, 65536)
                if not part:
                    os._exit(0)
                *lines, _rest = (_rest + part).split(b'\n')
                for line in lines:
                    if _filter is None:
                        _filter = line and _Filter(bytes.fromhex(line.decode()))
                    else:
                        _hear(line)
            elif file in _ends:
                pid, ended = _ends.pop(file)
                _poll.unregister(file)
                os.close(file)
                ended(os.waitpid(pid, 0)[1])
        if _waiting:
            try:
                _forked = _waiting.popleft()()
                return ()
            except OSError as error:
                _go_home()
                os.write(3, ('failed %s\n' % error).encode())


def _serve():
    """Forks as _next says, in a thread with no Python frame."""
    _thread.start_new_thread(_pids.extend, (itertools.starmap(os.fork, iter(_next, None)),))


def _failed(fault):
    """The thread that forks could not, and has ended; another takes its place."""
    global _forked
    try:
        _forked.__self__.abandon()
        _forked = None
        os.write(3, ('failed %s\n' % fault.exc_value).encode())
        _go_home()
        _serve()
    except BaseException:
        os.write(2, str(fault.exc_value).encode())
        os._exit(1)


class _Sleeper:
    """What an init runs, in this memory and with these descriptors: it ignores SIGCHLD, so that orphans leave no zombie, and sleeps until it is killed.
    A process space lives as long as its first process."""

    def __init__(self):
        self.stacks = [ctypes.create_string_buffer(_STACK) for _ in range(3)]
        self.contexts = [ctypes.create_string_buffer(_CONTEXT) for _ in range(2)]
        self.top = ctypes.c_void_p((ctypes.addressof(self.stacks[2]) + _STACK) & ~63)

    def start(self):
        ignoring, sleeping = self.contexts
        self._make(sleeping, self.stacks[0], 0, _libc.pause)
        self._make(ignoring, self.stacks[1], ctypes.addressof(sleeping), _libc.signal, 17, 1)
        return _check(_libc.clone(_libc.setcontext, self.top, _NEWPID | _SHARED | 17, ignoring), 'clone')

    def _make(self, context, stack, then, function, *values):
        _check(_libc.getcontext(context), 'getcontext')
        # uc_link, uc_stack.ss_sp, uc_stack.ss_size of ucontext_t.
        for place, value in ((8, then), (16, ctypes.addressof(stack)), (32, _STACK)):
            ctypes.memmove(ctypes.addressof(context) + place, value.to_bytes(8, sys.byteorder), 8)
        _libc.makecontext(context, function, len(values), *values)


_STACK = _CONTEXT = 8192
_sleepers = []
_home = [
    (os.open('/proc/self/ns/' + name, os.O_RDONLY), kind)
    for name, kind in (('mnt', 0x20000), ('ipc', 0x08000000), ('net', 0x40000000), ('pid', _NEWPID))
]
_Pair = ctypes.c_ulonglong * 2
_capabilities = [number for number in range(64) if _prctl(23, number) >= 0]
_CAPABILITY_HEAD = ctypes.create_string_buffer((0x20080522).to_bytes(4, sys.byteorder) + bytes(4), 8)
_NO_CAPABILITIES = ctypes.create_string_buffer(24)
_slots = {}
_ends = {}
_waiting = collections.deque()
_pids = collections.deque(maxlen=1)
_forked = None
_fork = []
_files = []
_left = []
_poll = select.poll()
_poll.register(3, select.POLLIN)
_threads = 0
os.umask(0o022)
os.makedirs('/etc', exist_ok=True)
for _name, _text in (
    ('passwd', 'root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/:/bin/false\n'),
    ('group', 'root:x:0:\nnogroup:x:65534:\n'),
    ('hosts', '127.0.0.1 localhost\n::1 localhost\n'),
):
    with open('/etc/' + _name, 'w') as _file:
        _file.write(_text)
_mount(None, '/', None, _PRIVATE | _REC)


with open('/proc/self/mountinfo') as _table:
    _mounted = [line.split(' ')[4].encode().decode('unicode_escape') for line in _table]
_fresh = ('tmp', 'root', 'run', 'proc', 'home', 'mnt', 'opt', 'srv', 'var/tmp')
_tops = {name.split('/')[0] for name in _fresh}
_tree = [name for name in os.listdir('/') if name not in _tops]
_links = [(os.readlink('/' + name), _ROOT + '/' + name) for name in _tree if os.path.islink('/' + name)]
_shared = []
# Mounts inside a directory that each slot gets fresh: interpreters of a home folder, toolchains.
for _point in _mounted:
    if _point.split('/')[1] in _tops - {'proc'} and not any(_point.startswith(path + '/') for path in _shared):
        _shared.append(_point)
_shared += ['/' + name for name in _tree if os.path.isdir('/' + name) and not os.path.islink('/' + name)]
if os.path.isdir('/run/bin'):
    _shared.append('/run/bin')
_folders, _empty, _parts = {}, [], []


def _need(path):
    parents = path.split('/')
    for length in range(2, len(parents) + 1):
        _folders[_ROOT + '/'.join(parents[:length])] = None


for _name in _fresh:
    _need('/' + _name)
_need(_folder)
os.mkdir(_ROOT)
for _name in _shared:
    if os.path.isdir(_name):
        _need(_name)
    else:
        _need(os.path.dirname(_name))
        _empty.append(_ROOT + _name)
    _source = _name
    # No run may write where the next one reads.
    if _name not in _mounted:
        _source = '/run/parts' + _name
        os.makedirs(_source)
        _mount(_name, _source, None, _BIND | _REC)
        _mount(None, _source, None, 32 | _BIND | 1 | _NOSUID | _NODEV)
    for _point in reversed(_mounted):
        if _point.startswith(_name + '/') and (_source != _name or _point in ('/dev/pts', '/dev/shm')):
            _libc.umount2(_point.encode(), _DETACH)
    _parts.append((_source.encode(), (_ROOT + _name).encode(), None, _MOVE, None))
_rest = b''
_filter = None
# A program finds what 'python FILE' has loaded.
for _name in set(sys.modules) - _baseline:
    del sys.modules[_name]
# No handler of the interpreter: an init of a slot would run it in this memory. A program gets it back.
_signal.signal(_signal.SIGINT, _signal.SIG_DFL)
os.register_at_fork(after_in_child=functools.partial(next, itertools.starmap(_begin, [()]), None))
os.register_at_fork(after_in_child=functools.partial(next, map(_run, _files, [_path.encode()], [1], [None]), None))
os.register_at_fork(after_in_child=functools.partial(next, map(_exit, _left), None))
gc.collect()
gc.freeze()
sys.unraisablehook = _failed
_serve()
_hold = _thread.allocate_lock()
_hold.acquire()
_hold.acquire()
