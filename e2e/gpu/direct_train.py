"""A training with ballast: direct_train.py GIB STEPS [loader]. Prints a line a step; a wrong value is a line with BAD.

The ballast is in pieces as a training has them; each step adds one to every word of one piece and checks the whole piece. The
losses depend on the seed alone; the targets are random, so they stay far from zero. With loader, batches come from two forked DataLoader workers.
"""
import os
import sys

os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"  # repeatable sums
import torch
from torch import nn

torch.manual_seed(7)
torch.use_deterministic_algorithms(True)
gib, steps = float(sys.argv[1]), int(sys.argv[2])
piece = 64 << 20 if gib <= 4 else 256 << 20
ballast = [torch.full((piece // 4,), i, dtype=torch.int32, device="cuda") for i in range(max(1, int(gib * (1 << 30)) // piece))]
added = [0] * len(ballast)
model = nn.Sequential(*[nn.Sequential(nn.Linear(512, 512), nn.ReLU()) for _ in range(8)]).cuda()
optimizer = torch.optim.AdamW(model.parameters(), 1e-4)


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 1 << 20

    def __getitem__(self, i):
        return torch.rand(512, generator=torch.Generator().manual_seed(i))


def batches():
    if len(sys.argv) > 3:
        yield from torch.utils.data.DataLoader(Rows(), 64, num_workers=2, pin_memory=True)
    made = torch.Generator(device="cuda").manual_seed(7)
    while True:
        yield torch.rand(64, 512, device="cuda", generator=made)


targets = torch.Generator(device="cuda").manual_seed(8)
print(f"ready pieces {len(ballast)} bytes {torch.cuda.memory_reserved()}", flush=True)
for step, batch in enumerate(batches(), 1):
    loss = nn.functional.mse_loss(model(batch.cuda(non_blocking=True)), torch.rand(64, 512, device="cuda", generator=targets))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    i = step % len(ballast)
    ballast[i] += 1
    added[i] += 1
    least, most = (int(v) for v in torch.aminmax(ballast[i]))
    word = "ok" if least == most == i + added[i] else f"BAD piece {i} holds {least} to {most}, expected {i + added[i]}"
    print(f"step {step} loss {float(loss).hex()} {word}", flush=True)
    if step == steps:
        break
