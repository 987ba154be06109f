/* Device memory of this process: addresses, the blocks behind them, and copies to and from the
 * host. */
#define _GNU_SOURCE
#include "fault.h"
#include "process.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

CUresult process_fault(enum call call) {
    struct fault fault = {0};
    char taken[FAULT_PATH + sizeof ".held"];
    fault_take(self.node.folder, call, getpid(), &fault, taken);
    if (fault.kind == FAULT_HOLD && fault_show_held(self.node.folder, taken) == 0) {
        strcat(taken, ".held");
        while (access(taken, F_OK) == 0) {
            nanosleep(&(struct timespec){0, 1000000}, NULL);
        }
    }
    return fault.kind == FAULT_ERROR ? fault.value : CUDA_SUCCESS;
}

int memory_ordinal(CUdeviceptr address) {
    return address < DEVICE_BASE ? -1 : (int)((address - DEVICE_BASE) >> DEVICE_SHIFT);
}

uint64_t memory_offset(CUdeviceptr address) { return (address - DEVICE_BASE) & ((1ull << DEVICE_SHIFT) - 1); }

int memory_find(int ordinal, uint32_t count, uint32_t align) {
    uint32_t run = 0;
    for (uint32_t i = 0; i < self.pages[ordinal]; i++) {
        run = self.page[ordinal][i] != PAGE_FREE ? 0 : run || i % align == 0 ? run + 1 : 0;
        if (run == count) {
            return (int)(i + 1 - count);
        }
    }
    return -1;
}

CUresult memory_allocate(int ordinal, uint64_t bytes, CUdeviceptr *address) {
    uint64_t count = (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
    if (bytes == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    int64_t first = count > self.pages[ordinal] ? -1 : memory_find(ordinal, (uint32_t)count, 1);
    if (first < 0 || node_lock_table(&self.node)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    uint32_t *page = &self.page[ordinal][first];
    board_reap(&self.node, (int)mailbox.owner);
    int rc = board_take(&self.node, self.gpu[ordinal], (int)mailbox.owner, (uint32_t)count, page);
    node_unlock_table(&self.node);
    if (rc) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    for (uint64_t i = 0; i < count; i++) {
        page[i]++;
    }
    *address = DEVICE_BASE + ((uint64_t)ordinal << DEVICE_SHIFT) + (uint64_t)first * BLOCK_BYTES;
    return CUDA_SUCCESS;
}

void memory_free(CUdeviceptr address, uint64_t bytes) {
    int ordinal = memory_ordinal(address);
    uint64_t first = memory_offset(address) / BLOCK_BYTES, count = (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
    node_lock_table(&self.node);
    for (uint64_t i = first; i < first + count; i++) {
        board_give(&self.node, self.gpu[ordinal], self.page[ordinal][i] - 1);
        self.page[ordinal][i] = PAGE_FREE;
    }
    node_unlock_table(&self.node);
}

struct managed *memory_managed(CUdeviceptr address, uint64_t bytes) {
    for (int i = 0; i < MAX_MANAGED; i++) {
        uint64_t base = (uint64_t)(uintptr_t)self.managed[i].address;
        if (base && address >= base && address + bytes <= base + self.managed[i].bytes) {
            return &self.managed[i];
        }
    }
    return NULL;
}

/* One contiguous piece of a device file behind an address. */
static uint64_t piece(CUdeviceptr address, uint64_t bytes, int *fd, off_t *at) {
    int ordinal = memory_ordinal(address);
    uint64_t offset = memory_offset(address), block = offset / BLOCK_BYTES, within = offset % BLOCK_BYTES;
    if (ordinal < 0 || ordinal >= self.visible || block >= self.pages[ordinal]) {
        return 0;
    }
    uint32_t page = self.page[ordinal][block];
    if (page == PAGE_FREE || page == PAGE_RESERVED || (page & PAGE_MAPPED && !(page & PAGE_ACCESS))) {
        return 0;
    }
    *fd = self.fd[ordinal];
    *at = (off_t)((page & PAGE_BLOCK) - 1) * BLOCK_BYTES + (off_t)within;
    return bytes < BLOCK_BYTES - within ? bytes : BLOCK_BYTES - within;
}

CUresult memory_copy(CUdeviceptr address, void *host, uint64_t bytes, int write) {
    struct managed *managed = memory_managed(address, bytes);
    if (managed) {
        void *there = (void *)(uintptr_t)address;
        memcpy(write ? there : host, write ? host : there, bytes);
        return CUDA_SUCCESS;
    }
    for (uint64_t done = 0; done < bytes;) {
        int fd;
        off_t at;
        uint64_t length = piece(address + done, bytes - done, &fd, &at);
        if (length == 0) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        char *here = (char *)host + done;
        ssize_t n = write ? pwrite(fd, here, length, at) : pread(fd, here, length, at);
        if (n <= 0) {
            return CUDA_ERROR_ILLEGAL_ADDRESS;
        }
        done += (uint64_t)n;
    }
    return CUDA_SUCCESS;
}

CUresult memory_fill(CUdeviceptr address, uint32_t value, uint64_t bytes) {
    uint32_t pattern[16384];
    for (size_t i = 0; i < sizeof pattern / sizeof pattern[0]; i++) {
        pattern[i] = value;
    }
    CUresult result = CUDA_SUCCESS;
    for (uint64_t done = 0; done < bytes && result == CUDA_SUCCESS;) {
        uint64_t length = bytes - done < sizeof pattern ? bytes - done : sizeof pattern;
        result = memory_copy(address + done, pattern, length, 1);
        done += length;
    }
    return result;
}
