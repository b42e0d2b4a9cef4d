"""For slime and miles: `--custom-rollout-log-function-path rollout_viewer.slime.log_rollouts` and
`--custom-eval-rollout-log-function-path rollout_viewer.slime.log_eval_rollouts`. ROLLOUT_VIEWER_DUMP names the directory.
Both answer False: slime logs on as it would.
"""

from __future__ import annotations

import os
from typing import Any, Dict, Mapping, Optional, Sequence

from ._trainers import Streams, hook, is_on, messages_of, say_unknown

__all__ = ["log_eval_rollouts", "log_rollouts"]

_STREAMS: Optional[Streams] = None


def _streams() -> Streams:
    global _STREAMS
    if _STREAMS is None:
        _STREAMS = Streams(os.environ.get("ROLLOUT_VIEWER_DUMP", "rollout_data"))
    return _STREAMS


@hook("slime", False)
def log_rollouts(
    rollout_id: int, args: Any, samples: Sequence[Any], rollout_extra_metrics: Any = None, rollout_time: Any = None
) -> bool:
    if is_on():
        for sample in samples:
            _write("train", rollout_id, sample, getattr(args, "reward_key", None), {})
    return False


@hook("slime", False)
def log_eval_rollouts(rollout_id: int, args: Any, data: Mapping[str, Any], extra_metrics: Any = None) -> bool:
    """data: by data set, with its samples."""
    if is_on():
        key = getattr(args, "eval_reward_key", None) or getattr(args, "reward_key", None)
        for name, one in data.items():
            for sample in one.get("samples") or ():
                _write("val", rollout_id, sample, key, {"data_source": name})
    return False


def _write(stream: str, step: int, sample: Any, reward_key: Optional[str], more: Dict[str, Any]) -> None:
    writer = _streams().of(stream)
    try:
        ids = list(sample.tokens if sample.tokens is not None else ())
        border = len(ids) - (sample.response_length or 0)
        # slime omits the mask if the whole response is trained on.
        mask = [1] * (len(ids) - border) if sample.loss_mask is None else list(sample.loss_mask)
        is_removed = bool(getattr(sample, "remove_sample", False))
        versions = list(getattr(sample, "weight_versions", None) or ())
        if versions:
            more = {**more, "weight_versions": versions}
        writer.write(
            step=step,
            messages=messages_of(sample.prompt) + [{"role": "assistant", "content": sample.response}],
            prompt_ids=ids[:border],
            response_ids=ids[border:],
            # A removed sample keeps its place in the batch, and trains nothing.
            response_mask=[0] * len(mask) if is_removed else mask,
            rollout_log_probs=getattr(sample, "rollout_log_probs", None),
            rewards=_rewards(sample.reward, reward_key),
            ground_truth=sample.label,
            group_index=sample.group_index,
            status=getattr(sample.status, "value", sample.status),
            remove_sample=is_removed,
            **more,
        )
    except Exception as error:
        say_unknown("slime", error)


def _rewards(reward: Any, key: Optional[str]) -> Any:
    """A dict of rewards is trained on by the one that --reward-key names."""
    if not isinstance(reward, Mapping):
        return reward
    named = {str(name): value for name, value in reward.items() if isinstance(value, (int, float))}
    if key is not None and key in named:
        named["score"] = named[key]
    return named
