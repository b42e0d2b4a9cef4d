"""The flags of the program as keywords, written from its command line by a test; not by hand."""

from __future__ import annotations

import os
from typing import Any, Dict, Literal, Optional, Sequence, Tuple, TypedDict, Union

#: The value of a flag.
Value = Union[str, int, float, "os.PathLike[str]"]

#: The commands that `report` knows.
Report = Literal[
    "audit",
    "compare",
    "errors",
    "files",
    "grep",
    "groups",
    "incidents",
    "labels",
    "matrix",
    "movement",
    "signal",
    "sql",
    "stats",
    "triage",
]


class LsFlags(TypedDict, total=False):
    by: Optional[Union[bool, str]]
    cache_size: Optional[Value]
    chat_template: Optional[Value]
    events: Optional[bool]
    filter: Optional[Value]
    follow: Optional[bool]
    format: Optional[Value]
    group_by: Optional[Value]
    journal: Optional[Value]
    limit: Optional[Value]
    map: Optional[Value]
    no_cache: Optional[bool]
    notify: Optional[Union[str, Sequence[str]]]
    poll: Optional[Value]
    sort: Optional[Value]
    tokenizer: Optional[Value]
    under_way: Optional[bool]
    validation: Optional[Union[str, Sequence[str]]]


class ShowFlags(TypedDict, total=False):
    cache_size: Optional[Value]
    chat_template: Optional[Value]
    filter: Optional[Value]
    format: Optional[Value]
    group_by: Optional[Value]
    journal: Optional[Value]
    limit: Optional[Value]
    map: Optional[Value]
    mapping: Optional[bool]
    no_cache: Optional[bool]
    redact: Optional[bool]
    tokenizer: Optional[Value]
    tokens: Optional[bool]
    validation: Optional[Union[str, Sequence[str]]]


class ReportFlags(TypedDict, total=False):
    allow: Optional[Value]
    best: Optional[bool]
    blame: Optional[Value]
    by: Optional[Value]
    by_step: Optional[bool]
    cache_size: Optional[Value]
    chat_template: Optional[Value]
    context: Optional[Value]
    curves: Optional[bool]
    diff: Optional[bool]
    fail_on: Optional[Value]
    filter: Optional[Value]
    format: Optional[Value]
    group_by: Optional[Value]
    histogram: Optional[bool]
    in_: Optional[Value]
    journal: Optional[Value]
    junit: Optional[bool]
    k: Optional[Value]
    limit: Optional[Value]
    map: Optional[Value]
    n: Optional[Value]
    no_cache: Optional[bool]
    no_signal: Optional[bool]
    no_step: Optional[bool]
    of: Optional[Value]
    pass_: Optional[Value]
    patch: Optional[bool]
    python: Optional[Value]
    role: Optional[Union[str, Sequence[str]]]
    seed: Optional[Value]
    set: Optional[Value]
    tokenizer: Optional[Value]
    tool: Optional[Union[str, Sequence[str]]]
    turn: Optional[Value]
    validation: Optional[Union[str, Sequence[str]]]
    workdir: Optional[Value]


KEYWORDS: Dict[str, Tuple[str, ...]] = {
    "ls": (
        "by",
        "cache_size",
        "chat_template",
        "events",
        "filter",
        "follow",
        "format",
        "group_by",
        "journal",
        "limit",
        "map",
        "no_cache",
        "notify",
        "poll",
        "sort",
        "tokenizer",
        "under_way",
        "validation",
    ),
    "show": (
        "cache_size",
        "chat_template",
        "filter",
        "format",
        "group_by",
        "journal",
        "limit",
        "map",
        "mapping",
        "no_cache",
        "redact",
        "tokenizer",
        "tokens",
        "validation",
    ),
    "audit": (
        "allow",
        "cache_size",
        "chat_template",
        "fail_on",
        "format",
        "group_by",
        "junit",
        "map",
        "no_cache",
        "no_signal",
        "tokenizer",
        "validation",
    ),
    "compare": (
        "cache_size",
        "chat_template",
        "filter",
        "format",
        "group_by",
        "journal",
        "map",
        "no_cache",
        "set",
        "validation",
    ),
    "errors": (
        "cache_size",
        "chat_template",
        "filter",
        "format",
        "group_by",
        "journal",
        "map",
        "no_cache",
        "no_step",
        "validation",
    ),
    "files": (
        "blame",
        "cache_size",
        "chat_template",
        "diff",
        "format",
        "group_by",
        "journal",
        "map",
        "no_cache",
        "patch",
        "tool",
        "turn",
        "validation",
        "workdir",
    ),
    "grep": (
        "cache_size",
        "chat_template",
        "context",
        "filter",
        "format",
        "group_by",
        "in_",
        "journal",
        "limit",
        "map",
        "no_cache",
        "role",
        "tokenizer",
        "validation",
    ),
    "groups": (
        "by_step",
        "cache_size",
        "chat_template",
        "filter",
        "format",
        "group_by",
        "journal",
        "k",
        "map",
        "no_cache",
        "pass_",
        "validation",
    ),
    "incidents": (
        "cache_size",
        "chat_template",
        "filter",
        "format",
        "group_by",
        "journal",
        "map",
        "no_cache",
        "validation",
    ),
    "labels": (
        "cache_size",
        "chat_template",
        "filter",
        "format",
        "group_by",
        "journal",
        "map",
        "no_cache",
        "validation",
    ),
    "matrix": (
        "cache_size",
        "chat_template",
        "filter",
        "format",
        "group_by",
        "journal",
        "limit",
        "map",
        "no_cache",
        "pass_",
        "validation",
    ),
    "movement": (
        "cache_size",
        "chat_template",
        "filter",
        "format",
        "group_by",
        "journal",
        "map",
        "no_cache",
        "validation",
    ),
    "signal": (
        "cache_size",
        "chat_template",
        "filter",
        "format",
        "group_by",
        "limit",
        "map",
        "no_cache",
        "validation",
    ),
    "sql": (
        "cache_size",
        "chat_template",
        "format",
        "group_by",
        "map",
        "no_cache",
        "python",
        "validation",
    ),
    "stats": (
        "best",
        "by",
        "cache_size",
        "chat_template",
        "curves",
        "filter",
        "format",
        "group_by",
        "histogram",
        "journal",
        "map",
        "no_cache",
        "of",
        "validation",
    ),
    "triage": (
        "cache_size",
        "chat_template",
        "filter",
        "format",
        "group_by",
        "journal",
        "map",
        "n",
        "no_cache",
        "seed",
        "validation",
    ),
}
