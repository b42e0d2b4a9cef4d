"""Records verl's rollouts with masks, ids and log probabilities: installing the wheel and `trainer.rollout_data_dir` are enough.

verl finds this module by its entry point in the group `verl.plugins`; an older verl, by VERL_USE_EXTERNAL_MODULES=rollout_viewer.verl.
It wraps `_log_rollout_data` of both trainers once verl has imported them. Where anything goes wrong, verl's own dump is written.
"""

from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
import inspect
import os
import sys
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

from ._trainers import Streams, is_on, kept, listed, messages_of, say_once

#: The classes that dump rollouts, by their module.
TRAINERS = {"verl.trainer.ppo.v1.trainer_base": "PPOTrainer", "verl.trainer.ppo.ray_trainer": "RayPPOTrainer"}
METHOD = "_log_rollout_data"

#: Fields of the transfer queue that a line needs, and those that it may have.
NEEDED = ("prompts", "responses")
OPTIONAL = (
    "response_mask", "rollout_log_probs", "rm_scores", "advantages", "reward_model", "raw_prompt", "data_source", "uid", "extra_fields",
)  # fmt: skip


def _streams(trainer: Any, directory: str) -> Streams:
    streams = getattr(trainer, "_rollout_viewer_streams", None)
    if streams is None or streams.directory != directory:
        streams = Streams(directory, decode=trainer.tokenizer.decode)
        trainer._rollout_viewer_streams = streams
    return streams


def write_batch(trainer: Any, batch: Any, directory: str, extras: Mapping[str, Sequence[Any]]) -> int:
    """v0: every row of a DataProto; prompts are padded on the left, responses on the right. Answers how many lines were written."""
    writer = _streams(trainer, directory).of("")
    tensors, others = batch.batch, batch.non_tensor_batch
    rows = len(tensors["responses"])
    columns = {key: listed(tensors[key]) for key in ("attention_mask", "prompts", "responses", "response_mask")}
    scores = listed(tensors["token_level_scores"].sum(-1))
    logprobs = listed(tensors["rollout_log_probs"]) if "rollout_log_probs" in tensors.keys() else None
    advantages = listed(tensors["advantages"]) if "advantages" in tensors.keys() else None
    written = 0
    for row in range(rows):
        attention, prompt = columns["attention_mask"][row], columns["prompts"][row]
        said = attention[len(prompt) :]
        more: Dict[str, Any] = {key: values[row] for key, values in extras.items() if len(values) == rows}
        for key in ("data_source", "request_id"):
            if key in others:
                more.setdefault(key, others[key][row])
        model = others["reward_model"][row] if "reward_model" in others else {}
        written += writer.write(
            step=int(trainer.global_steps),
            messages=messages_of(others["raw_prompt"][row] if "raw_prompt" in others else ()),
            prompt_ids=kept(prompt, attention),
            response_ids=kept(columns["responses"][row], said),
            response_mask=kept(columns["response_mask"][row], said),
            rollout_log_probs=None if logprobs is None else kept(logprobs[row], said),
            rewards=float(scores[row]),
            ground_truth=model.get("ground_truth") if isinstance(model, Mapping) else None,
            uid=str(others["uid"][row]) if "uid" in others else None,
            **({} if advantages is None else {"advantages": kept(advantages[row], said)}),
            **{key: value for key, value in more.items() if key not in _NAMED},
        )
    return written


