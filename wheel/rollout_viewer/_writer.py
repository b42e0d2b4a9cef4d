"""Writes the dump that the viewer reads without guessing (docs/dump-format.md). Standard library alone, Python 3.8 and newer."""

from __future__ import annotations

import atexit
import json
import logging
import os
import queue as queues
import re
import socket
import threading
import weakref
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

LOG = logging.getLogger("rollout_viewer")

FORMAT = "rollout-viewer/2"
#: The end of a sampled turn as templates write it: `<|im_end|>`, `</s>`, `<end_of_turn>`.
END = re.compile(r"(?:<\|[^|<>]{1,40}\|>|</s>|<end_of_turn>)\s*\Z")

try:
    import fcntl
except ImportError:  # Windows.
    fcntl = None  # type: ignore[assignment]

Message = Mapping[str, Any]
#: A piece of a text: its turn, its kind (`:` marker, `=` given, `*` sampled and trained, `?` unknown), and the text itself.
Piece = Tuple[int, str, str]


#: Every writer of this process: a fork must not inherit a lock held by a thread of its parent.
_WRITERS: "weakref.WeakSet[Writer]" = weakref.WeakSet()


def _after_fork() -> None:
    for writer in list(_WRITERS):
        writer._lock = threading.Lock()
        writer._forget_queue()


def _at_exit() -> None:
    for writer in list(_WRITERS):
        writer.flush()


