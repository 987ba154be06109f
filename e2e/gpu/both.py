"""One process with two GPUs that copies between them: both.py. Its PyTorch has loaded NCCL, but no communicator is ever made.

So nothing uses multicast memory, although the settings would allow it. A wrong value is a line with BAD.
"""
import time

import torch

here, there = torch.zeros(1 << 26, device="cuda:0"), torch.zeros(1 << 26, device="cuda:1")
step = 0
while True:
    step += 1
    here += 1
    there.copy_(here)
    print(f"step {step} {'ok' if bool((there == step).all().item()) else 'BAD'}", flush=True)
    time.sleep(0.2)
