"""An ordinary CuPy program: cupy_count.py [managed]. Prints a line a step; a wrong value is a line with BAD."""
import sys
import time

import cupy

if sys.argv[1:] == ["managed"]:
    cupy.cuda.set_allocator(cupy.cuda.MemoryPool(cupy.cuda.malloc_managed).malloc)
values = cupy.zeros(1 << 26, dtype=cupy.float32)
step = 0
while True:
    step += 1
    values += 1
    print(f"step {step} {'ok' if float(values.min()) == step == float(values.max()) else 'BAD'}", flush=True)
    time.sleep(0.2)
