"""usage: load_verl.py VERL_SOURCE TOKENIZER_DIR FILE   Prints the ids and masks of verl's MultiTurnSFTDataset.

Only the module of the class is loaded; what it needs for pictures and clusters is replaced by empty modules.
"""
import enum, importlib, json, sys, types


def module(name, path=None, **values):
    made = types.ModuleType(name)
    made.__dict__.update(values)
    if path is not None:
        made.__path__ = [path]
    sys.modules[name] = made
    return made


source = sys.argv[1]
for name in ["verl", "verl.utils", "verl.utils.dataset"]:
    module(name, source + "/" + name.replace(".", "/"))
from transformers import AutoTokenizer

sys.modules["verl.utils"].hf_tokenizer = AutoTokenizer.from_pretrained
PadMode = enum.Enum("DatasetPadMode", {"RIGHT": "right", "NO_PADDING": "no_padding"}, type=str)
module("omegaconf", DictConfig=dict, ListConfig=list)
module("verl.models")
module("verl.models.transformers")
module("verl.models.transformers.qwen2_vl", get_rope_index=None)
module("verl.utils.dataset.dataset_utils", DatasetPadMode=PadMode)
module("verl.utils.dataset.vision_utils", process_image=None, process_video=None)
module("verl.utils.fs", copy_local_path_from_hdfs=lambda path, verbose=False: path)
dataset = importlib.import_module("verl.utils.dataset.multiturn_sft_dataset")

tok = AutoTokenizer.from_pretrained(sys.argv[2])
# verl counts the tokens of a header in a list, as transformers returned it before version 5.
template = tok.apply_chat_template
tok.apply_chat_template = lambda *args, return_dict=False, **more: template(*args, return_dict=return_dict, **more)
rows = dataset.MultiTurnSFTDataset([sys.argv[3]], tok, {"pad_mode": "no_padding", "max_length": 1 << 20})
for at in range(len(rows)):
    row = rows[at]
    print(json.dumps({"id": json.loads(rows.dataframe.iloc[at]["id"]), "ids": row["input_ids"].tolist(), "mask": row["loss_mask"].tolist()}))
