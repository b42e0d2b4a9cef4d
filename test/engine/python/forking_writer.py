"""Threads write while the process forks, and each child writes: nobody waits for a lock that nobody holds any more."""

import os
import sys
import threading

from rollout_viewer import Writer

directory, forks, queue = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
writer = Writer(directory, rank=0, queue=queue)
isOver = threading.Event()


def write_on() -> None:
    while not isOver.is_set():
        writer.write(step=1, messages=[{"role": "user", "content": "x" * 2000}], rewards=1.0)


threads = [threading.Thread(target=write_on, daemon=True) for _ in range(4)]
for thread in threads:
    thread.start()
acknowledged = 0
for _ in range(forks):
    child = os.fork()
    if child == 0:
        os._exit(0 if writer.write(step=1, messages=[], uid="child", rewards=1.0) and writer.flush() else 3)
    _, status = os.waitpid(child, 0)
    acknowledged += status == 0
isOver.set()
for thread in threads:
    thread.join()
writer.flush()
print(acknowledged, writer.written, writer.errors)
