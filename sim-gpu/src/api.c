/* The program's memory calls. Each passes the gate, so none is in progress while the process is
 * locked. */
#define _GNU_SOURCE
#include "context.h"
#include "process.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static CUresult enter_with_context(int *ordinal) {
    CUresult result = gate_enter();
    if (result) {
        return result;
    }
    *ordinal = context_ordinal();
    if (*ordinal < 0) {
        gate_leave();
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    return CUDA_SUCCESS;
}

EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
    int ordinal;
    CUresult result = address ? enter_with_context(&ordinal) : CUDA_ERROR_INVALID_VALUE;
    if (result) {
        return result;
    }
    pthread_mutex_lock(&self.mutex);
    result = CUDA_ERROR_OUT_OF_MEMORY;
    for (int i = 0; i < MAX_ALLOCATIONS; i++) {
        if (!self.allocation[i].address) {
            result = memory_allocate(ordinal, bytes, address);
            self.allocation[i] = result ? (struct allocation){0, 0, NULL} : (struct allocation){*address, bytes, context_current()};
            break;
        }
    }
    pthread_mutex_unlock(&self.mutex);
    gate_leave();
    return result;
}

EXPORT CUresult cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width, size_t height, unsigned element) {
    (void)element;
    *pitch = (width + 511) / 512 * 512;
    return cuMemAlloc_v2(address, *pitch * height);
}

EXPORT CUresult cuMemFree_v2(CUdeviceptr address) {
    CUresult result = gate_enter();
    if (result) {
        return result;
    }
    result = address ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    pthread_mutex_lock(&self.mutex);
    for (int i = 0; address && i < MAX_ALLOCATIONS; i++) {
        if (self.allocation[i].address == address) {
            memory_free(address, self.allocation[i].bytes);
            self.allocation[i].address = 0;
            result = CUDA_SUCCESS;
        }
    }
    struct managed *managed = memory_managed(address, 0);
    if (managed && (uint64_t)(uintptr_t)managed->address == address) {
        munmap(managed->address, managed->bytes);
        managed->address = NULL;
        self.managed_count--;
        result = CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&self.mutex);
    gate_leave();
    return result;
}

/* Without pools, it only frees what cuMemAlloc has made. */
EXPORT CUresult cuMemFreeAsync(CUdeviceptr address, void *stream) {
    (void)stream;
    return cuMemFree_v2(address);
}

EXPORT CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned flags) {
    int ordinal;
    (void)flags;
    CUresult result = address && bytes ? enter_with_context(&ordinal) : CUDA_ERROR_INVALID_VALUE;
    if (result) {
        return result;
    }
    pthread_mutex_lock(&self.mutex);
    result = CUDA_ERROR_OUT_OF_MEMORY;
    for (int i = 0; i < MAX_MANAGED && result; i++) {
        if (self.managed[i].address) {
            continue;
        }
        void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (map == MAP_FAILED) {
            break;
        }
        self.managed[i] = (struct managed){map, bytes};
        self.managed_count++;
        *address = (CUdeviceptr)(uintptr_t)map;
        result = CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&self.mutex);
    gate_leave();
    return result;
}

EXPORT CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
    int ordinal;
    CUresult result = free_bytes && total ? enter_with_context(&ordinal) : CUDA_ERROR_INVALID_VALUE;
    if (result) {
        return result;
    }
    pthread_mutex_lock(&self.mutex);
    node_lock_table(&self.node);
    board_reap(&self.node, (int)mailbox.owner);
    *free_bytes = (size_t)board_count(&self.node, self.gpu[ordinal], 0) * BLOCK_BYTES;
    *total = (size_t)self.node.board->gpu[self.gpu[ordinal]].blocks * BLOCK_BYTES;
    node_unlock_table(&self.node);
    pthread_mutex_unlock(&self.mutex);
    gate_leave();
    return CUDA_SUCCESS;
}

static CUresult copy(CUdeviceptr address, void *host, size_t bytes, int write) {
    int ordinal;
    CUresult result = host ? enter_with_context(&ordinal) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        result = memory_copy(address, host, bytes, write);
        gate_leave();
    }
    return result;
}

EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) { return copy(to, (void *)(uintptr_t)from, bytes, 1); }

EXPORT CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) { return copy(from, to, bytes, 0); }

static CUresult fill(CUdeviceptr address, uint32_t value, size_t bytes) {
    int ordinal;
    CUresult result = enter_with_context(&ordinal);
    if (result == CUDA_SUCCESS) {
        result = memory_fill(address, value, bytes);
        gate_leave();
    }
    return result;
}

EXPORT CUresult cuMemsetD8_v2(CUdeviceptr address, unsigned char value, size_t count) {
    return fill(address, value * 0x01010101u, count);
}

EXPORT CUresult cuMemsetD32_v2(CUdeviceptr address, unsigned value, size_t count) { return fill(address, value, count * 4); }

/* Memory shared with another process: Checkpoint takes it, Restore does not restore it. From
 * driver 610 on it does within a launch job, which does not exist here. */
EXPORT CUresult cuIpcGetMemHandle(void *handle, CUdeviceptr address) {
    CUresult result = handle && address ? gate_enter() : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        self.peer = 1;
        *(CUdeviceptr *)handle = address;
        gate_leave();
    }
    return result;
}

/* Replaces a launch and the wait for it: a kernel that runs for this long. */
EXPORT CUresult simLongKernel(unsigned milliseconds) {
    int ordinal;
    CUresult result = enter_with_context(&ordinal);
    if (result) {
        return result;
    }
    /* As on an H200: nobody can take the GPU from a kernel of a process that was resumed, and the driver does not wait for its end. */
    const struct board *board = self.node.board;
    int gpu = self.gpu[ordinal];
    uint32_t before = board->switches[gpu];
    for (unsigned passed = 0, waited = 0; passed < milliseconds && result == CUDA_SUCCESS; passed++) {
        nanosleep(&(struct timespec){0, 1000000}, NULL);
        waited += self.resumed && __atomic_load_n(&board->switches[gpu], __ATOMIC_SEQ_CST) != before;
        if (waited && waited == board->switch_ms) {
            self.context_broken = 1;
            result = CUDA_ERROR_LAUNCH_FAILED;
        }
    }
    gate_leave();
    return result;
}
