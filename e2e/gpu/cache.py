"""A server with a model cache: cache.py GIB FOLDER CACHE_GIB. Counts as count.py does, and reads a block of the cache and writes a small file there in each step; a wrong value is a line with BAD."""
import os
import sys
import time

import numpy
import torch

BLOCK = 1 << 26  # bytes
BLOCKS_OF_A_FILE = 16

gib, folder, cache_gib = float(sys.argv[1]), sys.argv[2], int(sys.argv[3])
values = torch.zeros(int(gib * 2**30 / 4), device="cuda")


def block(number):
    """What is in this block of the cache: nothing that compresses."""
    made = torch.Generator("cuda").manual_seed(number)
    return torch.randint(-(2**63), 2**63 - 1, (BLOCK // 8,), generator=made, device="cuda", dtype=torch.int64)


def shard(number):
    return os.path.join(folder, f"model-{number:05}.bin")


count = cache_gib * 2**30 // BLOCK
for number in range(count):
    with open(shard(number // BLOCKS_OF_A_FILE), "ab") as file:
        file.write(block(number).cpu().numpy().tobytes())
step = 0
while True:
    step += 1
    values += 1
    good = bool((values == step).all().item())
    if count:
        number = step * 7 % count
        read = numpy.fromfile(shard(number // BLOCKS_OF_A_FILE), dtype=numpy.int64, count=BLOCK // 8, offset=number % BLOCKS_OF_A_FILE * BLOCK)
        good = good and bool((torch.from_numpy(read).cuda() == block(number)).all().item())
        with open(os.path.join(folder, "last-used"), "w") as file:
            file.write(f"{step}\n")
    print(f"step {step} {cache_gib} GiB of cache {'ok' if good else 'BAD'}", flush=True)
    time.sleep(0.2)
