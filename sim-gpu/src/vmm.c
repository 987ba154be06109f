/* Virtual memory management: addresses without memory, memory without addresses, and descriptors
 * that keep memory alive. */
#define _GNU_SOURCE
#include "context.h"
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GRANULARITY = 2 << 20, PER_GRANULE = GRANULARITY / BLOCK_BYTES };

static uint32_t *table_of(CUdeviceptr address, size_t bytes, int *ordinal) {
    *ordinal = memory_ordinal(address);
    uint64_t first = memory_offset(address) / BLOCK_BYTES;
    int whole = bytes && bytes % GRANULARITY == 0 && address % GRANULARITY == 0;
    if (!whole || *ordinal < 0 || *ordinal >= self.visible || first + bytes / BLOCK_BYTES > self.pages[*ordinal]) {
        return NULL;
    }
    return &self.page[*ordinal][first];
}

static struct backing *backing_of(uint64_t handle) {
    struct backing *backing = handle && handle <= MAX_BACKINGS ? &self.backing[handle - 1] : NULL;
    return backing && backing->used && backing->refs ? backing : NULL;
}

static void drop(struct backing *backing) {
    if (backing->refs || backing->maps) {
        return;
    }
    close(backing->fd); /* the memory is free unless another descriptor holds the same open file */
    munmap(backing->block, backing->count * sizeof *backing->block);
    backing->used = 0;
}

