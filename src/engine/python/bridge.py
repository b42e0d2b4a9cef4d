"""Runs a user's own classes and functions for rollout-viewer, in the user's own interpreter (3.9 and newer, no other package).

Descriptor 3 carries JSON lines both ways; what is printed goes to descriptors 1 and 2 and so never into the protocol.
Descriptor 4 is open for as long as rollout-viewer lives.
A request is {"id", "op", ...}; its answer is {"id", "value"} or {"id", "error": {"type", "message", "trace", "kind"}}.
"""
import os
import select
import signal
import sys

CHANNEL, LIFE = 3, 4
# High enough that a loop over the first descriptors does not close it.
HIGH = 200


def guard():
    """The first process runs no code of the user. It ends the whole group when rollout-viewer is gone, even by kill -9."""
    is_leader = os.getpgrp() == os.getpid()
    worker = os.fork()
    if worker == 0:
        return
    os.close(CHANNEL)
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    while True:
        pid, status = os.waitpid(worker, os.WNOHANG)
        if pid:
            os._exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))
        ready, _, _ = select.select([LIFE, woken], [], [])
        if LIFE in ready and os.read(LIFE, 1) == b"":
            os.kill(0 if is_leader else worker, signal.SIGKILL)
        if woken in ready:
            os.read(woken, 512)


if __name__ == "__main__":
    guard()

import asyncio
import json
import socket
import threading
import time

# The modules are beside this file, in a folder that another program may not be allowed to write to.
WRITES = sys.dont_write_bytecode
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _rollout_viewer_bridge.calls import Stuck
from _rollout_viewer_bridge.episodes import OwnAgent, OwnEnv
from _rollout_viewer_bridge.errors import answer_of, is_own
from _rollout_viewer_bridge.loading import CannotLoad, pass_on, use_paths
from _rollout_viewer_bridge.objects import OwnInteraction, OwnReward, OwnTool
from _rollout_viewer_bridge.process import flush, mark_forked, survive_fork
from _rollout_viewer_bridge.stand_ins import StandIns
from _rollout_viewer_bridge.values import Wrong

sys.path.pop(0)
sys.dont_write_bytecode = WRITES

# Maximum characters per answer.
MOST = 64 * 1024 * 1024
# Seconds that a call may block the process before that is reported.
BLOCKED = 1.0

KINDS = {"tool": OwnTool, "reward": OwnReward, "interaction": OwnInteraction}


