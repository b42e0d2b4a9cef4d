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
REPORTS: Tuple[str, ...] = (
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
)


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
    memory: Optional[Value]
    nice: Optional[bool]
    no_cache: Optional[bool]
    notify: Optional[Union[str, Sequence[str]]]
    poll: Optional[Value]
    sort: Optional[Value]
    threads: Optional[Value]
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
    memory: Optional[Value]
    nice: Optional[bool]
    no_cache: Optional[bool]
    redact: Optional[bool]
    threads: Optional[Value]
    tokenizer: Optional[Value]
    tokens: Optional[bool]
    validation: Optional[Union[str, Sequence[str]]]


class ReplayFlags(TypedDict, total=False):
    bisect: Optional[Value]
    cache_size: Optional[Value]
    call: Optional[Value]
    chat_template: Optional[Value]
    concurrency: Optional[Value]
    engine: Optional[Value]
    env: Optional[Union[str, Sequence[str]]]
    exact: Optional[Union[str, Sequence[str]]]
    filter: Optional[Value]
    format: Optional[Value]
    from_: Optional[Value]
    group_by: Optional[Value]
    image: Optional[Value]
    journal: Optional[Value]
    map: Optional[Value]
    memory: Optional[Value]
    network: Optional[bool]
    nice: Optional[bool]
    no_cache: Optional[bool]
    python: Optional[Value]
    python_path: Optional[Union[str, Sequence[str]]]
    repeat: Optional[Value]
    resume: Optional[bool]
    sandbox: Optional[Value]
    sandbox_python: Optional[Value]
    sandbox_requirements: Optional[Value]
    session: Optional[bool]
    share: Optional[Value]
    shell: Optional[Value]
    stop_at_drift: Optional[bool]
    threads: Optional[Value]
    time_limit: Optional[Value]
    timeout: Optional[Value]
    tool: Optional[Union[str, Sequence[str]]]
    tools: Optional[Value]
    validation: Optional[Union[str, Sequence[str]]]
    workdir: Optional[Value]
    yes: Optional[bool]
    yes_weak: Optional[bool]


class RescoreFlags(TypedDict, total=False):
    against: Optional[Value]
    cache_size: Optional[Value]
    chat_template: Optional[Value]
    concurrency: Optional[Value]
    engine: Optional[Value]
    env: Optional[Union[str, Sequence[str]]]
    filter: Optional[Value]
    format: Optional[Value]
    function: Optional[Value]
    group_by: Optional[Value]
    image: Optional[Value]
    journal: Optional[Value]
    map: Optional[Value]
    max_response_length: Optional[Value]
    memory: Optional[Value]
    network: Optional[bool]
    nice: Optional[bool]
    no_cache: Optional[bool]
    overlong_buffer: Optional[Value]
    python: Optional[Value]
    python_path: Optional[Union[str, Sequence[str]]]
    repeat: Optional[Value]
    reward: Optional[Value]
    reward_url: Optional[Value]
    sandbox: Optional[Value]
    share: Optional[Value]
    shell: Optional[Value]
    threads: Optional[Value]
    time_limit: Optional[Value]
    timeout: Optional[Value]
    tool: Optional[Union[str, Sequence[str]]]
    tools: Optional[Value]
    validation: Optional[Union[str, Sequence[str]]]
    verifier: Optional[Value]
    workdir: Optional[Value]
    yes: Optional[bool]
    yes_weak: Optional[bool]


class WorkerFlags(TypedDict, total=False):
    allow_tools: Optional[Value]
    concurrency: Optional[Value]
    idle_exit: Optional[Value]
    max_time: Optional[Value]
    metrics: Optional[Union[bool, str]]
    model_url: Optional[Value]
    python: Optional[Value]
    sandbox: Optional[Value]
    sandbox_python: Optional[Value]
    share: Optional[Value]


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
    fail_on: Optional[Union[str, Sequence[str]]]
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
    memory: Optional[Value]
    n: Optional[Value]
    nice: Optional[bool]
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
    threads: Optional[Value]
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
        "memory",
        "nice",
        "no_cache",
        "notify",
        "poll",
        "sort",
        "threads",
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
        "memory",
        "nice",
        "no_cache",
        "redact",
        "threads",
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
        "memory",
        "nice",
        "no_cache",
        "no_signal",
        "threads",
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
        "memory",
        "nice",
        "no_cache",
        "set",
        "threads",
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
        "memory",
        "nice",
        "no_cache",
        "no_step",
        "threads",
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
        "memory",
        "nice",
        "no_cache",
        "patch",
        "threads",
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
        "memory",
        "nice",
        "no_cache",
        "role",
        "threads",
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
        "memory",
        "nice",
        "no_cache",
        "pass_",
        "threads",
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
        "memory",
        "nice",
        "no_cache",
        "threads",
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
        "memory",
        "nice",
        "no_cache",
        "threads",
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
        "memory",
        "nice",
        "no_cache",
        "pass_",
        "threads",
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
        "memory",
        "nice",
        "no_cache",
        "threads",
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
        "memory",
        "nice",
        "no_cache",
        "threads",
        "validation",
    ),
    "sql": (
        "cache_size",
        "chat_template",
        "format",
        "group_by",
        "map",
        "memory",
        "nice",
        "no_cache",
        "python",
        "threads",
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
        "memory",
        "nice",
        "no_cache",
        "of",
        "threads",
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
        "memory",
        "n",
        "nice",
        "no_cache",
        "seed",
        "threads",
        "validation",
    ),
    "replay": (
        "bisect",
        "cache_size",
        "call",
        "chat_template",
        "concurrency",
        "engine",
        "env",
        "exact",
        "filter",
        "format",
        "from_",
        "group_by",
        "image",
        "journal",
        "map",
        "memory",
        "network",
        "nice",
        "no_cache",
        "python",
        "python_path",
        "repeat",
        "resume",
        "sandbox",
        "sandbox_python",
        "sandbox_requirements",
        "session",
        "share",
        "shell",
        "stop_at_drift",
        "threads",
        "time_limit",
        "timeout",
        "tool",
        "tools",
        "validation",
        "workdir",
        "yes",
        "yes_weak",
    ),
    "rescore": (
        "against",
        "cache_size",
        "chat_template",
        "concurrency",
        "engine",
        "env",
        "filter",
        "format",
        "function",
        "group_by",
        "image",
        "journal",
        "map",
        "max_response_length",
        "memory",
        "network",
        "nice",
        "no_cache",
        "overlong_buffer",
        "python",
        "python_path",
        "repeat",
        "reward",
        "reward_url",
        "sandbox",
        "share",
        "shell",
        "threads",
        "time_limit",
        "timeout",
        "tool",
        "tools",
        "validation",
        "verifier",
        "workdir",
        "yes",
        "yes_weak",
    ),
    "worker": (
        "allow_tools",
        "concurrency",
        "idle_exit",
        "max_time",
        "metrics",
        "model_url",
        "python",
        "sandbox",
        "sandbox_python",
        "share",
    ),
}
