/*
 * Files on a tmpfs that are made before the freeze, with all of their pages there and pinned: while the workload is frozen, its
 * memory comes into them at the speed of the bus.
 */
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { STRIPES = 16 };

struct stripe {
    uint8_t *at;
    uint64_t bytes;
    int error;
};

static struct room *rooms;

static void *populate(void *of) {
    struct stripe *stripe = of;
    if (stripe->bytes && madvise(stripe->at, stripe->bytes, MADV_POPULATE_WRITE)) stripe->error = errno;
    return NULL;
}

/* Side by side: to clear its pages is most of the work. */
static bool populate_all(const struct room *room) {
    struct stripe stripes[STRIPES] = {0};
    pthread_t threads[STRIPES];
    bool begun[STRIPES];
    uint64_t each = (room->bytes / STRIPES / GRANULE + 1) * GRANULE, at = 0;
    int error = 0;
    for (int i = 0; i < STRIPES; i++) {
        uint64_t left = room->bytes - at;
        stripes[i] = (struct stripe){.at = room->map + at, .bytes = left < each ? left : each};
        at += stripes[i].bytes;
        begun[i] = pthread_create(&threads[i], NULL, populate, &stripes[i]) == 0;
        if (!begun[i]) populate(&stripes[i]);
    }
    for (int i = 0; i < STRIPES; i++) {
        if (begun[i]) pthread_join(threads[i], NULL);
        if (stripes[i].error) error = stripes[i].error;
    }
    return !error || fail("no room for %llu MiB: %s", (unsigned long long)room->bytes >> 20, strerror(error));
}

static bool fill(struct room *room) {
    struct statvfs where;
    if (fstatvfs(room->fd, &where)) return fail("%s.data: %s", room->path, strerror(errno));
    if (where.f_bavail * where.f_frsize < room->bytes) return fail("%s.data: %s", room->path, strerror(ENOSPC));
    if (!(room->map = map_tmpfs(room->fd, room->bytes))) return fail("%s.data is not on a tmpfs, or the kernel is too old", room->path);
    if (!populate_all(room) || !ok(driver.cuMemHostRegister(room->map, room->bytes, 1), "cuMemHostRegister")) return false;
    return room->registered = true;
}

struct room *room_of(const char *path) {
    struct room *room = rooms;
    while (room && strcmp(room->path, path) != 0) room = room->next;
    return room;
}

void room_drop(struct room *room) {
    struct room **at = &rooms;
    while (*at != room) at = &(*at)->next;
    *at = room->next;
    if (room->registered) ok(driver.cuMemHostUnregister(room->map), "cuMemHostUnregister");
    if (room->map) munmap(room->map, room->bytes);
    if (!room->saved) file_remove(room->path, ".data");
    close(room->fd);
    free(room->path);
    free(room);
}

bool room_make(const char *uuid, uint64_t bytes, const char *path) {
    if (room_of(path)) return fail("%s has room already", path);
    if (!bytes || bytes % GRANULE) return fail("expected a multiple of %d bytes, got %llu", GRANULE, (unsigned long long)bytes);
    if (cuda_device_named(uuid) < 0) return false;
    int fd = file_create(path, ".data");
    struct room *room = fd < 0 ? NULL : calloc(1, sizeof *room);
    if (!room || !(room->path = strdup(path))) {
        free(room);
        if (fd < 0) return false;
        close(fd);
        file_remove(path, ".data");
        return fail("out of memory");
    }
    room->fd = fd;
    room->bytes = bytes;
    room->next = rooms;
    rooms = room;
    if ((ftruncate(fd, (off_t)bytes) == 0 || fail("%s.data: %s", path, strerror(errno))) && fill(room)) return true;
    room_drop(room);
    return false;
}

void rooms_close(void) {
    while (rooms) room_drop(rooms);
}
