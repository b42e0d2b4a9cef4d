"""usage: load_nemo.py NEMO_RL_SOURCE TOKENIZER_DIR FILE   Prints the ids and masks of NeMo-RL's get_formatted_message_log."""
import json, sys, types

from stand_ins import load, package

source = sys.argv[1]
for name in ["nemo_rl", "nemo_rl.data", "nemo_rl.distributed", "nemo_rl.utils"]:
    package(name, source + "/" + name.replace(".", "/"))
utils = load("nemo_rl.data.llm_message_utils")
from transformers import AutoTokenizer

tok = AutoTokenizer.from_pretrained(sys.argv[2])
task = types.SimpleNamespace(prompt=None)
for line in open(sys.argv[3]):
    row = json.loads(line)
    log = utils.get_formatted_message_log(row["messages"], tok, task, tools=row["tools"])
    ids = [token for message in log for token in message["token_ids"].tolist()]
    mask = [int(message["role"] == "assistant") for message in log for _ in message["token_ids"]]
    print(json.dumps({"id": row["id"], "ids": ids, "mask": mask}))
