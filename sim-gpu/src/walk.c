/* All blocks of this process, in the order of Checkpoint and Restore: its own pages, and the
 * backings of virtual memory. */
#define _GNU_SOURCE
#include "process.h"

#include <unistd.h>

uint32_t *walk_next(struct walk *walk, int *gpu) {
    for (; walk->backing < 0 && walk->gpu < self.visible; walk->gpu++, walk->next = 0) {
        while (walk->next < self.pages[walk->gpu]) {
            uint32_t *page = &self.page[walk->gpu][walk->next++];
            if (*page != PAGE_FREE && *page != PAGE_RESERVED && !(*page & PAGE_MAPPED)) {
                *gpu = walk->gpu;
                return page;
            }
        }
    }
    walk->backing = walk->backing < 0 ? 0 : walk->backing;
    for (; walk->backing < MAX_BACKINGS; walk->backing++, walk->next = 0) {
        struct backing *backing = &self.backing[walk->backing];
        if (backing->used && walk->next < backing->count) {
            *gpu = backing->ordinal;
            return &backing->block[walk->next++];
        }
    }
    return NULL;
}

uint64_t walk_count(int ordinal) {
    struct walk walk = WALK_START;
    uint64_t count = 0;
    for (int gpu; walk_next(&walk, &gpu);) {
        count += ordinal < 0 || gpu == ordinal;
    }
    return count;
}

int vmm_shared(void) {
    int shared = 0;
    for (int i = 0; i < MAX_BACKINGS; i++) {
        shared |= self.backing[i].used && self.backing[i].shared;
    }
    return shared;
}

void vmm_leave(void) {
    for (int i = 0; i < MAX_BACKINGS; i++) {
        if (self.backing[i].used) {
            close(self.backing[i].fd);
            self.backing[i].fd = -1;
            self.backing[i].owner = 0;
        }
    }
}

void vmm_adopt(void) {
    for (int i = 0; i < MAX_BACKINGS; i++) {
        struct mapping *m = &self.mapping[i];
        int ordinal = m->address ? memory_ordinal(m->address) : 0;
        uint32_t *page = m->address ? &self.page[ordinal][memory_offset(m->address) / BLOCK_BYTES] : NULL;
        for (uint64_t j = 0; page && j < m->count; j++) {
            page[j] = PAGE_MAPPED | (page[j] & PAGE_ACCESS) | m->backing->block[m->first + j];
        }
    }
}
