/* Memory leaves the process and returns to the addresses that it had. The gate is closed and drained meanwhile. */
#include "gate.h"

/* The next mapping of a block from there on, or mapping_limit. Most blocks have one, and remember it. */
static uint32_t mapping_of(uint32_t block, uint32_t from) {
    uint32_t last = blocks[block].mapping;
    bool known = last < mapping_limit && mappings[last].address && mappings[last].block == block;
    if (blocks[block].maps == 1 && known) return from <= last ? last : mapping_limit;
    while (from < mapping_limit && !(mappings[from].address && mappings[from].block == block)) from++;
    return from;
}

/* All mappings of a block below the end, or none of them. */
static CUresult map(uint32_t block, uint32_t end) {
    for (uint32_t m = mapping_of(block, 0); m < end; m = mapping_of(block, m + 1)) {
        CUresult result = driver.cuMemMap(mappings[m].address, mappings[m].bytes, mappings[m].offset, blocks[block].handle, 0);
        if (result == 0 && (result = mapping_allow(&mappings[m]))) driver.cuMemUnmap(mappings[m].address, mappings[m].bytes);
        if (result) {
            for (uint32_t made = mapping_of(block, 0); made < m; made = mapping_of(block, made + 1))
                driver.cuMemUnmap(mappings[made].address, mappings[made].bytes);
            return result;
        }
    }
    return 0;
}

static CUresult add(struct gate_reply *reply, int *fds, uint32_t i) {
    struct gate_entry *entry = &reply->entry[reply->count];
    uint32_t m = mapping_of(i, 0);
    uint64_t address = m < mapping_limit ? mappings[m].address : 0;
    *entry = (struct gate_entry){i, blocks[i].prop.location_id, address, blocks[i].bytes, {0}};
    if (driver.cuDeviceGetUuid) driver.cuDeviceGetUuid(entry->uuid, entry->device);
    CUresult result = driver.cuMemExport(&fds[reply->count], blocks[i].handle, 1, 0);
    reply->count += result == 0;
    note(NOTE_HANDED);
    return result;
}

CUresult move_export(uint32_t first, struct gate_reply *reply, int *fds) {
    CUresult result = 0;
    uint32_t i = first;
    for (; i < block_limit && reply->count < GATE_BATCH && result == 0; i++) {
        if (blocks[i].state == BLOCK_HERE) {
            driver.cuCtxSetCurrent(blocks[i].context);
            result = add(reply, fds, i);
        }
    }
    reply->next = i < block_limit ? i : 0;
    return result;
}

/* Stays as it is if it cannot be unmapped. Once it is unmapped, its content is with the keeper, released or not. */
static CUresult unload(uint32_t i) {
    CUresult result = 0;
    driver.cuCtxSetCurrent(blocks[i].context);
    for (uint32_t m = mapping_of(i, 0); m < mapping_limit && result == 0; m = mapping_of(i, m + 1)) {
        result = driver.cuMemUnmap(mappings[m].address, mappings[m].bytes);
        if (result && map(i, m) == 0) return result;
    }
    blocks[i].state = BLOCK_AWAY;
    return result ? result : driver.cuMemRelease(blocks[i].handle);
}

/* After a failure the keeper gives back what is away. */
CUresult move_unload(void) {
    CUresult worst = 0;
    for (uint32_t i = 0; i < block_limit; i++) {
        CUresult result = blocks[i].state == BLOCK_HERE ? unload(i) : 0;
        worst = worst ? worst : result;
    }
    driver.cuCtxSetCurrent(NULL);
    return worst;
}

/* Fresh memory at the addresses of a block; nothing is left of it when that fails. */
static CUresult make(uint32_t i) {
    struct block *block = &blocks[i];
    driver.cuCtxSetCurrent(block->context);
    CUresult result = driver.cuMemCreate(&block->handle, block->bytes, &block->prop, 0);
    if (result) return result;
    result = map(i, mapping_limit);
    if (result) {
        driver.cuMemRelease(block->handle);
        return result;
    }
    block->state = BLOCK_MADE;
    return 0;
}

void move_filled(enum block_state state) {
    for (uint32_t i = 0; i < block_limit; i++) if (blocks[i].state == BLOCK_FILLING) blocks[i].state = state;
}

/*
 * As many blocks as the window has room for, one at least. What was made for a keeper that died before it filled it is given
 * again; only what is in this batch counts as filled when the keeper says so.
 */
CUresult move_reload(uint64_t window, struct gate_reply *reply, int *fds) {
    CUresult result = 0;
    uint64_t bytes = 0;
    move_filled(BLOCK_MADE);
    for (uint32_t i = 0; i < block_limit && reply->count < GATE_BATCH && result == 0; i++) {
        if (blocks[i].state != BLOCK_AWAY && blocks[i].state != BLOCK_MADE) continue;
        if (reply->count && bytes + blocks[i].bytes > window) break;
        bytes += blocks[i].bytes;
        result = blocks[i].state == BLOCK_MADE ? 0 : make(i);
        result = result ? result : add(reply, fds, i);
        if (result == 0) blocks[i].state = BLOCK_FILLING;
    }
    driver.cuCtxSetCurrent(NULL);
    return reply->count ? 0 : result; /* a batch that could be made is filled before the failure is told */
}

uint32_t move_away(void) {
    uint32_t away = 0;
    for (uint32_t i = 0; i < block_limit; i++) away += blocks[i].state != BLOCK_FREE && blocks[i].state != BLOCK_HERE;
    return away;
}
