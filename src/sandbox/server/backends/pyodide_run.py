# Runs a source file in Pyodide as `python FILE` would: a fresh `__main__`, its path as argv[0] and in tracebacks, the exit
# codes of CPython, buffers flushed at the end. It removes itself from the names that a program can see.
# ruff: noqa: F821
def __rollout_viewer_make():
    import _signal, _socket, atexit, builtins, errno, os, posix, random, socket, sys, traceback, types

    leave, pid, raising, killing = os._exit, os.getpid(), _signal.raise_signal, posix.kill
    # Ignored where no handler is: SIGCHLD, SIGCONT, SIGURG, SIGWINCH, and those that stop.
    harmless = {0, 17, 18, 19, 20, 21, 22, 23, 28}

    # As pyodide-protocol.ts has it.
    by_signal = 0x53_4700

    def raise_signal(number, /):
        # There is no kernel that would end the process: Emscripten turns it into an exit code, or prints a message.
        if number == 9 or number not in harmless and _signal.getsignal(number) is _signal.SIG_DFL:
            leave(by_signal + number)
        return raising(number)

    def kill(target, number, /):
        return raise_signal(number) if number and target in (pid, 0, -1) else killing(target, number)

    def abort():
        leave(by_signal + 6)

    os.kill = posix.kill = kill
    os.abort = posix.abort = abort
    _signal.raise_signal = raise_signal
    if 'signal' in sys.modules:
        sys.modules['signal'].raise_signal = raise_signal

    # Emscripten would make up addresses, and let a program wait for what never comes.
    def unreachable(*_, **__):
        raise OSError(errno.ENETUNREACH, 'Network is unreachable: this sandbox has none')

    def unknown(*_, **__):
        raise _socket.gaierror(-3, 'Temporary failure in name resolution: this sandbox has no network')

    for name in ('connect', 'sendto', 'sendmsg'):
        setattr(socket.socket, name, unreachable)
    socket.socket.connect_ex = lambda *_: errno.ENETUNREACH
    for name in ('getaddrinfo', 'gethostbyname', 'gethostbyname_ex', 'gethostbyaddr', 'getnameinfo'):
        setattr(_socket, name, unknown)
        setattr(socket, name, unknown)

    def report(error):
        # The frames above the program's own are this function's.
        trace = error.__traceback__.tb_next if error.__traceback__ else None
        traceback.print_exception(type(error), error, trace)

    def finish(error):
        code = error.code
        if code is None:
            return 0
        if isinstance(code, int):
            return code & 0xFF
        print(code, file=sys.stderr)
        return 1

    def run(path):
        nonlocal main
        main = types.ModuleType('__main__')
        main.__file__ = path
        main.__builtins__ = builtins
        sys.modules['__main__'] = main
        sys.argv = [path]
        sys.path.insert(0, os.path.dirname(path))
        # Emscripten fills in paths of the server.
        home = {name: os.environ[name] for name in ('HOME', 'LANG')}
        os.environ.clear()
        os.environ.update(home)
        # The image holds one state of the generator for all.
        random.seed()
        code = 0
        try:
            with open(path, 'rb') as file:
                source = file.read()
            program = compile(source, path, 'exec', dont_inherit=True)
            exec(program, main.__dict__)
        except SystemExit as error:
            code = finish(error)
        except BaseException as error:
            report(error)
            code = 1
        try:
            atexit._run_exitfuncs()
        except BaseException:
            pass
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BaseException:
                pass
        return code

    def turn(line):
        try:
            main.turn(line.encode())
            return 0
        except BaseException as error:
            report(error)
            return 1

    main = None
    return run, turn

__rollout_viewer_run, __rollout_viewer_turn = __rollout_viewer_make()
del __rollout_viewer_make