atexit.register(_at_exit)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class Writer:
    """Appends rollouts to `DIRECTORY/NAME_STEP.jsonl`, a file a process and step, each rollout by one write to the end of the file.

    `write` answers whether the line is in the system's hands. It raises nothing: what goes wrong is counted in `errors`, kept in
    `last_error` and logged, so that a training step never fails for the sake of its dump.
    """

    def __init__(
        self,
        directory: Union[str, "os.PathLike[str]"],
        *,
        rank: Optional[Union[int, str]] = None,
        decode: Optional[Callable[[List[int]], str]] = None,
        queue: int = 0,
    ) -> None:
        """rank: the number of this process among the writers; RANK of the environment where it is None, else the process's id.
        decode: a tokenizer's `decode`, with which text and mask are laid from the ids, exactly as they were sampled.
        queue: so many rollouts may wait for a thread that writes them; `write` then waits only where they are too many, and
        `flush` answers once all are in the system's hands."""
        self.directory = os.fspath(directory)
        self.decode = decode
        self.errors = 0
        self.written = 0
        #: Values that are not JSON, written to the dump as their text.
        self.odd = 0
        self.last_error: Optional[BaseException] = None
        self._rank = rank
        self._lock = threading.Lock()
        self._pid = -1
        self._step: Optional[int] = None
        self._fd = -1
        self._most = queue
        self._forget_queue()
        _WRITERS.add(self)

    def write(
        self,
        *,
        step: Optional[int] = None,
        messages: Sequence[Message] = (),
        response_ids: Any = None,
        response_mask: Any = None,
        rollout_log_probs: Any = None,
        rewards: Any = None,
        prompt_ids: Any = None,
        ground_truth: Any = None,
        uid: Optional[str] = None,
        tools: Optional[Sequence[Any]] = None,
        **more: Any,
    ) -> bool:
        """messages: the conversation, prompt and response; the prompt alone where `decode` tells the response.
        response_mask: 1 for each id of the response that is trained on. rewards: a number, numbers by name, or one (or None) a message.
        Other keys (request_id, data_source, model, status, finish_reason, acc …) stand in the line as they are."""
        try:
            given = (
                step, messages, response_ids, response_mask, rollout_log_probs, rewards, prompt_ids, ground_truth, uid, tools, more,
            )  # fmt: skip
            if self._most > 0:
                self._queued().put(given)
                return True
            return self._write_now(given)
        except Exception as error:
            self.failed(error)
            return False

    def _write_now(self, given: Tuple[Any, ...]) -> bool:
        try:
            line = _line(self.decode, self._plain_value, *given)
            with self._lock:
                self._append(int(given[0] or 0), line)
                self.written += 1
            return True
        except Exception as error:  # A full disk, a value that is not JSON: no error may reach the trainer.
            self.failed(error)
            return False

    def _forget_queue(self) -> None:
        """A fork has no thread, and its parent writes what waited."""
        self._queue: Optional["queues.Queue[Tuple[Any, ...]]"] = None
        self._starting = threading.Lock()

    def _queued(self) -> "queues.Queue[Tuple[Any, ...]]":
        with self._starting:
            if self._queue is None:
                self._queue = queues.Queue(self._most)
                threading.Thread(target=self._drain, args=(self._queue,), name="rollout-viewer", daemon=True).start()
            return self._queue

    def _drain(self, queue: "queues.Queue[Tuple[Any, ...]]") -> None:
        while True:
            given = queue.get()
            try:
                self._write_now(given)
            finally:
                queue.task_done()

    def flush(self) -> bool:
        """Waits until nothing waits any more; answers whether everything so far was written."""
        queue = self._queue
        if queue is not None:
            queue.join()
        return self.errors == 0

    def _plain_value(self, value: Any) -> Any:
        for name in ("tolist", "item"):
            if hasattr(value, name):
                return getattr(value, name)()
        self.odd += 1
        if self.odd & (self.odd - 1) == 0:
            LOG.warning("a value of the type %s is written as its text (%d so far)", type(value).__name__, self.odd)
        return str(value)

    def failed(self, error: BaseException) -> None:
        """Counts what went wrong and logs the 1st, 2nd, 4th, 8th … of it."""
        self.errors += 1
        self.last_error = error
        if self.errors & (self.errors - 1) == 0:
            LOG.warning("a rollout was not written to %s (%d so far): %r", self.directory, self.errors, error)

    def close(self) -> None:
        self.flush()
        with self._lock:
            self._close()

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        try:
            self._close()
        except Exception:  # The interpreter ends, or the writer was never made.
            pass

    def _close(self) -> None:
        if self._fd != -1 and self._pid == os.getpid():
            os.close(self._fd)
        self._fd = -1

    def _append(self, step: int, line: bytes) -> None:
        # A fork inherits its parent's descriptor, so it writes to its own file.
        if self._fd == -1 or step != self._step or self._pid != os.getpid():
            self._close()
            self._fd = _open(self.directory, self._name(), step)
            self._step, self._pid = step, os.getpid()
        done = os.write(self._fd, line)
        if done == len(line):
            return
        # The disk is full, or a limit was reached. The partial write stays the last line of its file.
        self._close()
        raise OSError("only %d of %d bytes could be written" % (done, len(line)))

    def _name(self) -> str:
        rank = self._rank if self._rank is not None else os.environ.get("RANK")
        host = re.sub(r"[^A-Za-z0-9-]+", "-", socket.gethostname())[:40]
        own = "%s-%d" % (host, os.getpid())
        return own if rank is None else "rank%s-%s" % (re.sub(r"[^A-Za-z0-9-]+", "-", str(rank)), own)


def _open(directory: str, name: str, step: int) -> int:
    """A file that ends with a whole line and that nobody else writes: behind a torn or a busy one another file is begun."""
    os.makedirs(directory, exist_ok=True)
    for attempt in range(1000):
        stem = name if attempt == 0 else "%s-%d" % (name, attempt)
        fd = os.open(
            os.path.join(directory, "%s_%d.jsonl" % (stem, step)),
            os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0),
            0o666,
        )
        if _is_own(fd):
            size = os.lseek(fd, 0, os.SEEK_END)
            if size == 0:
                return fd
            os.lseek(fd, size - 1, os.SEEK_SET)
            if os.read(fd, 1) == b"\n":
                return fd
        os.close(fd)
    raise OSError("every file of %s for step %d is busy or ends with a torn line" % (name, step))


