"""Holds device memory and does nothing: ballast.py GIB."""
import signal
import sys

import torch

held = [torch.zeros(2**28, device="cuda") for _ in range(int(sys.argv[1]))]
torch.cuda.synchronize()
print(f"held {len(held)} GiB", flush=True)
signal.pause()
