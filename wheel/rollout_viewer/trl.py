"""Records what TRL's GRPOTrainer trains on:

    from rollout_viewer.trl import record

    trainer = GRPOTrainer(...)
    record(trainer, "rollout_data")
    trainer.train()

Two public parts are wrapped: `compute_loss`, whose inputs are the tokens and masks that the loss is computed from, and the reward
functions, which see prompts, completions and the columns of the data set. Training lies in `train/`, evaluation in `val/`.
"""

from __future__ import annotations

import functools
import inspect
import os
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

from ._trainers import Streams, hook, is_on, kept, listed, messages_of, say_once

__all__ = ["Recording", "record"]

#: Columns that hold a ground truth, by custom.
TRUTHS = ("ground_truth", "solution", "answer")
#: Lines that may wait for the disk.
QUEUE = 1024


class _Scored:
    """A completion that reward functions were asked about, until the loss is computed from it."""

    def __init__(self, prompt: Any, columns: Dict[str, Any]) -> None:
        self.prompt = prompt
        self.columns = columns
        self.rewards: Dict[str, Any] = {}


Batch = Dict[Tuple[int, ...], List[_Scored]]


class Recording:
    def __init__(self, trainer: Any, directory: str) -> None:
        self.trainer = trainer
        processor = trainer.processing_class
        self.streams = Streams(directory, decode=processor.decode, queue=QUEUE)
        #: Completions that were scored, and never trained on.
        self.unused = 0
        self._asked: Dict[str, Any] = {}
        self._rows: Dict[str, List[_Scored]] = {}
        self._waiting: Dict[str, Batch] = {}
        self._has_functions = False
        self._seen: Dict[str, Tuple[int, Set[int]]] = {}

    @property
    def mode(self) -> str:
        return "train" if self.trainer.model.training else "val"

    def rewarded(self, name: str, func: Callable[..., Any]) -> Callable[..., Any]:
        self._has_functions = True
        if inspect.iscoroutinefunction(func):

            @functools.wraps(func)
            async def later(*args: Any, **kwargs: Any) -> Any:
                rewards = await func(*args, **kwargs)
                self._note(name, kwargs, rewards)
                return rewards

            return later

        @functools.wraps(func)
        def now(*args: Any, **kwargs: Any) -> Any:
            rewards = func(*args, **kwargs)
            self._note(name, kwargs, rewards)
            return rewards

        return now

    @hook("TRL")
    def _note(self, name: str, given: Dict[str, Any], rewards: Any) -> None:
        mode = self.mode
        ids = given["completion_ids"]
        if self._asked.get(mode) is not ids:
            self._begin(mode, ids, given)
        for row, reward in zip(self._rows[mode], listed(rewards)):
            row.rewards[name] = reward.item() if hasattr(reward, "item") else reward

    def _begin(self, mode: str, ids: Any, given: Dict[str, Any]) -> None:
        """Another batch of completions."""
        self.unused += sum(len(rows) for rows in self._waiting.get(mode, {}).values())
        count = len(ids)
        columns = {
            key: values
            for key, values in given.items()
            if key not in ("prompts", "completions", "completion_ids", "environments")
            and isinstance(values, (list, tuple))
            and len(values) == count
        }
        self._asked[mode] = ids
        self._rows[mode] = [
            _Scored(given["prompts"][row], {key: values[row] for key, values in columns.items()})
            for row in range(count)
        ]
        batch: Batch = {}
        for row, one in enumerate(self._rows[mode]):
            batch.setdefault(tuple(listed(ids[row])), []).append(one)
        self._waiting[mode] = batch

    @hook("TRL")
    def trained(self, inputs: Any) -> None:
        """The inputs of a loss: each row is written once, however often it is trained on."""
        writer = self.streams.of(self.mode)
        step = int(self.trainer.state.global_step)
        prompts, prompt_masks = listed(inputs["prompt_ids"]), listed(inputs["prompt_mask"])
        rows, masks = listed(inputs["completion_ids"]), listed(inputs["completion_mask"])
        # With tools, the environment's text is part of the response, but not trained on.
        tools = listed(inputs["tool_mask"]) if inputs.get("tool_mask") is not None else None
        logprobs = next(
            (listed(inputs[key]) for key in ("sampling_per_token_logps", "old_per_token_logps") if inputs.get(key) is not None),
            None,
        )
        advantages = listed(inputs["advantages"]) if inputs.get("advantages") is not None else None
        for row, ids in enumerate(rows):
            prompt = kept(prompts[row], prompt_masks[row])
            scored, length = self._found(prompt, ids, sum(1 for bit in masks[row] if bit))
            if scored is None and (self._has_functions or not self._is_new(step, prompt, ids)):
                continue
            mask = [int(bool(bit)) for bit in masks[row][:length]]
            if tools is not None:
                mask = [int(bool(one and other)) for one, other in zip(mask, tools[row])]
            self._write(writer, step, prompt, ids[:length], mask, scored, {
                "rollout_log_probs": None if logprobs is None else logprobs[row][:length],
                "advantage": None if advantages is None else advantages[row],
            })  # fmt: skip

    def _found(self, prompt: List[int], ids: List[int], said: int) -> Tuple[Optional[_Scored], int]:
        """A masked completion (cut, for example) has the length of the scored completion."""
        batch = self._waiting.get(self.mode, {})
        key: Optional[Tuple[int, ...]] = tuple(ids[:said])
        if said == 0 or key not in batch:
            key = max((one for one in batch if tuple(ids[: len(one)]) == one), key=len, default=None)
        if key is None:
            return None, said or len(ids)
        rows = batch[key]
        at = 0 if len(rows) == 1 else self._same_prompt(prompt, rows)
        one = rows.pop(at)
        if not rows:
            del batch[key]
        return one, len(key)

    def _same_prompt(self, prompt: List[int], rows: List[_Scored]) -> int:
        text = self.trainer.processing_class.decode(prompt)
        for at, one in enumerate(rows):
            last = messages_of(one.prompt)[-1:]
            if last and str(last[0].get("content")) in text:
                return at
        return 0

    def _is_new(self, step: int, prompt: List[int], ids: List[int]) -> bool:
        at, seen = self._seen.get(self.mode, (-65, set()))
        if at < step - 64:
            seen = set()
            self._seen[self.mode] = (step, seen)
        key = hash((tuple(prompt), tuple(ids)))
        if key in seen:
            return False
        seen.add(key)
        return True

    def _write(
        self, writer: Any, step: int, prompt: List[int], ids: List[int], mask: List[int], scored: Optional[_Scored], more: Dict[str, Any]
    ) -> None:
        columns = {} if scored is None else scored.columns
        truth = next((columns[key] for key in TRUTHS if columns.get(key) is not None), None)
        rewards = None if scored is None else self._total(scored.rewards)
        writer.write(
            step=step,
            messages=[] if scored is None else messages_of(scored.prompt),
            prompt_ids=prompt,
            response_ids=ids,
            response_mask=mask,
            rewards=rewards,
            ground_truth=truth,
            **{key: value for key, value in {**_plain(columns), **more}.items() if value is not None},
        )

    def _total(self, rewards: Dict[str, Any]) -> Dict[str, Any]:
        weights = dict(zip(self.trainer.reward_func_names, listed(self.trainer.reward_weights)))
        known = {name: value for name, value in rewards.items() if value is not None and value == value}
        # A reward model scores beside the functions, and its reward is not seen here: then the sum is not known.
        is_whole = len(self.trainer.reward_func_names) == len(rewards)
        score = sum(weights.get(name, 1.0) * value for name, value in known.items()) if is_whole and known else None
        return {**rewards, "score": score}