def _is_own(fd: int) -> bool:
    """Whether no other process holds the file: host and process id are no name of their own in containers."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # A file system without locks: appends are all there is.
        pass
    return True


def _line(
    decode: Optional[Callable[[List[int]], str]],
    plain_value: Callable[[Any], Any],
    step: Optional[int],
    messages: Sequence[Message],
    response_ids: Any,
    response_mask: Any,
    rollout_log_probs: Any,
    rewards: Any,
    prompt_ids: Any,
    ground_truth: Any,
    uid: Optional[str],
    tools: Optional[Sequence[Any]],
    more: Mapping[str, Any],
) -> bytes:
    prompt_ids, ids, mask, logprobs = (
        _list(one) for one in (prompt_ids, response_ids, response_mask, rollout_log_probs)
    )
    turns = [dict(message) for message in messages]
    runs = _runs(mask)
    sampled = _sampled(turns, sum(1 for _, _, bit in runs if bit))
    if decode is not None and ids is not None:
        mask_runs = runs if mask is not None and len(mask) == len(ids) else [(0, len(ids), None)]
        texts = _decoded(decode, ids, mask_runs)
        prompt, response = _laid(decode, turns, sampled, prompt_ids, mask_runs, texts)
    else:
        prompt, response = _plain(turns, sampled, len(sampled) == sum(1 for _, _, bit in runs if bit))
    record: Dict[str, Any] = {
        "input": "".join(text for _, _, text in prompt),
        "output": "".join(text for _, _, text in response),
        "gts": ground_truth,
        "messages": _messages(turns, prompt + response),
        "tool_calls": _calls(turns),
        "spans": _spans(prompt + response),
    }
    if turns:
        record["prompt_turns"] = response[0][0] if response else len(turns)
    for key, value in (
        ("tools", tools),
        ("prompt_ids", prompt_ids),
        ("response_ids", ids),
        ("response_mask", mask),
        ("rollout_log_probs", logprobs),
    ):
        if value is not None:
            record[key] = value
    # Readers assume these of their own engine's lines; nobody has stated them here.
    record.update(finish_reason=None, state=None)
    if mask is None:
        record["mask_source"] = "unknown"
    record.update((key, value) for key, value in more.items() if record.get(key) is None)
    if rewards is not None or "score" not in record:
        record.update(_rewards(rewards, len(turns)))
    # Short keys come last, so that an index finds score and step at the line's end.
    record["writer"] = FORMAT
    for key, value in (("score", record.pop("score", None)), ("step", step), ("uid", uid)):
        if value is not None or key != "uid":
            record[key] = value
    try:
        return (json.dumps(record, ensure_ascii=False, default=plain_value) + "\n").encode("utf-8")
    except UnicodeEncodeError:  # Half a surrogate pair.
        return (json.dumps(record, default=plain_value) + "\n").encode("ascii")


def _list(value: Any) -> Optional[List[Any]]:
    """A list of a list, a NumPy array or a tensor."""
    if value is None:
        return None
    return list(value.tolist() if hasattr(value, "tolist") else value)


def _runs(mask: Optional[List[Any]]) -> List[Tuple[int, int, Optional[bool]]]:
    """The runs of equal bits: start, end, trained."""
    runs: List[Tuple[int, int, Optional[bool]]] = []
    start = 0
    bits = [bool(bit) for bit in mask or []]
    while start < len(bits):
        bit = bits[start]
        try:
            end = bits.index(not bit, start)
        except ValueError:
            end = len(bits)
        runs.append((start, end, bit))
        start = end
    return runs


def _sampled(turns: Sequence[Message], trained_runs: int) -> List[int]:
    """The turns that the model wrote in the response: as many as the mask has runs of ones, else those behind the first."""
    assistants = [index for index, turn in enumerate(turns) if turn.get("role") == "assistant"]
    return assistants[-trained_runs:] if 0 < trained_runs <= len(assistants) else assistants


def _content(message: Message) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    if isinstance(content, (list, tuple)):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return ""


def _plain(turns: Sequence[Message], sampled: List[int], is_known: bool) -> Tuple[List[Piece], List[Piece]]:
    """The texts built from the messages: role, line break, content, line break. Each run of ones is a turn that the model wrote."""
    first = sampled[0] if sampled else len(turns)
    prompt: List[Piece] = []
    response: List[Piece] = []
    for index, turn in enumerate(turns):
        role = str(turn.get("role", "unknown"))
        into = prompt if index < first else response
        # The prompt ends where the model begins.
        (prompt if index == first else into).append((index, ":", role + "\n"))
        kind = "=" if index not in sampled else "*" if is_known else "?"
        into += [(index, kind, _content(turn)), (index, ":", "\n")]
    return prompt, response


#: Preceding ids decoded along with a run: a tokenizer may decode the first ids of a text differently.
CONTEXT = 8


def _decoded(
    decode: Callable[[List[int]], str], ids: List[int], runs: Sequence[Tuple[int, int, Optional[bool]]]
) -> List[str]:
    """The text of each run, in time that grows with the ids alone; [] where a border lies within a character."""
    whole = decode(ids)
    texts: List[str] = []
    for start, end, _ in runs:
        before = max(0, start - CONTEXT)
        head = decode(ids[before:start]) if start > before else ""
        both = decode(ids[before:end])
        if not both.startswith(head):
            break
        texts.append(both[len(head) :])
    if len(texts) == len(runs) and "".join(texts) == whole:
        return texts
    return _decoded_from_start(decode, ids, runs, whole)


#: If the decoded texts do not join up, everything up to each border is decoded again; more often than this would cost too much.
MOST_PREFIXES = 20


def _decoded_from_start(
    decode: Callable[[List[int]], str], ids: List[int], runs: Sequence[Tuple[int, int, Optional[bool]]], whole: str
) -> List[str]:
    if len(runs) > MOST_PREFIXES:
        return []
    texts: List[str] = []
    at = 0
    for _, end, _ in runs[:-1]:
        head = decode(ids[:end])
        if not whole.startswith(head) or len(head) < at:
            return []
        texts.append(whole[at : len(head)])
        at = len(head)
    return texts + [whole[at:]]


def _laid(
    decode: Callable[[List[int]], str],
    turns: List[Dict[str, Any]],
    sampled: List[int],
    prompt_ids: Optional[List[int]],
    runs: Sequence[Tuple[int, int, Optional[bool]]],
    texts: Sequence[str],
) -> Tuple[List[Piece], List[Piece]]:
    """The texts as they were sampled. Turns known only from the ids are added: the model's, and those between them."""
    if not texts:
        return _plain(turns, sampled, False)
    said = [text for text, (_, _, bit) in zip(texts, runs) if bit is not False]
    turns_of_runs: List[int] = []
    if not _are_said(turns, sampled, "".join(said)):
        # The messages contain only the prompt.
        for _, _, bit in runs:
            turns_of_runs.append(len(turns))
            turns.append({"role": "environment" if bit is False else "assistant"})
    elif len(sampled) == len(said):
        before = 0
        for _, _, bit in runs:
            turns_of_runs.append(
                sampled[before] if bit is not False else sampled[before - 1] + 1 if before else sampled[0]
            )
            before += bit is not False
    else:
        return _plain(turns, sampled, False)
    first = turns_of_runs[0] if turns_of_runs else len(turns)
    if prompt_ids is not None:
        prompt = _found(decode(prompt_ids), turns[:first], 0)
    else:
        prompt, _ = _plain(turns[:first], [], True)
    response: List[Piece] = []
    for turn, text, (_, _, bit) in zip(turns_of_runs, texts, runs):
        if bit is False:
            after = [index for index in sampled if index > turn]
            until = after[0] if after else len(turns)
            between = turns[turn:until] if "content" in turns[min(turn, len(turns) - 1)] else []
            response += _found(text, between, turn) if between else [(min(turn, len(turns) - 1), "=", text)]
            continue
        end = END.search(text)
        body = text[: end.start()] if end else text
        response += [(turn, "?" if bit is None else "*", body), (turn, ":", text[len(body) :])]
    return prompt, response


