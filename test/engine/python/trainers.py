"""verl, slime, miles and SkyRL by the forms in trainer-forms.json: their classes as modules on disk that the wheel's plugin meets as verl's."""

import importlib
import inspect
import json
import os
import sys
import tempfile
from types import SimpleNamespace

FORMS = json.load(open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "trainer-forms.json")))


class Tensor(list):
    """As much of torch's as the recorders ask for."""

    def tolist(self):
        return [one.tolist() if isinstance(one, Tensor) else one for one in self]

    def sum(self, _axis):
        return Tensor(sum(row) for row in self)


def table(*rows):
    return Tensor(Tensor(row) for row in rows)


class Tokenizer:
    """A token a character; 0 is padding."""

    def decode(self, ids):
        return "".join(chr(one) for one in ids)

    def encode(self, text):
        return [ord(one) for one in text]


tokenizer = Tokenizer()
CALL = '<tool_call>\n{"name": "calc", "arguments": {"e": "2+2"}}\n</tool_call>'
PROMPT = "<|im_start|>user\nWhat is 2+2?<|im_end|>\n<|im_start|>assistant\n"
PIECES = [
    (CALL + "<|im_end|>", 1),
    ("\n<|im_start|>user\n<tool_response>\n4\n</tool_response><|im_end|>\n<|im_start|>assistant\n", 0),
    ("It is 4.<|im_end|>", 1),
]
RESPONSE = tokenizer.encode("".join(text for text, _ in PIECES))
MASK = [bit for text, bit in PIECES for _ in text]
RAW = [{"role": "user", "content": "What is 2+2?"}]


def package(name, form, arguments):
    """A verl with one trainer of this form, whose own dump says that it was written."""
    folder = tempfile.mkdtemp()
    module = form["module"].split(".")
    for depth in range(1, len(module)):
        place = os.path.join(folder, *module[:depth])
        os.makedirs(place, exist_ok=True)
        open(os.path.join(place, "__init__.py"), "w").close()
    with open(os.path.join(folder, *module) + ".py", "w") as file:
        file.write("tq = None\nclass %s:\n    def %s(%s):\n        return 'own dump'\n" % (form["class"], form["method"], ", ".join(arguments)))
    sys.path.insert(0, folder)
    importlib.invalidate_caches()
    loaded = importlib.import_module(form["module"])
    trainer = getattr(loaded, form["class"])()
    trainer.tokenizer, trainer.global_steps = tokenizer, 7
    return loaded, trainer


def verl_v0(directory, arguments=None):
    form = FORMS["verl v0"]
    _, trainer = package("v0", form, arguments or form["arguments"])
    prompt, pad = [0, 0] + tokenizer.encode(PROMPT), [0] * 3
    batch = SimpleNamespace(
        batch={
            "prompts": table(prompt),
            "responses": table(RESPONSE + pad),
            "attention_mask": table([0, 0] + [1] * (len(prompt) - 2) + [1] * len(RESPONSE) + pad),
            "response_mask": table(MASK + pad),
            "rollout_log_probs": table([-0.5] * len(RESPONSE) + pad),
            "advantages": table([0.25] * len(RESPONSE) + pad),
            "token_level_scores": table([0.0] * (len(RESPONSE) - 1) + [1.0] + pad),
        },
        non_tensor_batch={"raw_prompt": [RAW], "uid": ["b1"], "data_source": ["gsm8k"], "reward_model": [{"ground_truth": "4"}]},
    )
    return trainer._log_rollout_data(batch, {"acc": [True]}, {}, directory)


class Queue:
    """The transfer queue: a field that nobody put there is an error."""

    def __init__(self, fields):
        self.fields = fields

    def kv_batch_get(self, keys, partition_id, select_fields):
        return {name: [self.fields[name][key] for key in keys] for name in select_fields}


def verl_v1(directory, arguments=None):
    form = FORMS["verl v1"]
    loaded, trainer = package("v1", form, arguments or form["arguments"])
    loaded.tq = Queue({
        "prompts": {"a_0_0": Tensor(tokenizer.encode(PROMPT)), "pad": Tensor([1])},
        "responses": {"a_0_0": Tensor(RESPONSE), "pad": Tensor([1])},
        "response_mask": {"a_0_0": Tensor(MASK), "pad": Tensor([1])},
        "rm_scores": {"a_0_0": Tensor([0.0] * (len(RESPONSE) - 1) + [1.0]), "pad": Tensor([0.0])},
        "raw_prompt": {"a_0_0": RAW, "pad": RAW},
        "reward_model": {"a_0_0": {"ground_truth": "4"}, "pad": {}},
        "extra_fields": {"a_0_0": {"reward_extra_info": {"acc": True}}, "pad": {}},
    })  # fmt: skip
    batch = SimpleNamespace(keys=["a_0_0", "pad"], tags=[{"global_steps": 6}, {"is_padding": True}], partition_id="train")
    return trainer._log_rollout_data(batch, {}, *([] if arguments else [directory]))


