"""usage: load_ms_swift.py MS_SWIFT_SOURCE TOKENIZER_DIR FILE   Prints the ids and masks of ms-swift: its preprocessor, its ChatML template, calls and results in Hermes' form."""
import contextlib, json, logging, sys, types

from stand_ins import Absent, load, package

source = sys.argv[1]
for name in ["swift", "swift.template", "swift.template.templates", "swift.dataset", "swift.dataset.preprocessor", "swift.loss_scale", "swift.agent_template"]:
    package(name, source + "/" + name.replace(".", "/"))


class Log(logging.Logger):
    warning_once = logging.Logger.warning
    info_once = logging.Logger.info


class Tokenizer:
    tokenizer = property(lambda self: self.processor)


package(
    "swift.utils",
    get_logger=lambda: Log("swift"),
    get_env_args=lambda name, kind, default: default,
    ProcessorMixin=Tokenizer,
    Processor=object,
    safe_ddp_context=lambda *_: contextlib.nullcontext(),
    is_dist=lambda: False,
    is_master=lambda: True,
    retry_decorator=lambda *_, **__: lambda function: function,
    remove_response=None,
    to_device=None,
)
# Each package re-exports what its modules define.
top = sys.modules["swift.template"]
sys.modules["swift.infer_engine"] = Absent("swift.infer_engine")
for name in ["utils", "template_inputs", "base", "template_meta", "constant", "register"]:
    module = load(f"swift.template.{name}")
    top.__dict__.update({key: value for key, value in vars(module).items() if not key.startswith("_")})
top.history_to_messages = None
load("swift.template.templates.utils")
for name, module in [("loss_scale", "mapping"), ("agent_template", "mapping")]:
    sys.modules[f"swift.{name}"].__dict__.update(vars(load(f"swift.{name}.{module}")))
core = load("swift.dataset.preprocessor.core")
package("swift.dataset.utils", sample_dataset=None)
from datasets import load_dataset
from transformers import AutoTokenizer

tok = AutoTokenizer.from_pretrained(sys.argv[2])
tok.model_info = types.SimpleNamespace(config=None, task_type="causal_lm", max_model_len=None)
tok.model_meta = types.SimpleNamespace(is_multimodal=False)
template = top.Template(tok, top.TEMPLATE_MAPPING["chatml"], agent_template="hermes")
template.set_mode("train")
rows = load_dataset("json", data_files=[sys.argv[3]], split="train")
kept = core.AutoPreprocessor()(rows, load_from_cache_file=False)
assert len(kept) == len(rows), f"{len(rows) - len(kept)} rows were dropped"
for given, row in zip(rows, kept):
    made = template.encode(row)
    print(json.dumps({"id": given["id"], "ids": made["input_ids"], "mask": [int(label != -100) for label in made["labels"]]}))
