"""One process with two GPUs: parallel.py [RECORD]. DataParallel, and blocks that go from GPU to GPU; a line a step.

Without a word to the contrary PyTorch copies between two GPUs by peer access. With RECORD, the output of an uninterrupted run
of the same program, every loss must be that run's, to the last bit.
"""
import os
import sys
import time

os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"  # repeatable sums
import torch
from torch import nn

torch.manual_seed(7)
torch.use_deterministic_algorithms(True)
record = [line.split() for line in open(sys.argv[1]) if line.startswith("step ")] if len(sys.argv) > 1 else []
model = nn.DataParallel(nn.Sequential(nn.Linear(4096, 8192), nn.GELU(), nn.Linear(8192, 4096)).to("cuda:0"), [0, 1])
optimizer = torch.optim.AdamW(model.parameters(), 1e-4)
made = torch.Generator("cuda:0").manual_seed(7)
here, there = torch.zeros(1 << 26, device="cuda:0"), torch.zeros(1 << 26, device="cuda:1")
print(f"peer access: {torch.cuda.can_device_access_peer(0, 1)}", flush=True)
step = 0
while True:
    step += 1
    batch = torch.randn(64, 4096, device="cuda:0", generator=made)
    loss = nn.functional.mse_loss(model(batch), batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    here += 1
    there.copy_(here)
    here.copy_(there)
    found = float(loss).hex()
    word = "ok" if step > len(record) or record[step - 1][3] == found else f"BAD, {record[step - 1][3]} in the record"
    if not bool((there == step).all().item()):
        word = f"BAD, {float(there[0])} on the second GPU"
    print(f"step {step} loss {found} {word}", flush=True)
    if record:
        time.sleep(0.2)