static struct backing *unused(uint32_t count) {
    for (int i = 0; i < MAX_BACKINGS; i++) {
        if (!self.backing[i].used) {
            void *blocks = mmap(NULL, count * sizeof(uint32_t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            self.backing[i] = (struct backing){.used = 1, .refs = 1, .fd = -1, .count = count, .block = blocks};
            return blocks == MAP_FAILED ? NULL : &self.backing[i];
        }
    }
    return NULL;
}

int vmm_claim(struct backing *backing, const struct node *node, int gpu, uint32_t *blocks) {
    struct node own = *node;
    char path[sizeof own.folder + 16];
    snprintf(path, sizeof path, "%s/nvidiactl", own.folder);
    own.ctl = open(path, O_RDWR | O_CLOEXEC);
    if (own.ctl < 0) {
        return -errno;
    }
    int owner = board_claim(&own);
    if (owner < 0 || board_take(&own, gpu, owner, backing->count, blocks)) {
        close(own.ctl);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < backing->count; i++) {
        blocks[i]++;
    }
    lseek(own.ctl, OWNER_MARK + owner, SEEK_SET);
    backing->fd = own.ctl;
    backing->owner = owner;
    return 0;
}

static CUresult enter(void) {
    CUresult result = gate_enter();
    if (result == CUDA_SUCCESS) {
        pthread_mutex_lock(&self.mutex);
    }
    return result;
}

static CUresult leave(CUresult result) {
    pthread_mutex_unlock(&self.mutex);
    gate_leave();
    return result;
}

EXPORT CUresult cuMemGetAllocationGranularity(size_t *bytes, const CUmemAllocationProp *prop, int option) {
    (void)option;
    *bytes = GRANULARITY;
    return prop ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* A used address is only a hint: another one is returned. Addresses of the first GPU if there is
 * no context. */
EXPORT CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr at, uint64_t flags) {
    (void)alignment;
    if (!address || !bytes || bytes % GRANULARITY || flags) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult result = enter();
    if (result) {
        return result;
    }
    int ordinal = -1;
    uint32_t count = (uint32_t)(bytes / BLOCK_BYTES), *page = at ? table_of(at, bytes, &ordinal) : NULL;
    for (uint32_t i = 0; page && i < count; i++) {
        page = page[i] == PAGE_FREE ? page : NULL;
    }
    if (!page) {
        ordinal = context_ordinal() < 0 ? 0 : context_ordinal();
        int first = memory_find(ordinal, count, PER_GRANULE);
        if (first < 0) {
            return leave(CUDA_ERROR_OUT_OF_MEMORY);
        }
        page = &self.page[ordinal][first];
    }
    for (uint32_t i = 0; i < count; i++) {
        page[i] = PAGE_RESERVED;
    }
    *address = DEVICE_BASE + ((uint64_t)ordinal << DEVICE_SHIFT) + (uint64_t)(page - self.page[ordinal]) * BLOCK_BYTES;
    return leave(CUDA_SUCCESS);
}

EXPORT CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes) {
    CUresult result = enter();
    if (result) {
        return result;
    }
    int ordinal;
    uint32_t *page = table_of(address, bytes, &ordinal);
    for (size_t i = 0; page && i < bytes / BLOCK_BYTES; i++) {
        if (page[i] != PAGE_RESERVED) {
            return leave(CUDA_ERROR_INVALID_VALUE);
        }
    }
    for (size_t i = 0; page && i < bytes / BLOCK_BYTES; i++) {
        page[i] = PAGE_FREE;
    }
    return leave(page ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

EXPORT CUresult cuMemCreate(uint64_t *handle, size_t bytes, const CUmemAllocationProp *prop, uint64_t flags) {
    if (!handle || !prop || !bytes || bytes % GRANULARITY || flags || prop->type != 1 || prop->locationType != 1 ||
        prop->locationId < 0 || prop->locationId >= self.visible) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult result = enter();
    if (result) {
        return result;
    }
    if ((result = process_fault(CALL_CREATE))) {
        return leave(result);
    }
    struct backing *backing = unused((uint32_t)(bytes / BLOCK_BYTES));
    if (!backing) {
        return leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    backing->ordinal = prop->locationId;
    backing->exportable = prop->requestedHandleTypes == 1;
    node_lock_table(&self.node);
    board_reap(&self.node, (int)mailbox.owner);
    int rc = vmm_claim(backing, &self.node, self.gpu[backing->ordinal], backing->block);
    node_unlock_table(&self.node);
    if (rc) {
        backing->refs = 0;
        drop(backing);
        return leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    *handle = (uint64_t)(backing - self.backing) + 1;
    return leave(CUDA_SUCCESS);
}

EXPORT CUresult cuMemRelease(uint64_t handle) {
    CUresult result = enter();
    if (result) {
        return result;
    }
    struct backing *backing = backing_of(handle);
    if (!backing || (result = process_fault(CALL_RELEASE))) {
        return leave(result ? result : CUDA_ERROR_INVALID_VALUE);
    }
    backing->refs--;
    drop(backing);
    return leave(CUDA_SUCCESS);
}

static struct mapping *mapping_at(CUdeviceptr address) {
    for (int i = 0; i < MAX_BACKINGS; i++) {
        if (self.mapping[i].address == address) {
            return &self.mapping[i];
        }
    }
    return NULL;
}

EXPORT CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, uint64_t handle, uint64_t flags) {
    CUresult result = enter();
    if (result) {
        return result;
    }
    int ordinal;
    struct backing *backing = backing_of(handle);
    uint32_t *page = table_of(address, bytes, &ordinal);
    struct mapping *mapping = mapping_at(0);
    uint64_t first = offset / BLOCK_BYTES, count = bytes / BLOCK_BYTES;
    if (!backing || !page || !mapping || flags || offset % GRANULARITY || first + count > backing->count) {
        return leave(CUDA_ERROR_INVALID_VALUE);
    }
    for (uint64_t i = 0; i < count; i++) {
        if (page[i] != PAGE_RESERVED) {
            return leave(CUDA_ERROR_INVALID_VALUE);
        }
    }
    if ((result = process_fault(CALL_MAP))) {
        return leave(result);
    }
    for (uint64_t i = 0; i < count; i++) {
        page[i] = PAGE_MAPPED | backing->block[first + i];
    }
    *mapping = (struct mapping){address, first, count, backing};
    backing->maps++;
    return leave(CUDA_SUCCESS);
}

/* Whole mappings, any number in the range; the real driver also refuses a part of one. */
EXPORT CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
    CUresult result = enter();
    if (result) {
        return result;
    }
    int ordinal;
    uint64_t covered = 0, end = address + bytes;
    uint32_t *page = table_of(address, bytes, &ordinal);
    for (struct mapping *m; page && covered < bytes && (m = mapping_at(address + covered)); covered += m->count * BLOCK_BYTES) {
    }
    if ((result = process_fault(CALL_UNMAP))) {
        return leave(result);
    }
    if (covered != bytes || bytes == 0) {
        return leave(CUDA_ERROR_INVALID_VALUE);
    }
    for (struct mapping *m; address < end && (m = mapping_at(address)); address += m->count * BLOCK_BYTES) {
        for (uint64_t i = 0; i < m->count; i++) {
            *page++ = PAGE_RESERVED;
        }
        m->backing->maps--;
        drop(m->backing);
        m->address = 0;
    }
    return leave(CUDA_SUCCESS);
}

EXPORT CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *access, size_t count) {
    CUresult result = access && count ? enter() : CUDA_ERROR_INVALID_VALUE;
    if (result) {
        return result;
    }
    int ordinal;
    uint32_t *page = table_of(address, bytes, &ordinal);
    for (size_t i = 0; page && i < bytes / BLOCK_BYTES; i++) {
        page = page[i] & PAGE_MAPPED ? page : NULL;
    }
    for (size_t i = 0; page && i < bytes / BLOCK_BYTES; i++) {
        page[i] = access[0].flags == 3 ? page[i] | PAGE_ACCESS : page[i] & ~PAGE_ACCESS;
    }
    return leave(page ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

EXPORT CUresult cuMemExportToShareableHandle(void *to, uint64_t handle, int type, uint64_t flags) {
    CUresult result = to && type == 1 && !flags ? enter() : CUDA_ERROR_INVALID_VALUE;
    if (result) {
        return result;
    }
    struct backing *backing = backing_of(handle);
    if (!backing || !backing->exportable) { /* imports are not */
        return leave(CUDA_ERROR_INVALID_VALUE);
    }
    if ((result = process_fault(CALL_EXPORT))) {
        return leave(result);
    }
    int fd = fcntl(backing->fd, F_DUPFD_CLOEXEC, 0);
    backing->shared = 1;
    *(int *)to = fd;
    return leave(fd < 0 ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS);
}

/* The blocks of each GPU that belong to the owner that a descriptor names. */
static CUresult import(int fd, uint64_t *handle) {
    struct stat there, here;
    off_t owner = lseek(fd, 0, SEEK_CUR) - OWNER_MARK;
    if (fstat(fd, &there) || fstat(self.node.ctl, &here) || there.st_ino != here.st_ino || there.st_dev != here.st_dev ||
        owner <= 0 || owner >= MAX_OWNERS) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (int i = 0; i < self.visible; i++) {
        uint32_t count = board_count(&self.node, self.gpu[i], (int)owner);
        struct backing *backing = count ? unused(count) : NULL;
        if (backing) {
            board_list(&self.node, self.gpu[i], (int)owner, backing->block);
            backing->ordinal = i;
            backing->shared = 1;
            backing->owner = (int)owner;
            backing->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
            *handle = (uint64_t)(backing - self.backing) + 1;
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_VALUE;
}

EXPORT CUresult cuMemImportFromShareableHandle(uint64_t *handle, void *from, int type) {
    CUresult result = handle && type == 1 ? process_fault(CALL_IMPORT) : CUDA_ERROR_INVALID_VALUE;
    result = result ? result : enter();
    return result ? result : leave(import((int)(intptr_t)from, handle));
}

EXPORT CUresult cuMemRetainAllocationHandle(uint64_t *handle, void *address) {
    CUresult result = handle ? enter() : CUDA_ERROR_INVALID_VALUE;
    if (result) {
        return result;
    }
    for (int i = 0; i < MAX_BACKINGS; i++) {
        struct mapping *m = &self.mapping[i];
        if (m->address && (uint64_t)(uintptr_t)address - m->address < m->count * BLOCK_BYTES) {
            m->backing->refs++;
            *handle = (uint64_t)(m->backing - self.backing) + 1;
            return leave(CUDA_SUCCESS);
        }
    }
    return leave(CUDA_ERROR_INVALID_VALUE);
}
