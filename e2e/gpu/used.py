"""Device memory of the first GPU in MiB as NVML says, where there is no nvidia-smi: used.py LIBRARY [total]."""
import ctypes
import sys


class Memory(ctypes.Structure):
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]


nvml = ctypes.CDLL(sys.argv[1])
device, memory = ctypes.c_void_p(), Memory()
for result in (
    nvml.nvmlInit_v2(),
    nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device)),
    nvml.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory)),
):
    if result != 0:
        sys.exit(f"used.py: NVML answers {result}")
print((memory.total if len(sys.argv) > 2 else memory.used) >> 20)
