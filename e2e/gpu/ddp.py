"""A job of torchrun: ddp.py [RECORD]. Each rank trains by DistributedDataParallel over NCCL; rank 0 prints a line a step.

NCCL listens on the address of the pod, and torchrun's store on all of them. With RECORD, the output of an uninterrupted
run of the same program, every loss must be that run's, to the last bit.
"""
import os
import sys
import time

os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"  # repeatable sums
import torch
import torch.distributed as dist
from torch import nn

torch.manual_seed(7)
torch.use_deterministic_algorithms(True)
dist.init_process_group("nccl")
rank = dist.get_rank()
device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
torch.cuda.set_device(device)
record = [line.split() for line in open(sys.argv[1]) if line.startswith("step ")] if len(sys.argv) > 1 else []
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(4096, 8192), nn.GELU(), nn.Linear(8192, 4096)).to(device), [device.index])
optimizer = torch.optim.AdamW(model.parameters(), 1e-4)
made = torch.Generator(device).manual_seed(rank)
step = 0
while True:
    step += 1
    batch = torch.randn(64, 4096, device=device, generator=made)
    loss = nn.functional.mse_loss(model(batch), batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    dist.all_reduce(loss.detach(), dist.ReduceOp.AVG)
    found = float(loss).hex()
    if rank == 0:
        word = "ok" if step > len(record) or record[step - 1][3] == found else f"BAD, {record[step - 1][3]} in the record"
        print(f"step {step} loss {found} {word}", flush=True)
    if record:
        time.sleep(0.2)
