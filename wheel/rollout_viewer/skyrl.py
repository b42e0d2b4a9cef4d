"""Records what SkyRL trains on, as a callback of its trainers: `callbacks=[rollout_viewer.skyrl.Recorder("rollout_data")]`."""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional

from ._trainers import Streams, hook, is_on, kept, listed

__all__ = ["Recorder"]


class Recorder:
    """SkyRL's TrainingCallback. Prompts and responses are known only by their ids: the batch holds no messages."""

    def __init__(self, directory: str = "rollout_data") -> None:
        self.directory = directory
        self.streams: Optional[Streams] = None

    def __getattr__(self, name: str) -> Callable[..., None]:
        # The events that say nothing of rollouts.
        if name.startswith("on_"):
            return lambda *_, **__: None
        raise AttributeError(name)

    @hook("SkyRL")
    def on_step_end(self, trainer: Any, callback_input: Any, control: Any) -> None:
        if not is_on():
            return
        batch = callback_input.batch
        if batch is None:
            return
        if self.streams is None:
            self.streams = Streams(self.directory, decode=trainer.tokenizer.decode)
        self._write(batch, int(callback_input.global_step))

    def _write(self, batch: Any, step: int) -> None:
        assert self.streams is not None
        writer = self.streams.of("train")
        metadata = getattr(batch, "metadata", None) or {}
        names = ("sequences", "attention_mask", "response_mask", "loss_mask", "rollout_logprobs", "rewards", "advantages")
        columns = {name: listed(batch[name]) for name in names if batch.get(name) is not None}
        uids = metadata.get("uids")
        # The batch is filled up, so that it can be divided.
        rows = len(columns["sequences"]) - int(metadata.get("pad_size", 0))
        for row in range(rows):
            is_response = columns["response_mask"][row]
            width = len(is_response)
            ids = kept(columns["sequences"][row], columns["attention_mask"][row])
            count = sum(1 for bit in is_response if bit)
            of_response = {
                name: kept(columns[name][row][-width:], is_response)
                for name in ("loss_mask", "rollout_logprobs", "rewards", "advantages")
                if name in columns
            }
            more: Dict[str, Any] = {"advantages": of_response["advantages"]} if "advantages" in of_response else {}
            writer.write(
                step=step,
                prompt_ids=ids[: len(ids) - count],
                response_ids=ids[len(ids) - count :],
                response_mask=[int(bool(bit)) for bit in of_response["loss_mask"]],
                rollout_log_probs=of_response.get("rollout_logprobs"),
                rewards=float(sum(of_response["rewards"])) if "rewards" in of_response else None,
                uid=str(uids[row]) if uids is not None and row < len(uids) else None,
                **more,
            )
