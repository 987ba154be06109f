"""Ray on one node: its daemons, an actor with the GPU, an object store in shared memory: ray_actor.py MODULES GIB. A wrong sum is BAD."""
import os
import sys
import time

sys.path.insert(0, sys.argv[1])
os.environ.update(PYTHONPATH=sys.argv[1], RAY_AUTH_MODE="disabled", RAY_USAGE_STATS_ENABLED="0")
import ray

# The daemons take seconds. The dashboard needs more packages than Ray's own.
ray.init(num_cpus=2, num_gpus=1, include_dashboard=False, object_store_memory=80 << 20, _temp_dir="/tmp/ray", log_to_driver=False)


@ray.remote(num_gpus=1)
class Model:
    def __init__(self, gib):
        import torch

        self.torch, self.steps = torch, 0
        self.blocks = [torch.full((int(gib * 2**30 / 8 / 4),), float(i), device="cuda") for i in range(8)]

    def step(self, sample):
        self.steps += 1
        for block in self.blocks:
            block += 1
        good = all(bool((block == i + self.steps).all().item()) for i, block in enumerate(self.blocks))
        return self.steps, good, int(self.torch.frombuffer(bytearray(sample), dtype=self.torch.uint8).to("cuda").sum().item())


model = Model.remote(float(sys.argv[2]))
# Larger than what a call carries inline, so that it lies in the object store.
sample = ray.put(b"\x03" * (1 << 20))
step = 0
while True:
    step += 1
    got = ray.get(model.step.remote(sample), timeout=300)
    print(f"step {step} the actor says {got} {'ok' if got == (step, True, 3 << 20) else 'BAD'}", flush=True)
    time.sleep(0.2)
