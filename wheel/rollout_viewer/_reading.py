"""Dumps as dicts, read by the program and passed on a rollout at a time. The keys are those of its JSON (docs/json.md)."""

from __future__ import annotations

import difflib
import gc
import html
import json
import os
import subprocess
import tempfile
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Sequence, Union

from ._flags import KEYWORDS, REPORTS
from ._program import command

if TYPE_CHECKING:
    import pandas  # type: ignore[import-not-found,import-untyped,unused-ignore]
    from typing_extensions import Unpack

    from ._flags import LsFlags, Report, ReportFlags, ShowFlags

Path = Union[str, "os.PathLike[str]"]

NUMBERS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


class ReadingFailed(RuntimeError):
    """The program could not read the input; the message is the program's."""


class Rollout(Dict[str, Any]):
    """A rollout as in `show --json`; a notebook shows the page of `show --html` in a frame."""

    def _repr_html_(self) -> str:
        page = "".join(_lines(["show", "--html", "-", "--", self["locator"]]))
        # The page has its own policy; the frame isolates the notebook from it.
        return (
            '<iframe sandbox="allow-scripts" style="width: 100%%; height: 36em; border: 0" srcdoc="%s"></iframe>'
            % html.escape(page, quote=True)
        )


def ls(*paths: Path, **flags: Unpack[LsFlags]) -> Iterator[Dict[str, Any]]:
    """A dict a rollout, as `rollout-viewer ls --json` prints it; a record that cannot be read has `error`.

    Keywords are flags of the command: filter="score < 0.5", chat_template="Qwen2.5", map=…, group_by=…, tokenizer=…."""
    return _objects(_words("ls", "ls()", paths, flags))


def show(*locators: str, **flags: Unpack[ShowFlags]) -> Iterator[Rollout]:
    """The rollouts that locators name (`3.jsonl:57`), whole: turns, calls, spans, loss mask, rewards."""
    return (Rollout(one) for one in _objects(_words("show", "show()", locators, flags)))


def report(verb: Report, *paths: Path, **flags: Unpack[ReportFlags]) -> pandas.DataFrame:
    """The rows of a report as a DataFrame: report("stats", "rollout_data", by="tool").

    What `labels` says of all raters together is in `.attrs["agreement"]`."""
    if verb not in REPORTS:
        raise TypeError("no report %r%s" % (verb, _nearest(verb, REPORTS)))
    words = _words(verb, "report(%r)" % verb, paths, flags)
    pandas = _pandas()
    rows = _rows(words)
    # Its last line is about all raters, not about a rollout.
    agreement = rows.pop() if verb == "labels" and rows and "locator" not in rows[-1] else None
    table = pandas.DataFrame(rows)
    if agreement is not None:
        table.attrs["agreement"] = agreement
    return table


def frame(*paths: Path, **flags: Unpack[LsFlags]) -> pandas.DataFrame:
    """A pandas DataFrame, one row per rollout; the keys under `extras` are separate columns."""
    words = _words("ls", "frame()", paths, flags)
    pandas = _pandas()
    rows = _rows(words)
    for row in rows:
        extras = row.pop("extras", None)
        if isinstance(row.get("score"), str):
            row["score"] = NUMBERS.get(row["score"])
        if extras:
            for key, value in extras.items():
                row.setdefault(key, value)
    return pandas.DataFrame(rows)


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError("rollout_viewer.frame needs pandas: pip install pandas") from error
    return pandas


def _words(verb: str, caller: str, paths: Sequence[Path], flags: Mapping[str, object]) -> List[str]:
    """The words of a command line. Raises TypeError for a keyword that is no flag of the command."""
    words = [verb, "--json"]
    for name, value in flags.items():
        if name not in KEYWORDS[verb]:
            raise TypeError("%s has no keyword %r%s" % (caller, name, _nearest(name, KEYWORDS[verb])))
        flag = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        for one in value if isinstance(value, (list, tuple)) else [value]:
            words.append(flag if one is True else "%s=%s" % (flag, one))
    return words + ["--"] + [os.fspath(path) for path in paths]


def _nearest(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, 1)
    return "; did you mean %r?" % near[0] if near else "; it has %s" % ", ".join(known)


def _objects(arguments: List[str]) -> Iterator[Dict[str, Any]]:
    return (json.loads(line) for line in _lines(arguments))


def _lines(arguments: List[str]) -> Iterator[str]:
    with _output(arguments) as output:
        for line in output:
            yield line.decode("utf-8")


#: Bytes that are parsed at once: the keys of their rows are then one string each, which takes half of the time.
AT_ONCE = 1 << 20


def _rows(arguments: List[str]) -> List[Dict[str, Any]]:
    """All of them at once. The collector is off meanwhile: it would look through the growing list again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        rows: List[Dict[str, Any]] = []
        with _output(arguments) as output:
            for lines in iter(lambda: output.readlines(AT_ONCE), []):
                rows += json.loads(b"[%s]" % b",".join(lines))
        return rows
    finally:
        if was_on:
            gc.enable()


@contextmanager
def _output(arguments: List[str]) -> Iterator[IO[bytes]]:
    """What the program prints; leaving ends it. Raises ReadingFailed with its message if it fails."""
    # An unread pipe would block the program, so messages go to a file.
    with tempfile.TemporaryFile() as messages:
        child = subprocess.Popen(
            command() + arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=messages, bufsize=1 << 16
        )
        assert child.stdout is not None
        try:
            yield child.stdout
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
