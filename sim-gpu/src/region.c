/* The host memory for the device bytes: one private anonymous mapping, placed as unfavorably as by
 * the real driver. */
#define _GNU_SOURCE
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RESERVATION (2ull << 20)
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static uint8_t *base;
static uint64_t length;
static void *reservation[2];

/* The relevant part of one line of maps: the program's own memory, and its end. */
struct place {
    uint64_t end;      /* of the mapping before */
    uint64_t size;     /* end of the mapping if it is the program's anonymous memory, else 0 */
    uint64_t best;     /* start of the region; 0 for none */
    uint64_t best_size;
};

static void consider(struct place *place, uint64_t at, uint64_t size) {
    if (size > place->best_size) {
        place->best = at;
        place->best_size = size;
    }
}

static void look_at(struct place *place, const char *line, uint64_t bytes) {
    unsigned long long start, end, offset, inode;
    char perms[5];
    int name = 0;
    if (sscanf(line, "%llx-%llx %4s %llx %*s %llu %n", &start, &end, perms, &offset, &inode, &name) < 5) {
        return;
    }
    uint64_t size = strcmp(perms, "rw-p") == 0 && inode == 0 && line[name] == 0 ? end - start : 0;
    if (start - place->end >= bytes + 2 * RESERVATION && place->end) {
        consider(place, place->end, place->size);
        consider(place, start - bytes, size);
    }
    place->end = end;
    place->size = size;
}

/* Beside the largest anonymous mapping of the program that has space beside it, so that the kernel
 * merges the two. */
static uint64_t find_place(uint64_t bytes) {
    static char text[16384]; /* not on the heap: a forked or stopped program may hold malloc's lock */
    struct place place = {0};
    size_t have = 0;
    ssize_t n;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && (n = read(fd, text + have, sizeof text - 1 - have)) > 0) {
        have += (size_t)n;
        text[have] = 0;
        char *line = text;
        for (char *end; (end = strchr(line, '\n')); line = end + 1) {
            *end = 0;
            look_at(&place, line, bytes);
        }
        have = strlen(line);
        memmove(text, line, have);
    }
    if (fd >= 0) {
        close(fd);
    }
    return place.best;
}

int region_map(uint64_t bytes, int merge) {
    void *map = MAP_FAILED;
    /* Another thread may take the address between the check and the call. */
    for (int attempt = 0; merge && map == MAP_FAILED && attempt < 3; attempt++) {
        uint64_t at = find_place(bytes);
        if (!at) {
            break;
        }
        map = mmap((void *)(uintptr_t)at, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    }
    if (map == MAP_FAILED) {
        map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    if (map == MAP_FAILED) {
        return -errno;
    }
    base = map;
    length = bytes;
    for (int i = 0; i < 2; i++) {
        uint8_t *beside = i ? base + bytes : base - RESERVATION;
        reservation[i] = mmap(beside, RESERVATION, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    }
    return 0;
}

uint8_t *region_base(void) { return base; }

int region_populate(uint64_t bytes, uint32_t slow_us_per_mib) {
    uint64_t step = slow_us_per_mib ? 8ull << 20 : bytes; /* one call for all, as in the real driver, unless slowed down */
    for (uint64_t done = 0; done < bytes; done += step) {
        uint64_t size = bytes - done < step ? bytes - done : step;
        if (madvise(base + done, size, MADV_POPULATE_WRITE)) {
            if (errno != EINVAL) {
                return -errno;
            }
            memset(base + done, 0, size); /* kernels before 5.14 */
        }
        hidden_work((long)((size >> 20) * slow_us_per_mib / 1000), 0);
    }
    return 0;
}

void region_unmap(void) {
    munmap(base, length);
    for (int i = 0; i < 2; i++) {
        if (reservation[i] != MAP_FAILED) {
            munmap(reservation[i], RESERVATION);
        }
    }
}
