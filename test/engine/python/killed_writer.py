"""Writes lines until it is killed, and prints each acknowledged one: `PROCESS NUMBER`, one write a line."""

import os
import sys

from rollout_viewer import Writer

directory, process = sys.argv[1], sys.argv[2]
# All processes say that they are rank 0: nothing may depend on what a launcher sets.
writer = Writer(directory, rank=0)
text = "word " * int(sys.argv[3])
number = 0
while True:
    messages = [{"role": "user", "content": process}, {"role": "assistant", "content": "%d %s" % (number, text)}]
    if not writer.write(step=number // 50, messages=messages, response_ids=[1], response_mask=[1], rewards=1.0):
        raise SystemExit(repr(writer.last_error))
    os.write(1, b"%d\n" % number)
    number += 1
