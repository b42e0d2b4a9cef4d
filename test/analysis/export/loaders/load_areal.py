"""usage: load_areal.py AREAL_SOURCE FILE   Prints the ids and masks that AReaL's collation of token lists makes of a file; it has no loader of files of its own."""
import json, sys

from stand_ins import load, package

source = sys.argv[1]
for name in ["areal", "areal.utils", "areal.api", "areal.infra"]:
    package(name, source + "/" + name.replace(".", "/"))
package("areal.api.cli_args", MicroBatchSpec=object, NormConfig=object)
package("areal.infra.platforms", current_platform=None)
package("areal.utils.logging", getLogger=lambda *_: None)
sys.modules["areal.utils"].logging = sys.modules["areal.utils.logging"]
package("numba", njit=lambda function: function)
data = load("areal.utils.data")
from datasets import load_dataset

rows = load_dataset("json", data_files=[sys.argv[2]], split="train")
lists = rows.select_columns(["input_ids", "loss_mask"])
for row, one in zip(rows, lists):
    made = data.pad_sequences_to_tensors([one, {"input_ids": [0] * 2000, "loss_mask": [0] * 2000}])
    kept = made["attention_mask"][0]
    print(json.dumps({"id": row["id"], **{key: made[name][0][kept].tolist() for key, name in [("ids", "input_ids"), ("mask", "loss_mask")]}, "reward": row["rewards"]}))
