"""A neighbor on another GPU, whose kernels run for seconds as those of a rank that waits: spin.py. A line a kernel; a wrong sum is BAD."""
import torch

values = torch.arange(1 << 20, device="cuda", dtype=torch.float64)
expected = float(values.sum())
step = 0
while True:
    step += 1
    # Cycles: about 10 ms at first, then about 5 s.
    torch.cuda._sleep(20_000_000 if step < 10 else 9_000_000_000)
    print(f"step {step} {'ok' if float(values.sum()) == expected else 'BAD'}", flush=True)
