"""A training as people write it: train.py WORKERS [RECORD]. Prints a line a step; a wrong loss is a line with BAD.

Batches come from forked DataLoader workers through shared memory and are pinned; the model trains in mixed precision. With
RECORD, the output of an uninterrupted run of the same program, every loss must be that run's, to the last bit.
"""
import os
import sys
import time

os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"  # repeatable sums
import torch
from torch import nn

torch.manual_seed(7)
torch.use_deterministic_algorithms(True)
device = torch.device(os.environ.get("TRAIN_DEVICE", "cuda"))
record = [line.split() for line in open(sys.argv[2]) if line.startswith("step ")] if len(sys.argv) > 2 else []


class Pictures(torch.utils.data.Dataset):
    """Each is made from its number alone."""

    def __len__(self):
        return 4096

    def __getitem__(self, i):
        made = torch.Generator().manual_seed(i)
        return torch.rand(3, 64, 64, generator=made), i % 10


model = nn.Sequential(
    nn.Conv2d(3, 32, 3, 2), nn.ReLU(), nn.Conv2d(32, 64, 3, 2), nn.ReLU(), nn.Flatten(), nn.Linear(64 * 15 * 15, 4096), nn.ReLU(), nn.Linear(4096, 10)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), 1e-4)
# The first use of the GPU is before the workers are forked, as in most programs.
assert model(torch.zeros(1, 3, 64, 64, device=device)).isfinite().all()
batches = torch.utils.data.DataLoader(
    Pictures(), 64, shuffle=True, generator=torch.Generator().manual_seed(7), num_workers=int(sys.argv[1]),
    pin_memory=device.type == "cuda", persistent_workers=True, prefetch_factor=4)
step = 0
while True:
    for pictures, labels in batches:
        step += 1
        with torch.autocast(device.type, torch.bfloat16):
            loss = nn.functional.cross_entropy(model(pictures.to(device, non_blocking=True)), labels.to(device, non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found = float(loss).hex()
        word = "ok" if step > len(record) or record[step - 1][3] == found else f"BAD, {record[step - 1][3]} in the record"
        print(f"step {step} loss {found} {word}", flush=True)
        if record:
            time.sleep(0.2)
