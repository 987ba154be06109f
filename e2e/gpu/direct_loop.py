"""A launch-bound loop: direct_loop.py ITERATIONS [TIMES]. Prints iterations a second, a line for each time, and the last loss."""
import sys
import time

import torch

torch.manual_seed(0)
torch.set_num_threads(1)
net = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(20)]).cuda()
optimizer = torch.optim.SGD(net.parameters(), 1e-3)
x = torch.randn(64, 256, device="cuda")


def run(n):
    for _ in range(n):
        optimizer.zero_grad()
        loss = (net(x) ** 2).mean()
        loss.backward()
        optimizer.step()
    torch.cuda.synchronize()
    return loss.item()


run(100)
for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 1):
    began = time.time()
    loss = run(int(sys.argv[1]))
    print(f"{int(sys.argv[1]) / (time.time() - began):.1f} it/s loss {loss.hex()}", flush=True)
