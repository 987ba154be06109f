"""A program on the GPU with one beside it that watches the GPU by NVML, as wandb or nvidia-smi does: watched.py GIB."""
import ctypes
import subprocess
import sys
import time

if sys.argv[1] == "watch":
    nvml = ctypes.CDLL("libnvidia-ml.so.1")
    assert nvml.nvmlInit_v2() == 0
    count = ctypes.c_uint()
    while True:
        found = nvml.nvmlDeviceGetCount_v2(ctypes.byref(count))
        if found != 0 or count.value == 0:
            print(f"BAD: NVML says {found} and {count.value} GPUs", flush=True)
        time.sleep(0.5)
subprocess.Popen([sys.executable, __file__, "watch"])
import count  # noqa: F401  it counts until it is ended
