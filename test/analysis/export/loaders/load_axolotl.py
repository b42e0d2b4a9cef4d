"""usage: load_axolotl.py AXOLOTL_SOURCE TOKENIZER_DIR FILE   Prints the ids and masks of Axolotl's chat_template strategy.

Its analyzer finds the keys of a message only if the template's loop calls it `message`.
"""
import json, logging, re, sys

from stand_ins import Absent, load, package

source = sys.argv[1] + "/src"
for name in ["axolotl", "axolotl.utils", "axolotl.prompt_strategies"]:
    package(name, source + "/" + name.replace(".", "/"))
package("axolotl.utils.logging", get_logger=lambda name, **_: logging.getLogger(name))
package("axolotl.utils.chat_templates", get_chat_template_from_config=None, extract_chat_template_args=None)
for name in ["axolotl.utils.schemas", "axolotl.utils.schemas.datasets", "colorama"]:
    sys.modules[name] = Absent(name)
chat = load("axolotl.prompt_strategies.chat_template")
from transformers import AutoTokenizer

tok = AutoTokenizer.from_pretrained(sys.argv[2])
template = re.sub(r"\bm\b", "message", re.sub(r"\{%-?\s*(end)?generation\s*-?%\}", "", tok.chat_template))
prompter = chat.ChatTemplatePrompter(
    tok,
    chat_template=template,
    max_length=1 << 20,
    message_field_training="train",
    roles={role: [role] for role in ["system", "user", "assistant", "tool"]},
)
assert {"tool_calls", "reasoning_content"} <= prompter.chat_template_msg_variables
strategy = chat.ChatTemplateStrategy(prompter, tok, False, 1 << 20, roles_to_train=["assistant"], train_on_eos="turn")
for line in open(sys.argv[3]):
    row = json.loads(line)
    made = strategy.tokenize_prompt(row)
    print(json.dumps({"id": row["id"], "ids": list(made["input_ids"]), "mask": [int(label != -100) for label in made["labels"]]}))
