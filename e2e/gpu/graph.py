"""PyTorch with a CUDA graph, pinned memory, a second stream, events and a compiled kernel (Triton). A wrong value is BAD."""
import time

import torch

values = torch.zeros(1 << 26, device="cuda")
part = torch.zeros(1 << 20, device="cuda")
pinned = torch.zeros(1 << 20).pin_memory()
side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):  # a graph is recorded warm
        values.add_(1)
        part.copy_(values[: 1 << 20])
torch.cuda.current_stream().wait_stream(side)
values.zero_()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    values.add_(1)
    part.copy_(values[: 1 << 20])
one = torch.compile(lambda x: torch.sin(x) ** 2 + torch.cos(x) ** 2)
event = torch.cuda.Event()
step = 0
while True:
    step += 1
    graph.replay()
    pinned.copy_(part, non_blocking=True)
    event.record()
    event.synchronize()
    error = float((one(values[:4096] / 1000.0) - 1).abs().max())
    good = float(pinned.min()) == step == float(values.max()) and error < 1e-4
    print(f"step {step} {'ok' if good else 'BAD'}", flush=True)
    time.sleep(0.2)
