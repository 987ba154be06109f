"""Device memory that neither compresses nor repeats: noise.py GIB. Prints a line a step; a wrong value is a line with BAD."""
import sys
import time

import torch

gib = float(sys.argv[1])
device = torch.device("cuda")
BLOCK = 256 << 20
count = max(4, int(gib * 2**30) // BLOCK)
# As the layers that are trained beside frozen ones: the first quarter changes in each step.
changing = count // 4
generator = torch.Generator(device)


def made(number):
    """Block `number` as it was at first. Half of every second one compresses."""
    generator.manual_seed(number)
    values = torch.randint(-(2**31), 2**31 - 1, (BLOCK // 64, 16), dtype=torch.int32, device=device, generator=generator)
    if number % 2:
        values[:, 8:] = 0
    return values


blocks = [made(number) for number in range(count)]
step = 0
while True:
    step += 1
    for block in blocks[:changing]:
        block += 1
    good = all(torch.equal(block, made(number) + step if number < changing else made(number)) for number, block in enumerate(blocks))
    print(f"step {step} {gib} GiB {'ok' if good else 'BAD'}", flush=True)
    time.sleep(0.2)