def write_keys(trainer: Any, batch: Any, directory: str, queue: Any) -> int:
    """v1: the rows lie in a transfer queue, each of its own length. Answers how many lines were written."""
    writer = _streams(trainer, directory).of("")
    tags = list(getattr(batch, "tags", None) or [{}] * len(batch.keys))
    # A batch is filled up with copies, so that it can be divided.
    keys = [key for key, tag in zip(batch.keys, tags) if not (tag or {}).get("is_padding", False)]
    known = {key: tag or {} for key, tag in zip(batch.keys, tags)}
    fields = _fields(queue, keys, batch.partition_id)
    written = 0
    for row, key in enumerate(keys):
        one = {name: values[row] for name, values in fields.items()}
        model = one.get("reward_model")
        extra = one.get("extra_fields")
        info = extra.get("reward_extra_info") if isinstance(extra, Mapping) else None
        score = one.get("rm_scores")
        more: Dict[str, Any] = dict(info) if isinstance(info, Mapping) else {}
        for name in ("data_source", "advantages"):
            if one.get(name) is not None:
                more[name] = one[name]
        if "global_steps" in known[key]:
            more.setdefault("policy_version", known[key]["global_steps"])
        written += writer.write(
            step=int(trainer.global_steps),
            messages=messages_of(one.get("raw_prompt")),
            prompt_ids=one["prompts"],
            response_ids=one["responses"],
            response_mask=one.get("response_mask"),
            rollout_log_probs=one.get("rollout_log_probs"),
            rewards=None if score is None else float(sum(score) if isinstance(score, list) else score),
            ground_truth=model.get("ground_truth") if isinstance(model, Mapping) else None,
            uid=str(key),
            **{name: value for name, value in more.items() if name not in _NAMED},
        )
    return written


_NAMED = frozenset(
    ("step", "messages", "response_ids", "response_mask", "rollout_log_probs", "rewards", "prompt_ids", "ground_truth", "uid", "tools")
)


def _fields(queue: Any, keys: List[Any], partition: Any) -> Dict[str, List[Any]]:
    """The rows of each field; an optional one that was never put there is left out."""
    found: Dict[str, List[Any]] = {}
    for names, is_needed in ((NEEDED, True),) + tuple(((name,), False) for name in OPTIONAL):
        try:
            data = queue.kv_batch_get(keys=keys, partition_id=partition, select_fields=list(names))
            for name in names:
                found[name] = _rows(data[name])
        except Exception:
            if is_needed:
                raise
    return found


def _rows(column: Any) -> List[Any]:
    # A nested tensor holds rows of different lengths.
    rows = column.unbind() if hasattr(column, "unbind") else column.tolist() if hasattr(column, "tolist") else column
    return [row.tolist() if hasattr(row, "tolist") else row for row in rows]


def recorded(original: Callable[..., Any], module: str) -> Callable[..., Any]:
    """`_log_rollout_data` with the viewer's lines in place of verl's."""
    signature = inspect.signature(original)

    @functools.wraps(original)
    def log(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_on():
            return original(self, *args, **kwargs)
        try:
            given = signature.bind(self, *args, **kwargs).arguments
            batch, directory = given["batch"], os.fspath(given["rollout_data_dir"])
            if hasattr(batch, "non_tensor_batch"):
                written = write_batch(self, batch, directory, given.get("reward_extra_infos_dict") or {})
            else:
                written = write_keys(self, batch, directory, sys.modules[module].tq)
            if written > 0:
                return None
            error = _streams(self, directory).of("").last_error
            if isinstance(error, OSError):
                say_once("rollout-viewer could not write to %s, and training continues: %r" % (directory, error), directory)
                return None
            say_once("rollout-viewer could write no rollout to %s: verl writes its own dump" % directory)
        except Exception as error:
            say_once("rollout-viewer does not know this verl (%s: %r): verl writes its own dump" % (module, error), module)
        return original(self, *args, **kwargs)

    return log


def wrap(module: Any, name: str) -> None:
    trainer = getattr(module, TRAINERS[name], None)
    original = getattr(trainer, "__dict__", {}).get(METHOD)
    if original is None:
        say_once("rollout-viewer records nothing: %s.%s has no %s" % (name, TRAINERS[name], METHOD))
    elif not hasattr(original, "__wrapped__"):
        setattr(trainer, METHOD, recorded(original, name))


class _Finder(importlib.abc.MetaPathFinder):
    """verl is still being imported when its plugins are: its trainers are wrapped once they are there."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Optional[importlib.machinery.ModuleSpec]:
        if name not in TRAINERS:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is None or spec.loader is None:
            return None
        run = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            run(module)
            try:
                wrap(module, name)
            except Exception as error:
                say_once("rollout-viewer records nothing of %s: %r" % (name, error))

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def install() -> None:
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    for name in TRAINERS:
        if name in sys.modules:
            wrap(sys.modules[name], name)


install()
