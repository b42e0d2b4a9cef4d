"""Dumps as dicts, read by the program and passed on a rollout at a time. The keys are those of its JSON (docs/json.md)."""

from __future__ import annotations

import html
import json
import subprocess
import tempfile
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Sequence, Union

from ._program import command

if TYPE_CHECKING:
    import pandas  # type: ignore[import-not-found,import-untyped,unused-ignore]

#: The value of a flag: True for a flag without one, a list for one that may stand several times.
Flag = Union[None, bool, int, float, str, Sequence[str]]

NUMBERS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


class ReadingFailed(RuntimeError):
    """The program could not read what was named; the message is its own."""


class Rollout(Dict[str, Any]):
    """A rollout as `show --json` tells it; a notebook shows it as the page of `show --html`, in a frame of its own."""

    def _repr_html_(self) -> str:
        page = "".join(_lines(["show", "--html", "-", "--", self["locator"]]))
        # The page has its own policy; the frame isolates the notebook from it.
        return (
            '<iframe sandbox="allow-scripts" style="width: 100%%; height: 36em; border: 0" srcdoc="%s"></iframe>'
            % html.escape(page, quote=True)
        )


def ls(
    *paths: str,
    filter: Optional[str] = None,
    sort: Optional[str] = None,
    limit: Optional[int] = None,
    **reading: Flag,
) -> Iterator[Dict[str, Any]]:
    """A dict a rollout, as `rollout-viewer ls --json` prints it; a record that cannot be read has `error`.

    Other keywords are flags of the command: chat_template="Qwen2.5", map=…, format=…, group_by=…, tokenizer=…."""
    return _asked("ls", paths, {"filter": filter, "sort": sort, "limit": limit, **reading})


def show(*locators: str, **reading: Flag) -> Iterator[Rollout]:
    """The rollouts that locators name (`3.jsonl:57`), whole: turns, calls, spans, loss mask, rewards."""
    return (Rollout(one) for one in _asked("show", locators, reading))


def report(verb: str, *paths: str, **flags: Flag) -> "pandas.DataFrame":
    """The rows of a report as a DataFrame: report("stats", "rollout_data", by="tool"); groups, movement, signal, labels and others alike."""
    pandas = _pandas()
    return pandas.DataFrame(list(_asked(verb, paths, flags)))


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError("rollout_viewer.frame needs pandas: pip install pandas") from error
    return pandas


def _asked(verb: str, paths: Sequence[str], flags: Mapping[str, Flag]) -> Iterator[Dict[str, Any]]:
    words: List[str] = []
    for name, value in flags.items():
        # The program itself refuses a flag that it does not have, by its name.
        flag = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        for one in value if isinstance(value, (list, tuple)) else [value]:
            words.append(flag if one is True else "%s=%s" % (flag, one))
    return _objects([verb, "--json"] + words + ["--"] + [str(path) for path in paths])


def frame(
    *paths: str, filter: Optional[str] = None, sort: Optional[str] = None, **reading: Flag
) -> "pandas.DataFrame":
    """A pandas DataFrame, a row a rollout; the keys under `extras` are columns of their own."""
    pandas = _pandas()
    rows: List[Dict[str, Any]] = []
    for row in _asked("ls", paths, {"filter": filter, "sort": sort, **reading}):
        extras = row.pop("extras", None) or {}
        score = row.get("score")
        if isinstance(score, str):
            row["score"] = NUMBERS.get(score)
        rows.append({**{key: value for key, value in extras.items() if key not in row}, **row})
    return pandas.DataFrame(rows)


def _objects(arguments: List[str]) -> Iterator[Dict[str, Any]]:
    return (json.loads(line) for line in _lines(arguments))


def _lines(arguments: List[str]) -> Iterator[str]:
    # An unread pipe would block the program, so messages go to a file.
    with tempfile.TemporaryFile() as messages:
        child = subprocess.Popen(
            command() + arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=messages
        )
        assert child.stdout is not None
        try:
            for line in child.stdout:
                yield line.decode("utf-8")
            status = child.wait()
        finally:
            child.stdout.close()
            if child.poll() is None:
                child.kill()
            child.wait()
        # 1 = no match.
        if status not in (0, 1):
            messages.seek(0)
            said = messages.read().decode("utf-8", "replace").strip()
            raise ReadingFailed(said or "rollout-viewer ended with status %d" % status)
