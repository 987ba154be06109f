"""Kernels that run for seconds, as those of a rank that waits: spin.py [SECONDS] (default 4.5). A line a kernel; a wrong sum is BAD."""
import sys

import torch

seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 4.5
values = torch.arange(1 << 20, device="cuda", dtype=torch.float64)
expected = float(values.sum())
step = 0
while True:
    step += 1
    # Cycles of 0.5 ns: about 10 ms at first.
    torch.cuda._sleep(20_000_000 if step < 10 else int(seconds * 2_000_000_000))
    print(f"step {step} {'ok' if float(values.sum()) == expected else 'BAD'}", flush=True)