class Bridge(asyncio.Protocol):
    def __init__(self, loop):
        self.loop = loop
        self.parts = []
        self.objects = {}
        self.tasks = {}
        self.beat = time.monotonic()
        self.busy = threading.Event()

    def connection_made(self, transport):
        self.transport = transport

    def connection_lost(self, error):
        os._exit(0)

    def data_received(self, data):
        survive_fork()
        end = data.find(b"\n")
        if end < 0:
            self.parts.append(data)
            return
        lines = (b"".join(self.parts) + data).split(b"\n")
        self.parts = [lines.pop()] if lines[-1] else []
        if not self.parts:
            lines = [line for line in lines if line]
        for line in lines:
            self.take(json.loads(line))

    def take(self, request):
        if request["op"] == "cancel":
            task = self.tasks.get(request["call"])
            if task is not None:
                task.cancel()
            return
        task = self.loop.create_task(self.run(request))
        self.tasks[request["id"]] = task
        task.request = request["id"]
        self.busy.set()

    async def run(self, request):
        ident = request["id"]
        where = None
        try:
            value = await self.perform(request)
            text = json.dumps({"id": ident, "value": value}, allow_nan=True, separators=(",", ":"))
            if len(text) > MOST:
                raise Wrong(f"{len(text) / 1e6:.0f} MB; an answer may have {MOST / 1e6:.0f} MB").at(self.method_of(request))
        except CannotLoad as error:
            text = json.dumps({"id": ident, "error": {"type": "CannotLoad", "kind": "load", "message": str(error), "trace": None}})
        except BaseException as error:
            survive_fork()
            answer = answer_of(error, getattr(error, "where", where))
            answer["stuck"] = isinstance(error, Stuck)
            text = json.dumps({"id": ident, "error": answer})
        self.tasks.pop(ident, None)
        flush()
        if not self.tasks:
            self.busy.clear()
        self.transport.write(text.encode("utf-8", "backslashreplace") + b"\n")

    def method_of(self, request):
        one = self.objects.get(request.get("object"))
        inner = next((getattr(one, name) for name in ("tool", "function", "interaction", "env", "agent") if hasattr(one, name)), one)
        name = {"respond": "generate_response", "score": None}.get(request.get("method"), request.get("method"))
        return getattr(inner, name, inner) if name else inner

    async def perform(self, request):
        op = request["op"]
        if op == "paths":
            use_paths(request["first"], request["last"])
            pass_on(request["passed"])
            return {"python": sys.version.split()[0], "executable": sys.executable}
        if op == "load":
            kind = request["kind"]
            made = KINDS[kind](request) if kind in KINDS else {"env": OwnEnv, "agent": OwnAgent}[kind](request, self.objects)
            self.objects[request["as"]] = made
            return made.about()
        if op == "drop":
            self.objects.pop(request["object"], None)
            return None
        one = self.objects[request["object"]]
        args = request.get("args", [])
        # An object passed from one call to another stays the object, rather than its JSON.
        if "action_of" in request:
            args = [self.objects[request["action_of"]].action]
        if "observation_of" in request:
            source = self.objects[request["observation_of"]]
            args = [source.observation, args[1], args[2], {**(source.info if isinstance(source.info, dict) else {}), **(args[3] or {})}]
        return await getattr(one, request["method"])(*args)

    async def beats(self):
        while True:
            self.beat = time.monotonic()
            await asyncio.sleep(BLOCKED / 4)

    def watch(self):
        """In a thread: reports a call for as long as it keeps all others from running."""
        main = threading.main_thread().ident
        reported = None
        while True:
            self.busy.wait()
            asleep = time.monotonic()
            time.sleep(BLOCKED / 2)
            flush()
            now = time.monotonic()
            # A process that was not run for a while, this thread included, is not blocked by its calls.
            if now - self.beat < BLOCKED or now - asleep > BLOCKED:
                reported = None
                continue
            task = asyncio.current_task(self.loop)
            ident = getattr(task, "request", None)
            if reported == (ident, self.beat):
                continue
            reported = (ident, self.beat)
            frame = sys._current_frames().get(main)
            while frame is not None and not is_own(frame.f_code.co_filename):
                frame = frame.f_back
            where = f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}" if frame else None
            line = json.dumps({"blocked": ident, "where": where}) + "\n"
            if self.transport.get_write_buffer_size() == 0:
                try:
                    os.write(self.transport.get_extra_info("socket").fileno(), line.encode())
                except OSError:
                    pass


def main():
    import fcntl

    os.close(LIFE)
    channel = socket.socket(fileno=fcntl.fcntl(CHANNEL, fcntl.F_DUPFD_CLOEXEC, HIGH))
    os.close(CHANNEL)
    channel.setblocking(False)
    # The folder of this file, which Python puts first unless disabled (PYTHONSAFEPATH).
    if not getattr(sys.flags, "safe_path", False):
        sys.path.pop(0)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    sys.meta_path.append(StandIns())
    sys.argv = ["rollout-viewer"]

    def forked():
        mark_forked()
        # The copy must not write to the channel, nor keep it open when this process is gone.
        try:
            os.close(channel.fileno())
        except OSError:
            pass

    os.register_at_fork(after_in_child=forked)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    bridge = Bridge(loop)
    loop.run_until_complete(loop.create_unix_connection(lambda: bridge, sock=channel))
    loop.create_task(bridge.beats())
    threading.Thread(target=bridge.watch, daemon=True).start()
    try:
        loop.run_forever()
    finally:
        os._exit(70)


if __name__ == "__main__":
    main()
