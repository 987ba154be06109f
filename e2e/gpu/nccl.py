"""Two ranks that add up over NCCL in a loop: a wrong sum is a line with BAD."""
import os
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def rank(me):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29501")
    torch.cuda.set_device(me)
    dist.init_process_group("nccl", rank=me, world_size=2)
    step = 0
    while True:
        step += 1
        tensor = torch.full((1 << 20,), float(step + me), device="cuda")
        dist.all_reduce(tensor)
        torch.cuda.synchronize()
        if me == 0:
            good = bool((tensor == 2 * step + 1).all().item())
            print(f"step {step} all-reduce {'ok' if good else 'BAD'}", flush=True)
        time.sleep(0.2)


if __name__ == "__main__":
    mp.spawn(rank, nprocs=2)
