/*
 * Memory that the program makes by cuMemCreate itself. It gets a handle of ours, since the driver's changes when the memory is
 * unloaded and made again; every function that takes a handle translates it.
 */
#include "gate.h"

#define TOKEN 0x5374617369000000ull
#define TOKEN_BITS 0xffffffull

static struct block *block_of(uint64_t handle) {
    uint64_t i = handle & TOKEN_BITS;
    bool ours = (handle & ~TOKEN_BITS) == TOKEN && i < block_limit && blocks[i].state != BLOCK_FREE;
    return ours && blocks[i].refs ? &blocks[i] : NULL;
}

static uint64_t translate(uint64_t handle) {
    table_lock();
    struct block *block = block_of(handle);
    uint64_t real = block ? block->handle : handle;
    table_unlock();
    return real;
}

HOOK(cuMemCreate, (uint64_t *handle, size_t bytes, const CUmemAllocationProp *prop, uint64_t flags)) {
    bool ours = handle && prop && prop->type == 1 && prop->location_type == 1 && prop->requested <= 1 &&
                prop->location_id >= 0 && prop->location_id < MAX_DEVICES;
    if (!ours) return real_cuMemCreate(handle, bytes, prop, flags);
    CUmemAllocationProp shareable = *prop;
    shareable.requested = 1;
    int64_t until = 0;
    CUresult result;
    do result = real_cuMemCreate(handle, bytes, &shareable, flags);
    while (result == OUT_OF_MEMORY && room_is_made(&until));
    if (result == OUT_OF_MEMORY) return result;
    if (result) {
        note(NOTE_PLAIN);
        return real_cuMemCreate(handle, bytes, prop, flags);
    }
    table_lock();
    struct block *block = block_new(*handle, bytes, &shareable);
    if (block) *handle = TOKEN + (uint64_t)(block - blocks);
    table_unlock();
    if (!block) note(NOTE_PLAIN);
    return 0;
}

HOOK(cuMemRelease, (uint64_t handle)) {
    table_lock();
    struct block *block = block_of(handle);
    CUresult result = 0;
    if (block) {
        block->refs--;
        result = block_end(block);
    }
    table_unlock();
    return block ? result : real_cuMemRelease(handle);
}

HOOK(cuMemMap, (uint64_t address, size_t bytes, size_t offset, uint64_t handle, uint64_t flags)) {
    table_lock();
    struct block *block = block_of(handle);
    CUresult result = real_cuMemMap(address, bytes, offset, block ? block->handle : handle, flags);
    if (block && result == 0 && !mapping_new(address, bytes, offset, block)) {
        driver.cuMemUnmap(address, bytes);
        result = OUT_OF_MEMORY;
    }
    table_unlock();
    return result;
}

HOOK(cuMemUnmap, (uint64_t address, size_t bytes)) {
    CUresult result = real_cuMemUnmap(address, bytes);
    if (result) return result;
    table_lock();
    for (uint32_t i = 0; i < mapping_limit; i++) {
        if (mappings[i].address && mappings[i].address - address < bytes) {
            struct block *block = &blocks[mappings[i].block];
            mapping_end(&mappings[i]);
            block_end(block);
        }
    }
    table_unlock();
    return 0;
}

HOOK(cuMemSetAccess, (uint64_t address, size_t bytes, const CUmemAccessDesc *access, size_t count)) {
    CUresult result = real_cuMemSetAccess(address, bytes, access, count);
    if (result) return result;
    table_lock();
    for (uint32_t i = 0; i < mapping_limit; i++) {
        struct mapping *m = &mappings[i];
        for (size_t j = 0; m->address && m->address - address < bytes && j < count; j++) {
            if (access[j].location_type == 1 && access[j].location_id >= 0 && access[j].location_id < MAX_DEVICES) {
                uint32_t bit = 1u << access[j].location_id;
                m->read_write = access[j].flags == 3 ? m->read_write | bit : m->read_write & ~bit;
                m->read_only = access[j].flags == 1 ? m->read_only | bit : m->read_only & ~bit;
            }
        }
    }
    table_unlock();
    return 0;
}

HOOK(cuMemExportToShareableHandle, (void *to, uint64_t handle, int type, uint64_t flags)) {
    CUresult result = real_cuMemExportToShareableHandle(to, translate(handle), type, flags);
    if (result == 0) note(NOTE_EXPORT);
    return result;
}

HOOK(cuMemRetainAllocationHandle, (uint64_t *handle, void *address)) {
    uint64_t at = (uint64_t)(uintptr_t)address;
    uint32_t i = 0;
    table_lock();
    while (i < mapping_limit && !(mappings[i].address && at - mappings[i].address < mappings[i].bytes)) i++;
    bool ours = handle && i < mapping_limit;
    if (ours) {
        blocks[mappings[i].block].refs++;
        *handle = TOKEN + mappings[i].block;
    }
    table_unlock();
    return ours ? 0 : real_cuMemRetainAllocationHandle(handle, address);
}

HOOK(cuMemGetAllocationPropertiesFromHandle, (CUmemAllocationProp *prop, uint64_t handle)) {
    return real_cuMemGetAllocationPropertiesFromHandle(prop, translate(handle));
}

/* Notes FLAG, whether the call succeeds or not. */
#define NOTING(name, flag, arguments, passed) \
    HOOK(name, arguments) { \
        note(flag); \
        return real_##name passed; \
    }
NOTING(cuMulticastBindMem, NOTE_MULTICAST, (uint64_t group, size_t at, uint64_t handle, size_t offset, size_t bytes, uint64_t flags),
       (group, at, translate(handle), offset, bytes, flags))
NOTING(cuMulticastBindMem_v2, NOTE_MULTICAST,
       (uint64_t group, int device, size_t at, uint64_t handle, size_t offset, size_t bytes, uint64_t flags),
       (group, device, at, translate(handle), offset, bytes, flags))

/* Handles lie inside an array of structures here. Programs with sparse textures are none of ours. */
NOTING(cuMemMapArrayAsync, NOTE_SPARSE, (void *list, unsigned count, void *stream), (list, count, stream))
NOTING(cuMemMapArrayAsync_ptsz, NOTE_SPARSE, (void *list, unsigned count, void *stream), (list, count, stream))
