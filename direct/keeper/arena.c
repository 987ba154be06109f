/* Pinned host memory: a slot for each copying thread, and behind them room into which content is staged at the speed of the bus. */
#include "keeper.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

uint8_t *arena, *arena_stage;
static uint64_t arena_bytes, slots_bytes;
static unsigned copying;
static const char *pages = "small";
static bool registered;

const char *arena_pages(void) { return pages; }

uint64_t arena_room(void) { return arena_bytes - slots_bytes; }

bool arena_open(uint64_t bytes, unsigned threads) {
    if (arena) return true;
    slots_bytes = (uint64_t)threads * CHUNK;
    arena_bytes = (bytes + CHUNK - 1) / CHUNK * CHUNK;
    arena_bytes = arena_bytes < slots_bytes ? slots_bytes : arena_bytes;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    arena = mmap(NULL, arena_bytes, PROT_READ | PROT_WRITE, flags | MAP_HUGETLB | MAP_POPULATE, -1, 0);
    pages = "huge";
    if (arena == MAP_FAILED) {
        pages = "transparent";
        arena = mmap(NULL, arena_bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
        if (arena == MAP_FAILED) {
            arena = NULL;
            return fail("no %llu MiB of memory for the arena", (unsigned long long)arena_bytes >> 20);
        }
        if (madvise(arena, arena_bytes, MADV_HUGEPAGE)) pages = "small";
    }
    for (uint64_t at = 0; at < arena_bytes; at += 4096) ((volatile uint8_t *)arena)[at] = 0; /* now, not when a copy waits for it */
    arena_stage = arena + slots_bytes;
    madvise(arena, arena_bytes, MADV_DONTFORK);
    if (copying) return true;
    copying = threads;
    return copy_start(threads);
}

/* Gives the host memory back; nothing may be in it. */
void arena_close(void) {
    if (registered) ok(driver.cuMemHostUnregister(arena), "cuMemHostUnregister");
    registered = false;
    munmap(arena, arena_bytes);
    arena = NULL;
}

bool arena_reopen(void) { return arena_open(arena_bytes, copying); }

/* Once, for the contexts of all GPUs (portable). */
bool arena_register(void) {
    if (!registered && !ok(driver.cuMemHostRegister(arena, arena_bytes, 1), "cuMemHostRegister")) return false;
    registered = true;
    return true;
}
