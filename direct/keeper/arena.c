/* Pinned host memory: a slot for each copying thread. */
#include "keeper.h"

#include <sys/mman.h>

uint8_t *arena;
static uint64_t arena_bytes;
static unsigned copying;
static const char *pages = "small";
static bool registered;

const char *arena_pages(void) { return pages; }

bool arena_open(unsigned threads) {
    if (arena) return true;
    arena_bytes = (uint64_t)threads * CHUNK;
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

bool arena_reopen(void) { return arena_open(copying); }

/* Once, for the contexts of all GPUs (portable). */
bool arena_register(void) {
    if (!registered && !ok(driver.cuMemHostRegister(arena, arena_bytes, 1), "cuMemHostRegister")) return false;
    registered = true;
    return true;
}
