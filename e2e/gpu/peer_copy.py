"""Copies from one GPU to another without peer access, then with it: peer_copy.py. A line each; the exit code is 1 if one was wrong.

With the direct data path, a large allocation is virtual memory that only its own GPU may use at first:
    LD_PRELOAD=direct/target/libstasis-gate.so STASIS_REAL_LIBCUDA=/usr/local/nvidia/lib64/libcuda.so.1 e2e/gpu/peer_copy.py
"""
import ctypes
import sys

BYTES = 64 << 20
cuda = ctypes.CDLL("libcuda.so.1")
wrong = []


def call(name, *arguments):
    return getattr(cuda, name)(*arguments)


def must(name, *arguments):
    result = call(name, *arguments)
    if result:
        sys.exit(f"{name}: result {result}")


def made(device):
    context, address = ctypes.c_void_p(), ctypes.c_uint64()
    must("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    must("cuCtxSetCurrent", context)
    must("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(BYTES))
    return context, address


def fill(where, value):
    must("cuCtxSetCurrent", where[0])
    must("cuMemsetD32_v2", where[1], ctypes.c_uint(value), ctypes.c_size_t(BYTES // 4))
    must("cuCtxSynchronize")


def holds(where, value):
    content = (ctypes.c_uint * (BYTES // 4))()
    must("cuCtxSetCurrent", where[0])
    result = call("cuMemcpyDtoH_v2", content, where[1], ctypes.c_size_t(BYTES)) or call("cuCtxSynchronize")
    return not result and all(content[i] == value for i in range(0, BYTES // 4, 4093))


must("cuInit", 0)
source, target = made(0), made(1)
size = ctypes.c_size_t(BYTES)
value = 0
for access in ("without", "with"):
    if access == "with":
        for here, there in ((source, target), (target, source)):
            must("cuCtxSetCurrent", here[0])
            must("cuCtxEnablePeerAccess", there[0], 0)
    for current, name in ((source, "source"), (target, "target")):
        for copy, arguments in (("cuMemcpyDtoD_v2", ()), ("cuMemcpy", ()), ("cuMemcpyAsync", (None,)), ("cuMemcpyPeer", "contexts")):
            value += 1
            fill(source, value)
            fill(target, 0)
            must("cuCtxSetCurrent", current[0])
            if arguments == "contexts":
                result = call(copy, target[1], target[0], source[1], source[0], size)
            else:
                result = call(copy, target[1], source[1], size, *arguments)
            result = result or call("cuCtxSynchronize")
            right = not result and holds(target, value)
            print(f"{access} peer access, context of the {name}: {copy} {'ok' if right else f'WRONG, result {result}'}", flush=True)
            if not right:
                wrong.append(copy)
            if result in (700, 716, 717, 718, 719):
                sys.exit("the contexts cannot be used any more")
sys.exit(1 if wrong else 0)
