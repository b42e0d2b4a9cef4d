"""Recorded calls and scores by workers on the nodes of a Ray cluster: each worker is a Ray task that starts the wheel's `worker`, and results
are merged as those of any queue (docs/cluster.md).

    verdicts = rollout_viewer.ray.replay("rollout_data", workers=4, queue="/shared", worker={"sandbox": "bubblewrap"})
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from typing import IO, TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence

from ._program import command
from ._reading import Path, ReadingFailed, _words
from ._trainers import LOG

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._flags import ReplayFlags, RescoreFlags, WorkerFlags

__all__ = ["replay", "rescore"]

#: The kernel ends a worker with the Ray process that started it.
END_WITH_PARENT = "import ctypes, os, sys; ctypes.CDLL(None).prctl(1, 15); os.execv(sys.argv[1], sys.argv[1:])"


def replay(
    *rollouts: Path,
    workers: int = 4,
    queue: Optional[Path] = None,
    worker: Optional[WorkerFlags] = None,
    options: Optional[Mapping[str, Any]] = None,
    **flags: Unpack[ReplayFlags],
) -> List[Dict[str, Any]]:
    """Runs recorded calls again: a dict a call, as `replay --json` prints it. The verdicts are kept in the journal.

    workers: how many Ray tasks; options: what their `.options()` are, such as {"num_cpus": 4}; worker: flags of `worker` for each of them.
    queue: a folder that all nodes see, or a Redis; by default a new folder in the working directory, which is removed."""
    return _run("replay", rollouts, flags, workers, queue, worker or {}, options or {})


def rescore(
    *rollouts: Path,
    workers: int = 4,
    queue: Optional[Path] = None,
    worker: Optional[WorkerFlags] = None,
    options: Optional[Mapping[str, Any]] = None,
    **flags: Unpack[RescoreFlags],
) -> List[Dict[str, Any]]:
    """Scores recorded rollouts again: a dict a rollout, as `rescore --json` prints it. The other arguments are those of `replay`."""
    return _run("rescore", rollouts, flags, workers, queue, worker or {}, options or {})


def _run(
    verb: str,
    paths: Sequence[Path],
    flags: Mapping[str, object],
    workers: int,
    queue: Optional[Path],
    worker: Mapping[str, object],
    options: Mapping[str, Any],
) -> List[Dict[str, Any]]:
    if queue is None:
        with tempfile.TemporaryDirectory(prefix=".rollout-viewer-queue-", dir=os.getcwd()) as folder:
            return _run(verb, paths, flags, workers, folder, worker, options)
    place = os.fspath(queue)
    words = _words(verb, "ray.%s()" % verb, paths, flags)
    words.insert(2, "--queue=" + place)
    for_worker = [one for one in _words("worker", "a worker", (), worker) if one not in ("--json", "--")]
    crew = _Crew(for_worker + ["--queue=" + place], workers, options)
    try:
        return _results(words, crew)
    finally:
        crew.dismiss()


def _results(words: List[str], crew: _Crew) -> List[Dict[str, Any]]:
    """The run's output. Its messages, above all of refused workers, are logged as they arrive."""
    run = subprocess.Popen(command() + words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert run.stdout is not None and run.stderr is not None
    said: List[str] = []

    def listen(pipe: IO[bytes]) -> None:
        for line in pipe:
            said.append(line.decode("utf-8", "replace").strip())
            LOG.warning("%s", said[-1])

    listener = threading.Thread(target=listen, args=(run.stderr,), daemon=True)
    listener.start()
    try:
        crew.watch(run)
        rows = [json.loads(line) for line in run.stdout]
        status = run.wait()
        listener.join()
    finally:
        run.kill()
        run.wait()
    # 1 = some calls differ.
    if status not in (0, 1):
        raise crew.problem or ReadingFailed("\n".join(said[-20:]) or "rollout-viewer ended with status %d" % status)
    return rows


class _Crew:
    """The tasks of the workers. Ray starts those again whose node or process died."""

    def __init__(self, words: List[str], count: int, options: Mapping[str, Any]) -> None:
        import ray  # type: ignore[import-not-found,import-untyped,unused-ignore]

        if not ray.is_initialized():
            ray.init()
        self._ray = ray
        task = ray.remote(_work).options(**{"max_retries": -1, **options})
        self._tasks = [task.remote(words) for _ in range(count)]
        self._is_over = threading.Event()
        self.problem: Optional[ReadingFailed] = None

    def watch(self, run: subprocess.Popen[bytes]) -> None:
        """Ends the run once no worker is left that could do its work."""
        threading.Thread(target=self._watch, args=(run,), daemon=True).start()

    def _watch(self, run: subprocess.Popen[bytes]) -> None:
        left = list(self._tasks)
        said = "no worker was asked for"
        while left and not self._is_over.is_set():
            ended, left = self._ray.wait(left, timeout=1)
            for one in ended:
                try:
                    said = self._ray.get(one)
                except Exception as error:
                    said = str(error)
        if not self._is_over.is_set():
            self.problem = ReadingFailed("no worker is left: %s" % said.strip())
            run.kill()

    def dismiss(self) -> None:
        self._is_over.set()
        for one in self._tasks:
            self._ray.cancel(one)
        self._ray.wait(self._tasks, num_returns=len(self._tasks), timeout=60)


def _work(words: List[str]) -> str:
    """Workers, one after another as they are killed, until one ends by itself or the task is cancelled. Answers what it said last."""
    program = command() + words
    if sys.platform == "linux":
        program = [sys.executable, "-c", END_WITH_PARENT] + program
    while True:
        with tempfile.TemporaryFile() as messages:
            child = subprocess.Popen(program, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=messages)
            try:
                # Ray's cancellation is noticed between two statements, not within a wait.
                while child.poll() is None:
                    time.sleep(0.1)
            finally:
                if child.poll() is None:
                    child.terminate()
                    child.wait()
            if child.returncode >= 0:
                messages.seek(max(0, os.fstat(messages.fileno()).st_size - 2000))
                return messages.read().decode("utf-8", "replace")