def _are_said(turns: Sequence[Message], sampled: Sequence[int], said: str) -> bool:
    """Whether the messages hold the response: a prompt may show replies, too, which the model did not give."""
    contents = [_content(turns[index]).strip() for index in sampled]
    return any(content in said if content else bool(turns[index].get("tool_calls")) for index, content in zip(sampled, contents))


def _found(text: str, turns: Sequence[Message], first: int) -> List[Piece]:
    """The contents of messages in a text that a template wrote around them; a content that it changed is not found, and its turn empty."""
    pieces: List[Piece] = []
    at = 0
    last = first
    for index, turn in enumerate(turns, first):
        content = _content(turn)
        start = text.find(content, at) if content else -1
        if start == -1:
            continue
        pieces += [(index, ":", text[at:start]), (index, "=", content)]
        at = start + len(content)
        last = index
    if not pieces and text:
        return [(first, "=", text)]
    return pieces + [(last, ":", text[at:])]


def _spans(pieces: Sequence[Piece]) -> str:
    """`0:5 =113 1:11 *191`: the turn where it is another, what it is, its length in UTF-16 units."""
    told: List[str] = []
    turn: Optional[int] = None
    for index, kind, text in pieces:
        if text == "":
            continue
        units = len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
        told.append("%s%s%d" % ("" if index == turn else index, kind, units))
        turn = index
    return " ".join(told)


