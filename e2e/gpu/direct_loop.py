"""A launch-bound loop. direct_loop.py ITERATIONS runs so many and ends.

Without an argument, each line "run N" on stdin runs N iterations, after ten that fill the caches, and is answered by one line:
    ran N WALL MAIN ALL INSTRUCTIONS LOSS
WALL, and the processor time of the main thread and of all threads, in seconds; the user instructions of all threads, or "-" if the machine
does not count them; the last loss.
"""
import ctypes
import os
import struct
import sys
import time


def instruction_counter():
    """A descriptor that counts the user instructions of this thread and of those that it starts later; else a negative errno."""
    if os.uname().machine != "x86_64":
        return -38  # ENOSYS: perf_event_open has another number there
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    # struct perf_event_attr, version 0: PERF_TYPE_HARDWARE, size, PERF_COUNT_HW_INSTRUCTIONS; flags inherit, exclude_kernel, exclude_hv.
    attributes = ctypes.create_string_buffer(struct.pack("IIQQQQQIIQ", 0, 64, 1, 0, 0, 0, 1 << 1 | 1 << 5 | 1 << 6, 0, 0, 0), 64)
    fd = libc.syscall(ctypes.c_long(298), attributes, ctypes.c_long(0), ctypes.c_long(-1), ctypes.c_long(-1), ctypes.c_long(0))
    return fd if fd >= 0 else -ctypes.get_errno()


counter = instruction_counter()  # before PyTorch starts its threads
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


def instructions():
    return struct.unpack("Q", os.read(counter, 8))[0] if counter >= 0 else 0


run(100)
if len(sys.argv) > 1:
    print(f"loss {run(int(sys.argv[1])).hex()}", flush=True)
    sys.exit()
print(f"ready; user instructions are {'counted' if counter >= 0 else 'not counted: ' + os.strerror(-counter)}", flush=True)
for line in sys.stdin:
    n = int(line.split()[1])
    run(10)
    before = instructions(), time.thread_time(), time.process_time(), time.perf_counter()
    loss = run(n)
    after = instructions(), time.thread_time(), time.process_time(), time.perf_counter()
    count, main, every, wall = (b - a for a, b in zip(before, after))
    print(f"ran {n} {wall} {main} {every} {count if counter >= 0 else '-'} {loss.hex()}", flush=True)
