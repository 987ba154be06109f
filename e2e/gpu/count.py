"""An ordinary PyTorch program: count.py GIB [DEVICE]. Prints a line a step; a wrong value is a line with BAD."""
import sys
import time

import torch

gib = float(sys.argv[1])
device = torch.device("cuda", int(sys.argv[2]) if len(sys.argv) > 2 else 0)
# Blocks of known values, each changed by each step, so that a lost, repeated or wrong byte shows.
blocks = [torch.full((int(gib * 2**30 / 8 / 4),), float(i), device=device) for i in range(8)]
weights = torch.arange(1024, device=device, dtype=torch.float32).repeat(1024, 1)
step = 0
while True:
    step += 1
    for block in blocks:
        block += 1
    product = (weights @ torch.ones(1024, 1, device=device)).flatten()[0].item()
    good = all(bool((block == i + step).all().item()) for i, block in enumerate(blocks)) and product == 1023 * 1024 / 2
    print(f"step {step} {gib} GiB {'ok' if good else 'BAD'}", flush=True)
    time.sleep(0.2)
