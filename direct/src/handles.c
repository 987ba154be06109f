/*
 * Memory that the program makes by cuMemCreate itself. It gets a handle of ours, since the driver's changes when the memory is
 * unloaded and made again; every function that takes a handle translates it.
 */
#include "gate.h"

#define TOKEN 0x5374617369000000ull
#define TOKEN_BITS 0xffffffull

static CUresult (*real_create)(uint64_t *, size_t, const CUmemAllocationProp *, uint64_t);
static CUresult (*real_release)(uint64_t);
static CUresult (*real_map)(uint64_t, size_t, size_t, uint64_t, uint64_t);
static CUresult (*real_unmap)(uint64_t, size_t);
static CUresult (*real_access)(uint64_t, size_t, const CUmemAccessDesc *, size_t);
static CUresult (*real_export)(void *, uint64_t, int, uint64_t);
static CUresult (*real_retain)(uint64_t *, void *);
static CUresult (*real_properties)(CUmemAllocationProp *, uint64_t);
static CUresult (*real_bind)(uint64_t, size_t, uint64_t, size_t, size_t, uint64_t);
static CUresult (*real_bind_v2)(uint64_t, int, size_t, uint64_t, size_t, size_t, uint64_t);
static CUresult (*real_arrays)(void *, unsigned, void *), (*real_arrays_ptsz)(void *, unsigned, void *);

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

static CUresult create(uint64_t *handle, size_t bytes, const CUmemAllocationProp *prop, uint64_t flags) {
    bool ours = !gate_inert && handle && prop && prop->type == 1 && prop->location_type == 1 && prop->requested <= 1 &&
                prop->location_id >= 0 && prop->location_id < MAX_DEVICES;
    if (!ours) return real_create(handle, bytes, prop, flags);
    CUmemAllocationProp shareable = *prop;
    shareable.requested = 1;
    int64_t until = 0;
    CUresult result;
    do result = real_create(handle, bytes, &shareable, flags);
    while (result == OUT_OF_MEMORY && room_is_made(&until));
    if (result) {
        if (result != OUT_OF_MEMORY) {
            note(NOTE_PLAIN);
            result = real_create(handle, bytes, prop, flags);
        }
        return result;
    }
    table_lock();
    struct block *block = block_new(*handle, bytes, &shareable);
    if (block) *handle = TOKEN + (uint64_t)(block - blocks);
    table_unlock();
    if (!block) note(NOTE_PLAIN);
    return 0;
}

static CUresult release(uint64_t handle) {
    table_lock();
    struct block *block = gate_inert ? NULL : block_of(handle);
    CUresult result = 0;
    if (block) {
        block->refs--;
        result = block_end(block);
    }
    table_unlock();
    return block ? result : real_release(handle);
}

static CUresult map(uint64_t address, size_t bytes, size_t offset, uint64_t handle, uint64_t flags) {
    table_lock();
    struct block *block = gate_inert ? NULL : block_of(handle);
    CUresult result = block ? real_map(address, bytes, offset, block->handle, flags) : 0;
    if (block && result == 0 && !mapping_new(address, bytes, offset, block)) {
        real_unmap(address, bytes);
        result = 2;
    }
    table_unlock();
    return block ? result : real_map(address, bytes, offset, handle, flags);
}

static CUresult unmap(uint64_t address, size_t bytes) {
    CUresult result = real_unmap(address, bytes);
    if (gate_inert || result) return result;
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

static CUresult set_access(uint64_t address, size_t bytes, const CUmemAccessDesc *access, size_t count) {
    CUresult result = real_access(address, bytes, access, count);
    if (gate_inert || result) return result;
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

static CUresult export(void *to, uint64_t handle, int type, uint64_t flags) {
    CUresult result = real_export(to, gate_inert ? handle : translate(handle), type, flags);
    if (result == 0) note(NOTE_EXPORT);
    return result;
}

static CUresult retain(uint64_t *handle, void *address) {
    uint64_t at = (uint64_t)(uintptr_t)address;
    table_lock();
    for (uint32_t i = 0; handle && !gate_inert && i < mapping_limit; i++) {
        if (mappings[i].address && at - mappings[i].address < mappings[i].bytes) {
            blocks[mappings[i].block].refs++;
            *handle = TOKEN + mappings[i].block;
            table_unlock();
            return 0;
        }
    }
    table_unlock();
    return real_retain(handle, address);
}

static CUresult properties(CUmemAllocationProp *prop, uint64_t handle) { return real_properties(prop, gate_inert ? handle : translate(handle)); }

static CUresult bind(uint64_t group, size_t at, uint64_t handle, size_t offset, size_t bytes, uint64_t flags) {
    note(NOTE_MULTICAST);
    return real_bind(group, at, translate(handle), offset, bytes, flags);
}

static CUresult bind_v2(uint64_t group, int device, size_t at, uint64_t handle, size_t offset, size_t bytes, uint64_t flags) {
    note(NOTE_MULTICAST);
    return real_bind_v2(group, device, at, translate(handle), offset, bytes, flags);
}

/* Handles lie inside an array of structures here. Programs with sparse textures are none of ours. */
static CUresult map_arrays(void *list, unsigned count, void *stream) {
    note(NOTE_SPARSE);
    return real_arrays(list, count, stream);
}

static CUresult map_arrays_ptsz(void *list, unsigned count, void *stream) {
    note(NOTE_SPARSE);
    return real_arrays_ptsz(list, count, stream);
}

const struct hook handle_hooks[] = {
    {"cuMemCreate", create, &real_create},
    {"cuMemRelease", release, &real_release},
    {"cuMemMap", map, &real_map},
    {"cuMemUnmap", unmap, &real_unmap},
    {"cuMemSetAccess", set_access, &real_access},
    {"cuMemExportToShareableHandle", export, &real_export},
    {"cuMemRetainAllocationHandle", retain, &real_retain},
    {"cuMemGetAllocationPropertiesFromHandle", properties, &real_properties},
    {"cuMulticastBindMem", bind, &real_bind},
    {"cuMulticastBindMem_v2", bind_v2, &real_bind_v2},
    {"cuMemMapArrayAsync", map_arrays, &real_arrays},
    {"cuMemMapArrayAsync_ptsz", map_arrays_ptsz, &real_arrays_ptsz},
    {0},
};
