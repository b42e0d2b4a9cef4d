"""A tiny GRPO run of the installed TRL on a random model, recorded, beside the inputs that its losses were computed from."""

import json
import os
import sys

os.environ["CUDA_VISIBLE_DEVICES"] = ""
import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, decoders
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM
from trl import GRPOConfig, GRPOTrainer

from rollout_viewer.trl import record

directory, steps, kind = sys.argv[1], int(sys.argv[2]), sys.argv[3]
torch.manual_seed(1)
letters = sorted(pre_tokenizers.ByteLevel.alphabet())
vocabulary = {word: at for at, word in enumerate(["<pad>", "<eos>"] + letters)}
inner = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
inner.decoder = decoders.ByteLevel()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, pad_token="<pad>", eos_token="<eos>", padding_side="left")
size = Qwen2Config(
    vocab_size=len(vocabulary), hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
    num_key_value_heads=2, max_position_embeddings=256, eos_token_id=1, pad_token_id=0,
)  # fmt: skip
model = Qwen2ForCausalLM(size)
# Every few tokens one ends, so that some completions are cut and others are not.
with torch.no_grad():
    model.lm_head.weight[1] *= 3


def length(completions, **_):
    return [len(one) / 10 for one in completions]


async def vowels(completions, completion_ids, solution, **_):
    return [None if len(ids) % 5 == 0 else float(truth in text) for text, ids, truth in zip(completions, completion_ids, solution)]


data = Dataset.from_list([{"prompt": "Say %d" % at, "solution": "abc"[at % 3]} for at in range(16)])
config = GRPOConfig(
    output_dir=os.path.join(directory, "out"), per_device_train_batch_size=4, gradient_accumulation_steps=2, num_generations=4,
    max_completion_length=12, max_steps=steps, use_cpu=True, report_to=[], save_strategy="no", logging_steps=1, beta=0.0,
    mask_truncated_completions=kind == "masked", num_iterations=2 if kind == "twice" else 1, disable_tqdm=True,
    eval_strategy="steps", eval_steps=2, per_device_eval_batch_size=4, reward_weights=[1.0, 2.0], seed=1, bf16=False,
)  # fmt: skip
trainer = GRPOTrainer(
    model=model, reward_funcs=[length, vowels], args=config, train_dataset=data, eval_dataset=data.select(range(2)), processing_class=tokenizer,
)  # fmt: skip
used = []
loss = trainer.compute_loss


def spying(model, inputs, *args, **kwargs):
    for row in range(len(inputs["completion_ids"])):
        used.append({
            "mode": "train" if trainer.model.training else "val",
            "step": trainer.state.global_step,
            "prompt": [i for i, bit in zip(inputs["prompt_ids"][row].tolist(), inputs["prompt_mask"][row].tolist()) if bit],
            "ids": inputs["completion_ids"][row].tolist(),
            "mask": inputs["completion_mask"][row].tolist(),
            "advantage": float(inputs["advantages"][row]),
        })  # fmt: skip
    return loss(model, inputs, *args, **kwargs)


trainer.compute_loss = spying
recording = record(trainer, os.path.join(directory, "rollout_data"))
trainer.train()
if recording is not None:
    recording.streams.flush()
    errors = [(writer.errors, repr(writer.last_error)) for writer in recording.streams.writers]
else:
    errors = None
json.dump({"used": used, "errors": errors, "unused": recording and recording.unused}, open(os.path.join(directory, "used.json"), "w"))
