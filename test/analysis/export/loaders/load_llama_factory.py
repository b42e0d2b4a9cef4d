"""usage: load_llama_factory.py LLAMA_FACTORY_SOURCE TOKENIZER_DIR TEMPLATE FILE   Prints the ids and masks of LLaMA-Factory's ShareGPT data, by its template of that name."""
import json, sys, types

from stand_ins import load, package

source = sys.argv[1] + "/src"
for name in ["llamafactory", "llamafactory.data", "llamafactory.data.processor", "llamafactory.extras"]:
    package(name, source + "/" + name.replace(".", "/"))
load("llamafactory.extras.constants")
logging = load("llamafactory.extras.logging")
converter = load("llamafactory.data.converter")
parser = load("llamafactory.data.parser")
templates = load("llamafactory.data.template")
supervised = load("llamafactory.data.processor.supervised")
from datasets import load_dataset
from transformers import AutoTokenizer

tok = AutoTokenizer.from_pretrained(sys.argv[2])
attr = parser.DatasetAttr("file", "rows", formatting="sharegpt", system="system", tools="tools")
args = types.SimpleNamespace(
    template=sys.argv[3], train_on_prompt=False, tool_format=None, default_system=None, enable_thinking=True, preserve_thinking=False,
    mask_history=False, cutoff_len=1 << 20, streaming=False, preprocessing_num_workers=None, overwrite_cache=True, media_dir="",
)
template = templates.get_template_and_fix_tokenizer(tok, args)
rows = load_dataset("json", data_files=[sys.argv[4]], split="train")
aligned = converter.align_dataset(rows, attr, args, types.SimpleNamespace(local_process_index=0))
processor = supervised.SupervisedDatasetProcessor(template=template, tokenizer=tok, processor=None, data_args=args)
for given, row in zip(rows, aligned):
    made = processor.preprocess_dataset({key: [value] for key, value in row.items()})
    ids, labels = (made[key][0] if made[key] else [] for key in ["input_ids", "labels"])
    print(json.dumps({"id": given["id"], "ids": ids, "mask": [int(label != -100) for label in labels]}))
