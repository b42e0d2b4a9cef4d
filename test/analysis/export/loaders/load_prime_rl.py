"""usage: load_prime_rl.py PRIME_RL_SOURCE FILE   Prints the micro batches that prime-rl's decoder reads from a file."""
import importlib.util, json, sys

import msgspec

spec = importlib.util.spec_from_file_location("types_of_prime_rl", sys.argv[1] + "/src/prime_rl/transports/rollouts/types.py")
module = importlib.util.module_from_spec(spec)
sys.modules["types_of_prime_rl"] = module
spec.loader.exec_module(module)
for batch in msgspec.msgpack.Decoder(type=list[module.MicroBatch]).decode(open(sys.argv[2], "rb").read()):
    print(json.dumps({name: getattr(batch, name) for name in batch.__struct_fields__}))
