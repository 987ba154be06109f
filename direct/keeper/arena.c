/* Pinned host memory: a slot for each copying thread. */
#include "keeper.h"

uint8_t *arena;
static uint64_t arena_bytes;
static bool registered;

bool arena_open(unsigned threads) {
    if (arena) return true;
    if (threads) arena_bytes = (uint64_t)threads * CHUNK;
    arena = mmap(NULL, arena_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (arena == MAP_FAILED) {
        arena = NULL;
        return fail("no %llu MiB of memory for the arena", (unsigned long long)arena_bytes >> 20);
    }
    madvise(arena, arena_bytes, MADV_HUGEPAGE);
    madvise(arena, arena_bytes, MADV_DONTFORK);
    return true;
}

/* Gives the host memory back; nothing may be in it. */
void arena_close(void) {
    if (registered) ok(driver.cuMemHostUnregister(arena), "cuMemHostUnregister");
    registered = false;
    munmap(arena, arena_bytes);
    arena = NULL;
}

/* Once, for the contexts of all GPUs (portable). */
bool arena_register(void) {
    if (!registered && !ok(driver.cuMemHostRegister(arena, arena_bytes, 1), "cuMemHostRegister")) return false;
    registered = true;
    return true;
}
