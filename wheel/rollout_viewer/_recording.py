"""A recorder between an agent and its model, for the time of a with-block."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import threading
from types import TracebackType
from typing import Any, Optional, Type
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

from . import _program


class Recording:
    """The address of a recorder; its dump is read by `rollout_viewer.ls(out)` at any time."""

    def __init__(self, out: "str | os.PathLike[str]", model_url: str, *, tokens: bool = False, port: Optional[int] = None):
        self.out = os.fspath(out)
        arguments = _program.command() + ["record", "--out", self.out, "--model-url", model_url]
        if tokens:
            arguments.append("--tokens")
        if port is not None:
            arguments += ["--port", str(port)]
        self._child = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self._said = ""
        self.anthropic_base_url = self._address()
        self.openai_base_url = self.anthropic_base_url + "/v1"
        # What it says later is kept from filling the pipe.
        for pipe in (self._child.stdout, self._child.stderr):
            threading.Thread(target=self._drain, args=(pipe,), daemon=True).start()

    def _address(self) -> str:
        assert self._child.stdout is not None and self._child.stderr is not None
        for line in self._child.stdout:
            match = re.search(r"ANTHROPIC_BASE_URL=(\S+)", line)
            if match:
                return match.group(1)
        problem = self._child.stderr.read().strip()
        self._child.wait()
        raise RuntimeError(problem or "the recorder ended before it listened")

    def _drain(self, pipe: Any) -> None:
        for line in pipe:
            self._said = (self._said + line)[-4000:]

    @property
    def problems(self) -> str:
        """Damage and losses in words, as the recorder said them last."""
        return self._said

    def url_of(self, rollout: str) -> str:
        """The address for one rollout: all its requests belong to it, whatever their histories."""
        return "%s/rollout/%s" % (self.anthropic_base_url, quote(rollout, safe=""))

    def reward(self, rollout: str, **values: Any) -> None:
        """Gives a rollout its score: reward("a", score=1.0). Raises KeyError if it has made no request."""
        body = json.dumps(values).encode()
        request = Request(self.url_of(rollout) + "/reward", data=body, headers={"Content-Type": "application/json"})
        try:
            urlopen(request, timeout=60).close()
        except HTTPError as error:
            if error.code == 404:
                raise KeyError(rollout) from None
            raise

    def close(self) -> None:
        if self._child.poll() is not None:
            return
        self._child.send_signal(signal.SIGTERM)
        try:
            self._child.wait(30)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()

    def __enter__(self) -> "Recording":
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()


def record(
    out: "str | os.PathLike[str]", model_url: str, *, tokens: bool = False, port: Optional[int] = None
) -> Recording:
    """Starts a recorder; use it in a with-block, or close it."""
    return Recording(out, model_url, tokens=tokens, port=port)
