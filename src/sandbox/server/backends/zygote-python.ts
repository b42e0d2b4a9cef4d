// The Python side of forked runs. A warmed interpreter ("zygote"), pid 1 of a bubblewrap sandbox, forks a slot ahead of
// each run: an init process in namespaces of its own, and below it the process that will run the program. Everything
// that protects is in place before the slot takes a job; the zygote itself never sees a job, an output or a file.
//
// The program runs as `python FILE` would run it, by the same C function, with no Python frame below it: it is called
// from the hooks of a fork in a thread that has none. A hook is an iterator's `next`, so a fork of the program's own
// finds it used up.

/** Bytes of a job's head: the length of what follows it, which says the limits and the lengths of all parts. */
export const HEAD = 16;

/**
 * argv: the path that every program gets. fd 3: the server. First a line of hex, the filter of system calls ('' for
 * none), then commands, a line each: `more SECONDS…`, `got SLOT`, `stop PID`, `kill PID`. It says `slot NUMBER PID JOB OUT ERR
 * REPORT`, the last four its own descriptors, which the server opens through /proc.
 */
export const ZYGOTE = String.raw`
import sys
_baseline = set(sys.modules)
import _signal, _thread, _weakref, atexit, ctypes, functools, gc, itertools, os, time

_path = sys.argv[0]
_folder = os.path.dirname(_path)
_libc = ctypes.CDLL(None, use_errno=True)
_api = ctypes.PyDLL(None, use_errno=True)
_HEAD = ${HEAD}
_CLONE = {'x86_64': 56, 'aarch64': 220}[os.uname().machine]
_NEWUSER = 0x10000000
# Mount, ipc, pid and net.
_SPACES = 0x20000 | 0x08000000 | 0x20000000 | 0x40000000
_NOSUID, _NODEV, _NOEXEC, _BIND, _REC = 2, 4, 8, 4096, 16384
_fopen = _libc.fopen
_fopen.restype = ctypes.c_void_p
_exit = _api.Py_Exit
_exit.argtypes = [ctypes.c_bool]


def _finish(failed):
    """Ends the process of a program that ran to its end: all that Py_Exit would show, without taking the interpreter
    itself apart, which takes longer than most programs."""
    try:
        if atexit._ncallbacks() or _thread._count() != _threads:
            _exit(failed)
        for name in ('stdin', 'stdout', 'stderr'):
            setattr(sys, name, getattr(sys, '__' + name + '__'))
        _flush()
        for name in ('last_type', 'last_value', 'last_traceback', 'last_exc'):
            if hasattr(sys, name):
                setattr(sys, name, None)
        names = ['__main__', *(name for name in list(sys.modules) if name not in _baseline)]
        left = []
        for name in names:
            left.append(_weakref.ref(sys.modules[name]))
            sys.modules[name] = None
        gc.collect()
        # As _PyModule_Clear does it, the last module first.
        for module in filter(None, [reference() for reference in reversed(left)]):
            values = vars(module)
            for is_first in (True, False):
                for name in list(values):
                    if name != '__builtins__' and is_first == (name[:1] == '_' and name[1:2] != '_'):
                        values[name] = None
        module = values = None
        gc.collect()
        _flush()
    except BaseException:
        _exit(failed)
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
    _check(_libc.mount(encode(source), target.encode(), encode(kind), ctypes.c_ulong(flags), encode(options)), target)


def _prctl(option, *values):
    return _libc.prctl(option, *(ctypes.c_ulong(value) for value in (values + (0, 0, 0, 0))[:4]))


def _root(base, disk):
    _mount('tmpfs', base, 'tmpfs', _NOSUID | _NODEV, 'mode=755,size=%d,nr_inodes=%d' % (disk, 65536))
    for name, link in _links:
        os.symlink(link, base + '/' + name)
    for name in _shared:
        os.mkdir(base + '/' + name)
        _mount('/' + name, base + '/' + name, None, _BIND | _REC)
    for name in _fresh:
        os.makedirs(base + '/' + name)
    for name in ('tmp', 'var/tmp'):
        os.chmod(base + '/' + name, 0o1777)
    for path, is_folder in _places:
        os.makedirs(base + (path if is_folder else os.path.dirname(path)), exist_ok=True)
        if not is_folder:
            os.close(os.open(base + path, os.O_CREAT, 0o644))
        _mount(path, base + path, None, _BIND | _REC)
    _mount('proc', base + '/proc', 'proc', _NOSUID | _NODEV | _NOEXEC)
    for name in ('sys', 'sysrq-trigger', 'irq', 'bus'):
        target = base + '/proc/' + name
        if os.path.exists(target):
            _mount(target, target, None, _BIND)
            _mount(None, target, None, 32 | _BIND | 1 | _NOSUID | _NODEV | _NOEXEC)
    _mount('tmpfs', base + '/dev/shm', 'tmpfs', _NOSUID | _NODEV, 'mode=1777,size=67108864,nr_inodes=4096')
    _mount('devpts', base + '/dev/pts', 'devpts', _NOSUID | _NOEXEC, 'newinstance,ptmxmode=0666,mode=620')


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


def _lock():
    """No capability, here and in all that is executed, and only the system calls of the filter."""
    _check(_prctl(38, 1), 'no_new_privs')
    for capability in range(64):
        if _prctl(24, capability) < 0:
            break
    _prctl(47, 4)
    header = ctypes.create_string_buffer((0x20080522).to_bytes(4, sys.byteorder) + bytes(4), 8)
    _check(_libc.capset(header, ctypes.create_string_buffer(24)), 'capset')
    if _filter:
        buffer = ctypes.create_string_buffer(_filter, len(_filter))
        program = _Filter(len(_filter) // 8, ctypes.cast(buffer, ctypes.c_void_p).value)
        _check(_libc.prctl(22, ctypes.c_ulong(2), ctypes.byref(program), ctypes.c_ulong(0), ctypes.c_ulong(0)), 'seccomp')
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
    pair = (ctypes.c_ulonglong * 2)(value, value)
    _check(_libc.setrlimit(resource, ctypes.byref(pair)), 'setrlimit')


def _become(slot, files):
    """In the process of the program: takes its job and leaves nothing open but the three streams."""
    global _threads
    job, out, err, report = slot
    try:
        _prctl(4, 1)
        _signal.signal(_signal.SIGUSR1, _signal.SIG_DFL)
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
        for resource, value in (pair.split('=') for pair in limits.split(',')):
            _limit(int(resource), int(value))
        _threads = _thread._count()
        files.append(_fopen(_path.encode(), b'rb'))
        if not files[0]:
            os._exit(1)
        os.write(report, b'S %d\n' % time.monotonic_ns())
        keep = _libc.fileno(ctypes.c_void_p(files[0]))
        os.closerange(3, keep)
        os.closerange(keep + 1, 1024)
    except BaseException as error:
        os.write(report, ('X %s\n' % error).encode())
        os._exit(97)


def _init(number, slot, disk):
    """Pid 1 of a slot."""
    job, out, err, report = slot
    try:
        _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
        os.setsid()
        # Out of the way of each other and of what the server's own descriptors may be.
        high = [os.dup2(file, 200 + index, False) for index, file in enumerate(slot)]
        null = os.open('/dev/null', os.O_RDWR)
        for file in (0, 1, 2):
            os.dup2(null, file)
        os.closerange(3, 200)
        os.closerange(204, 1024)
        job, out, err, report = slot = tuple(high)
        _loopback()
        _root('/run/slot', disk)
        os.umask(0o022)
        _check(_libc.unshare(_NEWUSER), 'user namespace')
        _write('/proc/self/setgroups', b'deny')
        _write('/proc/self/uid_map', b'0 0 1')
        _write('/proc/self/gid_map', b'0 0 1')
        os.chroot('/run/slot')
        os.chdir('/')
        os.makedirs(_folder)
        _lock()
        swept = []

        def sweep(*_):
            swept.append(True)
            os.kill(-1, _signal.SIGKILL)

        _signal.signal(_signal.SIGUSR1, sweep)
        if not os.read(job, 1):
            os._exit(0)
        files = []
        os.register_at_fork(after_in_child=functools.partial(next, map(_become, [slot], [files]), None))
        os.register_at_fork(after_in_child=functools.partial(next, map(_run, files, [_path.encode()], [1], [None]), None))
        forked = []
        _thread.start_new_thread(forked.extend, (itertools.starmap(os.fork, [()]),))
        while not forked:
            time.sleep(0.0005)
        # The program's, not its init's: the end of a stream is the end of the program.
        os.close(out)
        os.close(err)
        os.write(report, b'R\n')
        while True:
            try:
                pid, status, use = os.wait4(-1, 0)
            except ChildProcessError:
                os._exit(1)
            if pid == forked[0]:
                break
        ended = time.monotonic_ns()
        try:
            os.kill(-1, _signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.write(report, b'E %d %d\n' % (status, ended))
        wanted = b''
        while True:
            part = os.read(job, 65536)
            if not part:
                break
            wanted += part
        for index, entry in enumerate(wanted.split(b'\n')[:-1]):
            most, path = entry.split(b' ', 1)
            _fetch(report, index, int(most), bytes.fromhex(path.decode()))
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


def _slot(number, disk):
    pipes = [os.pipe() for _ in range(4)]
    (job, to), (out_from, out), (err_from, err), (report_from, report) = pipes
    theirs, ours = (job, out, err, report), (to, out_from, err_from, report_from)
    _api.PyOS_BeforeFork()
    pid = _api.syscall(_CLONE, _SPACES | 17, 0, 0, 0, 0)
    if pid == 0:
        _api.PyOS_AfterFork_Child()
        _init(number, theirs, disk)
    _api.PyOS_AfterFork_Parent()
    _check(pid, 'clone')
    for file in theirs:
        os.close(file)
    _open[number] = ours
    os.write(3, b'slot %d %d %d %d %d %d\n' % ((number, pid) + ours))


_open = {}
_threads = 0
os.mkdir('/run/slot')
os.makedirs('/etc', exist_ok=True)
for _name, _text in (
    ('passwd', 'root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/:/bin/false\n'),
    ('group', 'root:x:0:\nnogroup:x:65534:\n'),
    ('hosts', '127.0.0.1 localhost\n::1 localhost\n'),
):
    with open('/etc/' + _name, 'w') as _file:
        _file.write(_text)
_mount('/etc', '/etc', None, _BIND | _REC)
_mount(None, '/etc', None, 32 | _BIND | 1 | _NOSUID | _NODEV)
_fresh = ('tmp', 'root', 'run', 'proc', 'home', 'mnt', 'opt', 'srv', 'var/tmp')
_tops = {name.split('/')[0] for name in _fresh}
_links = [(name, os.readlink('/' + name)) for name in os.listdir('/') if os.path.islink('/' + name)]
_shared = [name for name in ('usr', 'etc', 'dev') if os.path.isdir('/' + name)]
_shared += [
    name for name in os.listdir('/')
    if name not in _shared and name not in _tops and os.path.isdir('/' + name) and not os.path.islink('/' + name)
]
# What lies mounted in a place that each slot has anew: interpreters of a home folder, toolchains.
_places = []
with open('/proc/self/mountinfo') as _table:
    for _line in _table:
        _point = _line.split(' ')[4].encode().decode('unicode_escape')
        if _point.split('/')[1] in _tops - {'proc'} and not any(_point.startswith(path + '/') for path, _ in _places):
            _places.append((_point, os.path.isdir(_point)))
if os.path.isdir('/run/bin'):
    _places.append(('/run/bin', True))
_rest = b''
_filter = None
_signal.signal(_signal.SIGCHLD, _signal.SIG_IGN)
# A program finds what 'python FILE' has loaded, and a main module of its own.
_main = type(sys)('__main__')
_main.__builtins__ = sys.modules['builtins']
sys.modules['__main__'] = _main
for _name in set(sys.modules) - _baseline:
    del sys.modules[_name]
del _main, _name
gc.collect()
gc.freeze()
while True:
    _part = os.read(3, 65536)
    if not _part:
        os._exit(0)
    *_lines, _rest = (_rest + _part).split(b'\n')
    for _line in _lines:
        if _filter is None:
            _filter = bytes.fromhex(_line.decode())
            continue
        _word, *_values = _line.split()
        _values = [int(value) for value in _values]
        if _word == b'more':
            try:
                _slot(*_values)
            except OSError as error:
                os.write(3, ('failed %d %s\n' % (_values[0], error)).encode())
        elif _word == b'got':
            for _file in _open.pop(_values[0]):
                os.close(_file)
        else:
            try:
                os.kill(_values[0], _signal.SIGUSR1 if _word == b'stop' else _signal.SIGKILL)
            except OSError:
                pass
`;