def _plain(columns: Dict[str, Any]) -> Dict[str, Any]:
    """Columns that a line may hold as they are."""
    return {
        key: value
        for key, value in columns.items()
        if key not in TRUTHS and key not in ("step", "messages", "tools") and isinstance(value, (str, int, float, bool))
    }


def record(trainer: Any, directory: str = "rollout_data") -> Optional[Recording]:
    """Records from now on; answers None, and says so once, where the trainer has not the parts that are wrapped."""
    if not is_on():
        return None
    try:
        loss, funcs, names = trainer.compute_loss, trainer.reward_funcs, trainer.reward_func_names
        if "inputs" not in inspect.signature(loss).parameters or len(funcs) != len(names):
            raise AttributeError("compute_loss(model, inputs) and a name for each reward function")
        recording = Recording(trainer, os.fspath(directory))
    except (AttributeError, TypeError, ValueError) as error:
        say_once("rollout-viewer records nothing: this TRL has another form (%s)" % error)
        return None
    trainer.reward_funcs = [
        # A reward model is called with its own tokens.
        func if hasattr(func, "parameters") or not callable(func) else recording.rewarded(name, func)
        for name, func in zip(names, funcs)
    ]

    @functools.wraps(loss)
    def compute_loss(model: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        recording.trained(inputs)
        return loss(model, inputs, *args, **kwargs)

    trainer.compute_loss = compute_loss
    return recording