def _messages(turns: Sequence[Mapping[str, Any]], pieces: Sequence[Piece]) -> List[Dict[str, Any]]:
    """Content that is in the texts is not repeated; calls are in `tool_calls`."""
    shown: Dict[int, str] = {}
    for index, kind, text in pieces:
        if kind != ":":
            shown[index] = shown.get(index, "") + text
    told: List[Dict[str, Any]] = []
    for index, turn in enumerate(turns):
        message = {key: value for key, value in turn.items() if key != "content" and value is not None}
        if "content" in turn and turn["content"] != shown.get(index, ""):
            message["content"] = turn["content"]
        told.append(message)
    return told


def _calls(turns: Sequence[Mapping[str, Any]]) -> List[Dict[str, Any]]:
    """The calls that messages hold apart, each with the turn that answers it."""
    answers = {turn["tool_call_id"]: index for index, turn in enumerate(turns) if turn.get("tool_call_id")}
    calls: List[Dict[str, Any]] = []
    for index, turn in enumerate(turns):
        for call in turn.get("tool_calls") or ():
            function = call.get("function", call)
            raw = function.get("arguments")
            arguments: Any = raw
            if isinstance(raw, str):
                try:
                    arguments = json.loads(raw)
                except ValueError:
                    arguments = None
            calls.append(
                {
                    "turn": index,
                    "id": call.get("id"),
                    "name": function.get("name"),
                    "arguments": arguments,
                    "raw": raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False),
                    "result_turn": answers.get(call.get("id")),
                    **({"error": "the arguments are no JSON"} if arguments is None and raw else {}),
                }
            )
    return calls


def _rewards(rewards: Any, turns: int) -> Dict[str, Any]:
    if rewards is None or isinstance(rewards, (int, float)):
        return {"score": rewards}
    if isinstance(rewards, Mapping):
        named = {str(name): value for name, value in rewards.items()}
        total = named.get("score", next(iter(named.values())) if len(named) == 1 else None)
        return {"score": _number(total), "reward_scores": named}
    if hasattr(rewards, "item") and getattr(rewards, "ndim", 0) == 0:
        return {"score": rewards.item()}
    listed = _list(rewards) or []
    if len(listed) != turns:
        raise ValueError("rewards has %d entries for %d messages" % (len(listed), turns))
    return {"score": sum(_number(one) or 0 for one in listed), "turn_rewards": listed}


def _number(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
