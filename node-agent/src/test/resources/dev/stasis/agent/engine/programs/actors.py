"""Actors of Ray on one node: its daemons, workers, an object store in shared memory."""
import os
import subprocess
import time

os.environ["RAY_AUTH_MODE"] = "disabled"
os.dup2(os.open("/data/ray.log", os.O_CREAT | os.O_WRONLY), 2)

import ray  # noqa: E402

# The daemons take seconds; in a container of a test there is no ps, no dashboard and no metrics.
ray.init(
    num_cpus=2,
    include_dashboard=False,
    object_store_memory=80 << 20,
    _temp_dir="/data/session",
    log_to_driver=False,
)


@ray.remote
class Counter:
    def __init__(self):
        self.total = 0

    def add(self, block):
        self.total += len(block)
        return self.total


counters = [Counter.remote() for _ in range(2)]
subprocess.Popen(["/bin/gpu-counter", "--mib", "8", "--interval-ms", "100"])
# Larger than what a call carries inline, so that it lies in the object store.
block = ray.put(b"x" * (1 << 20))
step = 0
while True:
    step += 1
    got = ray.get([counter.add.remote(block) for counter in counters], timeout=120)
    if got != [step << 20] * 2:
        print("BAD totals", got, step, flush=True)
    with open("/data/progress", "a") as progress:
        progress.write(f"{step}\n")
    time.sleep(0.02)
