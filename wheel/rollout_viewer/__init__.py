"""Rollouts of LLM reinforcement learning: read dumps as dicts, write dumps that keep what trainers know.

    for row in rollout_viewer.ls("rollout_data", filter="score < 0.5"):
        print(row["locator"], row["score"])

    writer = rollout_viewer.Writer("rollout_data")
    writer.write(step=3, messages=messages, response_ids=ids, response_mask=mask, rewards=0.5)
"""

from ._program import NodeMissing
from ._reading import ReadingFailed, Rollout, frame, ls, report, show
from ._recording import Recording, record
from ._writer import Writer

__all__ = [
    "NodeMissing",
    "ReadingFailed",
    "Recording",
    "Rollout",
    "Writer",
    "frame",
    "ls",
    "record",
    "report",
    "show",
]
