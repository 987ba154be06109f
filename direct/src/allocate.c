/* Large allocations of cuMemAlloc, made of virtual memory that can be handed to another process. */
#include "gate.h"

enum { SMALLEST = 1 << 20, PITCH = 512, ROOM_MS = 5000, CAPTURE_UNSUPPORTED = 900, CAPTURE_INVALIDATED = 901 };

/* In the table, or nothing is left of it. */
static CUresult make(uint64_t *address, size_t bytes, int device) {
    CUmemAllocationProp prop = {.type = 1, .requested = 1, .location_type = 1, .location_id = device};
    struct mapping wanted = {.bytes = bytes}, *mapping = NULL;
    uint64_t handle;
    CUresult result = driver.cuMemAddressReserve(&wanted.address, bytes, 0, 0, 0);
    if (result) return result;
    result = driver.cuMemCreate(&handle, bytes, &prop, 0);
    if (result == 0) {
        table_lock();
        wanted.read_write = peers_of(device);
        result = driver.cuMemMap(wanted.address, bytes, 0, handle, 0);
        result = result ? result : mapping_allow(&wanted);
        struct block *block = result ? NULL : block_new(handle, bytes, &prop);
        mapping = block ? mapping_new(wanted.address, bytes, 0, block) : NULL;
        if (mapping) {
            mapping->read_write = wanted.read_write;
            block->plain = true;
        } else {
            result = result ? result : NOT_SUPPORTED; /* the table is full */
            driver.cuMemUnmap(wanted.address, bytes);
            if (block) block->refs = 0;
            if (block) block_end(block);
            else driver.cuMemRelease(handle);
        }
        table_unlock();
    }
    if (mapping) *address = wanted.address;
    else driver.cuMemAddressFree(wanted.address, bytes);
    return result;
}

/* Whether to try again: the keeper gives its copy up within a tenth of a second, and the memory that it takes. */
bool room_is_made(int64_t *until) {
    if (!page || *until < 0) return false;
    if (!__atomic_load_n(&page->copied, __ATOMIC_ACQUIRE)) {
        if (*until) *until = -1; /* it was given up: one last try */
        return *until;
    }
    if (!*until) {
        *until = now_ms() + ROOM_MS;
        __atomic_add_fetch(&page->wanted, 1, __ATOMIC_RELEASE);
    }
    nap_us(10000);
    return now_ms() < *until;
}

/* Frees an allocation once what uses it has ended, as cuMemFree does, in the memory's own context. To wait while a graph is captured
   would invalidate the graph, so then only the program sees it freed. */
static CUresult release(uint32_t index, void *owner, uint64_t address, bool late) {
    CUresult result = capture_count() ? CAPTURE_UNSUPPORTED : wait_for(owner);
    bool captures = result == CAPTURE_UNSUPPORTED || result == CAPTURE_INVALIDATED;
    table_lock();
    struct mapping *mapping = &mappings[index];
    if (mapping->address == address && mapping->late == late && blocks[mapping->block].plain) { /* another thread may have been faster */
        if (captures && !mapping->late) late_mappings++;
        if (captures) mapping->late = true;
        else plain_end(mapping);
    }
    table_unlock();
    return captures ? 0 : result;
}

/* Frees what was freed during a capture, of the context that is current: another one may end meanwhile, or be busy for long. */
static void release_late(void) {
    void *current = NULL;
    if (__atomic_load_n(&late_mappings, __ATOMIC_RELAXED)) driver.cuCtxGetCurrent(&current);
    for (uint32_t i = 0; __atomic_load_n(&late_mappings, __ATOMIC_RELAXED) && !capture_count() && i < MAX_BLOCKS; i++) {
        table_lock();
        bool late = i < mapping_limit && mappings[i].address && mappings[i].late;
        uint64_t address = mappings[i].address;
        void *owner = late ? blocks[mappings[i].block].context : NULL;
        table_unlock();
        if (late && owner == current) release(i, owner, address, true);
    }
}

static CUresult allocate_once(uint64_t *address, size_t bytes, CUresult (*real)(uint64_t *, size_t)) {
    int device;
    if (!address || bytes < SMALLEST || bytes > SIZE_MAX - GRANULE || driver.cuCtxGetDevice(&device) || device >= MAX_DEVICES) return real(address, bytes);
    bytes = (bytes + GRANULE - 1) / GRANULE * GRANULE;
    CUresult result = make(address, bytes, device);
    if (result == OUT_OF_MEMORY && __atomic_load_n(&late_mappings, __ATOMIC_RELAXED)) {
        release_late();
        result = make(address, bytes, device);
    }
    if (result == 0 || result == OUT_OF_MEMORY) return result; /* what the driver would say */
    note(NOTE_PLAIN);
    return real(address, bytes);
}

HOOK(cuMemAlloc_v2, (uint64_t *address, size_t bytes)) {
    int64_t until = 0;
    CUresult result;
    do result = allocate_once(address, bytes, real_cuMemAlloc_v2);
    while (result == OUT_OF_MEMORY && room_is_made(&until));
    return result;
}

HOOK(cuMemAllocPitch_v2, (uint64_t *address, size_t *pitch, size_t width, size_t height, unsigned element)) {
    size_t wide = (width + PITCH - 1) / PITCH * PITCH, bytes;
    if (!address || !pitch || !width || !height || __builtin_mul_overflow(wide, height, &bytes) || bytes < SMALLEST ||
        (element != 4 && element != 8 && element != 16)) {
        return real_cuMemAllocPitch_v2(address, pitch, width, height, element);
    }
    CUresult result = hook_cuMemAlloc_v2(address, bytes);
    if (result == 0) *pitch = wide;
    return result;
}

/* The context of a large allocation, or NULL. */
static void *owner_of(uint64_t address, uint32_t *index) {
    uint32_t i = 0;
    table_lock();
    while (i < mapping_limit && (mappings[i].address != address || mappings[i].late)) i++;
    const struct block *block = address && i < mapping_limit ? &blocks[mappings[i].block] : NULL;
    void *owner = block && block->plain ? block->context : NULL;
    table_unlock();
    *index = i;
    return owner;
}

HOOK(cuMemFree_v2, (uint64_t address)) {
    uint32_t index;
    void *owner = owner_of(address, &index);
    release_late();
    return owner ? release(index, owner, address, false) : real_cuMemFree_v2(address);
}

/* It takes memory of cuMemAlloc, too. */
#define FREEING(name) \
    HOOK(name, (uint64_t address, void *stream)) { \
        uint32_t index; \
        return owner_of(address, &index) ? hook_cuMemFree_v2(address) : real_##name(address, stream); \
    }
FREEING(cuMemFreeAsync) FREEING(cuMemFreeAsync_ptsz)
