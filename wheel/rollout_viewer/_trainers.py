"""The parts that the recorders of all trainers share. A recorder never fails a training step: what goes wrong is counted and logged."""

from __future__ import annotations

import functools
import logging
import os
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Set, TypeVar, cast

from ._writer import Writer

LOG = logging.getLogger("rollout_viewer")

#: Set to 0 to record nothing.
SWITCH = "ROLLOUT_VIEWER_RECORD"
_SAID: Set[str] = set()


def is_on() -> bool:
    return os.environ.get(SWITCH, "1").strip().lower() not in ("0", "off", "no", "false")


def say_once(text: str, about: Optional[str] = None) -> None:
    """about: what is said once, where the text differs from time to time."""
    if (about or text) not in _SAID:
        _SAID.add(about or text)
        LOG.warning("%s", text)


def say_unknown(trainer: str, error: BaseException) -> None:
    """Names a trainer of another version once, in however many ways it differs."""
    say_once("rollout-viewer does not know this %s: it is not recorded, and training continues (%r)" % (trainer, error), trainer)


Hook = TypeVar("Hook", bound=Callable[..., Any])


def hook(trainer: str, answer: Any = None) -> Callable[[Hook], Hook]:
    """A function that a trainer calls: whatever it is given, it raises nothing, and then gives this answer."""

    def of(function: Hook) -> Hook:
        @functools.wraps(function)
        def safe(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except Exception as error:
                say_unknown(trainer, error)
                return answer

        return cast(Hook, safe)

    return of


def messages_of(prompt: Any) -> List[Mapping[str, Any]]:
    if isinstance(prompt, str):
        return [{"role": "user", "content": prompt}]
    return [dict(message) for message in (prompt if prompt is not None else ())]


def listed(values: Any) -> List[Any]:
    return list(values.tolist() if hasattr(values, "tolist") else values)


def kept(values: Sequence[Any], mask: Sequence[Any]) -> List[Any]:
    return [value for value, bit in zip(values, mask) if bit]


class Streams:
    """A writer for each stream of a run: evaluations lie apart from what was trained on."""

    def __init__(self, directory: str, decode: Optional[Callable[[List[int]], str]] = None, queue: int = 0) -> None:
        self.directory = directory
        self._decode = decode
        self._queue = queue
        self._writers: Dict[str, Writer] = {}

    def of(self, stream: str) -> Writer:
        writer = self._writers.get(stream)
        if writer is None:
            folder = os.path.join(self.directory, stream) if stream else self.directory
            writer = self._writers[stream] = Writer(folder, decode=self._decode, queue=self._queue)
        return writer

    @property
    def writers(self) -> List[Writer]:
        return list(self._writers.values())

    def flush(self) -> bool:
        return all([writer.flush() for writer in self.writers])
