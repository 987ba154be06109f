/* The table of what the library owns: blocks of memory, and the addresses at which they are mapped. */
#include "gate.h"

struct block blocks[MAX_BLOCKS];
struct mapping mappings[MAX_BLOCKS];
uint32_t block_limit, mapping_limit, late_mappings;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint32_t peers[MAX_DEVICES]; /* which devices may use the memory of each */

void table_lock(void) { pthread_mutex_lock(&mutex); }

void table_unlock(void) { pthread_mutex_unlock(&mutex); }

void table_after_fork(void) {
    mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    block_limit = mapping_limit = late_mappings = 0;
    memset(peers, 0, sizeof peers);
}

void table_publish(void) {
    uint64_t bytes = 0, largest = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; page && i < block_limit; i++) {
        if (blocks[i].state == BLOCK_FREE) continue;
        bytes += blocks[i].bytes;
        largest = blocks[i].bytes > largest ? blocks[i].bytes : largest;
        count++;
    }
    if (!page) return;
    page->blocks = count;
    page->bytes = bytes;
    page->largest = largest;
}

struct block *block_new(uint64_t handle, uint64_t bytes, const CUmemAllocationProp *prop) {
    uint32_t i = 0;
    while (i < block_limit && blocks[i].state != BLOCK_FREE) i++;
    if (i == MAX_BLOCKS) return NULL;
    block_limit = i == block_limit ? i + 1 : block_limit;
    blocks[i] = (struct block){.handle = handle, .bytes = bytes, .prop = *prop, .state = BLOCK_HERE, .refs = 1};
    driver.cuCtxGetCurrent(&blocks[i].context);
    table_publish();
    return &blocks[i];
}

struct mapping *mapping_new(uint64_t address, uint64_t bytes, uint64_t offset, struct block *block) {
    uint32_t i = 0;
    while (i < mapping_limit && mappings[i].address) i++;
    if (i == MAX_BLOCKS) return NULL;
    mapping_limit = i == mapping_limit ? i + 1 : mapping_limit;
    mappings[i] = (struct mapping){.address = address, .bytes = bytes, .offset = offset, .block = (uint32_t)(block - blocks)};
    block->maps++;
    block->mapping = i;
    return &mappings[i];
}

CUresult mapping_allow(const struct mapping *mapping) {
    CUmemAccessDesc access[MAX_DEVICES];
    size_t count = 0;
    for (int i = 0; i < MAX_DEVICES; i++) {
        int flags = mapping->read_write >> i & 1 ? 3 : mapping->read_only >> i & 1 ? 1 : 0;
        if (flags) access[count++] = (CUmemAccessDesc){1, i, flags};
    }
    return count ? driver.cuMemSetAccess(mapping->address, mapping->bytes, access, count) : 0;
}

void mapping_end(struct mapping *mapping) {
    blocks[mapping->block].maps--;
    mapping->address = 0;
    while (mapping_limit && !mappings[mapping_limit - 1].address) mapping_limit--;
}

CUresult block_end(struct block *block) {
    if (block->refs || block->maps) return 0;
    CUresult result = driver.cuMemRelease(block->handle);
    block->state = BLOCK_FREE;
    while (block_limit && blocks[block_limit - 1].state == BLOCK_FREE) block_limit--;
    table_publish();
    return result;
}

void plain_end(struct mapping *mapping) {
    struct block *block = &blocks[mapping->block];
    uint64_t address = mapping->address, bytes = mapping->bytes;
    driver.cuMemUnmap(address, bytes);
    late_mappings -= mapping->late;
    mapping_end(mapping);
    block->refs = block->plain ? block->refs - 1 : block->refs;
    block->plain = false;
    block_end(block);
    driver.cuMemAddressFree(address, bytes);
}

bool has_plain(const void *context) {
    bool found = false;
    table_lock();
    for (uint32_t i = 0; i < block_limit && !found; i++) {
        found = blocks[i].state != BLOCK_FREE && blocks[i].plain && blocks[i].context == context;
    }
    table_unlock();
    return found;
}

/* The work in a context ends. */
CUresult wait_for(void *context) {
    void *current = NULL;
    driver.cuCtxGetCurrent(&current);
    CUresult result = driver.cuCtxSetCurrent(context);
    result = result ? result : driver.cuCtxSynchronize();
    driver.cuCtxSetCurrent(current);
    return result;
}

void context_died(const void *context) {
    table_lock();
    for (uint32_t i = 0; i < mapping_limit; i++) {
        struct block *block = &blocks[mappings[i].block];
        if (mappings[i].address && block->plain && block->context == context) plain_end(&mappings[i]);
    }
    table_unlock();
}

uint32_t peers_of(int device) { return 1u << device | peers[device]; }

void peer_allow(int owner, int user) {
    table_lock();
    peers[owner] |= 1u << user;
    for (uint32_t i = 0; i < mapping_limit; i++) {
        const struct block *block = &blocks[mappings[i].block];
        if (mappings[i].address && block->plain && block->prop.location_id == owner) {
            uint32_t before = mappings[i].read_write;
            mappings[i].read_write |= 1u << user;
            if (mapping_allow(&mappings[i])) mappings[i].read_write = before; /* a reload must not ask for what was refused */
        }
    }
    table_unlock();
}
