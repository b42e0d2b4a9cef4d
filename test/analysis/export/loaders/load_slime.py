"""usage: load_slime.py SLIME_SOURCE FILE   Prints the samples that slime's Sample.from_dict reads from a debug file."""
import importlib.util, json, sys, types

import torch

for name in ["slime", "slime.utils", "slime.utils.misc"]:
    sys.modules[name] = types.ModuleType(name)
sys.modules["slime.utils.misc"].decode_int32_meta_array = None  # of routed experts

spec = importlib.util.spec_from_file_location("types_of_slime", sys.argv[1] + "/slime/utils/types.py")
module = importlib.util.module_from_spec(spec)
sys.modules["types_of_slime"] = module
spec.loader.exec_module(module)
for data in torch.load(sys.argv[2], weights_only=False)["samples"]:
    one = module.Sample.from_dict(data)
    given = len(one.tokens) - one.response_length
    print(json.dumps({"id": one.metadata["id"], "ids": one.tokens, "mask": [0] * given + one.loss_mask, "reward": one.reward, "status": one.status.value}))
