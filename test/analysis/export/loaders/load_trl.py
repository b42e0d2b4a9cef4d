"""usage: load_trl.py TOKENIZER_DIR FILE…   Prints the ids and labels that TRL's SFTTrainer makes of each row."""
import json, os, sys, tempfile, warnings

warnings.filterwarnings("ignore")
os.environ.update(CUDA_VISIBLE_DEVICES="", HF_HUB_OFFLINE="1", WANDB_MODE="disabled")
import trl
from datasets import Dataset
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

tok = AutoTokenizer.from_pretrained(sys.argv[1])
size = dict(hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1, num_key_value_heads=1)
model = LlamaForCausalLM(LlamaConfig(vocab_size=len(tok) + 8, **size))
for path in sys.argv[2:]:
    with tempfile.TemporaryDirectory() as out, open(path) as lines:
        rows = Dataset.from_list([json.loads(line) for line in lines])
        settings = dict(output_dir=out, report_to=[], use_cpu=True, bf16=False, max_length=None, remove_unused_columns=False, packing=False)
        only = "messages" in rows.column_names
        trainer = trl.SFTTrainer(model=model, args=trl.SFTConfig(assistant_only_loss=only, **settings), train_dataset=rows, processing_class=tok)
        for row in trainer.train_dataset:
            batch = trainer.data_collator([row])
            print(json.dumps({"id": row["id"], "ids": batch["input_ids"][0].tolist(), "mask": [int(v != -100) for v in batch["labels"][0].tolist()]}))