def slime(directory):
    os.environ["ROLLOUT_VIEWER_DUMP"] = directory
    from rollout_viewer.slime import log_eval_rollouts, log_rollouts

    for name, function in (("slime", log_rollouts), ("slime eval", log_eval_rollouts), ("miles", log_rollouts), ("miles eval", log_eval_rollouts)):
        assert list(inspect.signature(function).parameters) == FORMS[name]["arguments"], name

    def sample(**more):
        known = dict(
            group_index=3, index=9, prompt="2+2?", tokens=tokenizer.encode("2+2?It is 4."), response="It is 4.", response_length=8,
            label="4", reward={"acc": 1.0, "format": 0.5}, loss_mask=None, rollout_log_probs=[-0.5] * 8, remove_sample=False,
            status=SimpleNamespace(value="completed"), weight_versions=["5"], metadata={},
        )  # fmt: skip
        return SimpleNamespace(**{**known, **more})

    args = SimpleNamespace(reward_key="acc", eval_reward_key=None)
    assert log_rollouts(11, args, [sample(), sample(remove_sample=True)], None, 1.5) is False
    assert log_eval_rollouts(11, args, {"aime": {"rewards": [1.0], "samples": [sample()]}}, None) is False


def skyrl(directory):
    """Sequences are padded on the left, and so is what covers responses alone; the last row fills the batch up."""
    from rollout_viewer.skyrl import Recorder

    assert list(inspect.signature(Recorder.on_step_end).parameters) == FORMS["SkyRL"]["arguments"]
    for event in FORMS["SkyRL events"]["methods"]:
        assert callable(getattr(Recorder(directory), event)), event
    prompt, pad = tokenizer.encode(PROMPT), [0, 0]
    row = pad + prompt + RESPONSE
    width = len(RESPONSE) + 4
    left = [0] * (width - len(RESPONSE))
    batch = {
        "sequences": table(row, row),
        "attention_mask": table(*[pad + [1] * (len(row) - 2)] * 2),
        "response_mask": table(*[left + [1] * len(RESPONSE)] * 2),
        "loss_mask": table(left + MASK, [0] * width),
        "rollout_logprobs": table(*[left + [-0.5] * len(RESPONSE)] * 2),
        "rewards": table(*[[0.0] * (width - 1) + [1.0]] * 2),
    }
    kinds = type("Batch", (dict,), {"metadata": {"uids": ["g1", "pad0"], "pad_size": 1}})
    recorder = Recorder(directory)
    trainer = SimpleNamespace(tokenizer=tokenizer)
    recorder.on_train_start(trainer, None, None)
    recorder.on_step_end(trainer, SimpleNamespace(batch=kinds(batch), global_step=3), None)


def unknown(directory):
    """Trainers of other versions, a hundred steps of each: nothing is raised, nothing is written."""
    os.environ["ROLLOUT_VIEWER_DUMP"] = directory
    from rollout_viewer.skyrl import Recorder
    from rollout_viewer.slime import log_eval_rollouts, log_rollouts
    from rollout_viewer.trl import record

    def loss(model, inputs):
        return 0.5

    def reward(prompts, completions, **columns):
        return [1.0]

    trl = SimpleNamespace(
        compute_loss=loss, reward_funcs=[reward], reward_func_names=["reward"], reward_weights=[1.0],
        model=SimpleNamespace(training=True), processing_class=tokenizer, state=SimpleNamespace(global_step=1),
    )  # fmt: skip
    record(trl, directory)
    recorder = Recorder(directory)
    batch = type("Batch", (dict,), {})(sequences=table([1]))
    for step in range(100):
        assert log_rollouts(step, None, None, None) is False
        assert log_rollouts(step, None, [SimpleNamespace(text=str(step))], None, 1.5) is False
        assert log_rollouts(step, "another", "signature", 1, 2, 3) is False
        assert log_eval_rollouts(step, None, [1, 2]) is False
        recorder.on_step_end(None)
        recorder.on_step_end(None, SimpleNamespace(step=step), None)
        recorder.on_step_end(SimpleNamespace(tokenizer=tokenizer), SimpleNamespace(batch=batch, global_step=step), None)
        assert trl.reward_funcs[0](prompts=["p"], completions=["c"], step=step) == [1.0]
        assert trl.compute_loss(None, {"tokens": [step]}) == 0.5
    del trl.model
    assert trl.compute_loss(None, {}) == 0.5


if __name__ == "__main__":
    if sys.argv[1].startswith("verl"):
        from importlib.metadata import entry_points

        try:
            found = list(entry_points(group="verl.plugins"))
        except TypeError:  # Python 3.9 and older.
            found = list(entry_points().get("verl.plugins", ()))
        assert [one.name for one in found] == ["rollout_viewer"], found
        found[0].load()
    print({"verl0": verl_v0, "verl1": verl_v1, "slime": slime, "skyrl": skyrl, "unknown": unknown}[sys.argv[1].replace("verl-other", "verl1")](
        sys.argv[2], *([["self", "batch", "timing_raw"]] if sys.argv[1] == "verl-other" else [])
    ))  # fmt: skip
