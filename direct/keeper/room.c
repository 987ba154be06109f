/*
 * Files on a tmpfs that are made before the freeze, with all of their pages there and pinned: while the workload is frozen, its
 * memory comes into them at the speed of the bus.
 */
#include "keeper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

static struct room *rooms;

/* By all copying threads side by side: to clear its pages is most of the work. */
static bool populate(const struct room *room, int device) {
    struct item all = {.device = device, .bytes = room->bytes};
    struct workload one = {.items = &all, .count = 1};
    struct job job = {.kind = COPY_POPULATE, .w = &one, .map = room->map};
    job.chunks = chunks_of(&one, &job.count);
    bool done = (job.chunks || fail("out of memory")) && copy_run(&job);
    free(job.chunks);
    return done;
}

static bool fill(struct room *room, int device) {
    struct statvfs where;
    if (fstatvfs(room->fd, &where)) return fail("%s.data: %s", room->path, strerror(errno));
    if (where.f_bavail * where.f_frsize < room->bytes) return fail("%s.data: %s", room->path, strerror(ENOSPC));
    if (!(room->map = map_tmpfs(room->fd, room->bytes))) return fail("%s.data is not on a tmpfs, or the kernel is too old", room->path);
    if (!populate(room, device) || !ok(driver.cuMemHostRegister(room->map, room->bytes, 1), "cuMemHostRegister")) return false;
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
    int device = cuda_device_named(uuid);
    if (device < 0) return false;
    struct room *room = calloc(1, sizeof *room);
    char *name = strdup(path);
    int fd = (room && name) || fail("out of memory") ? file_create(path, ".data") : -1;
    if (fd < 0) {
        free(name);
        free(room);
        return false;
    }
    *room = (struct room){.path = name, .fd = fd, .bytes = bytes, .next = rooms};
    rooms = room;
    if ((ftruncate(fd, (off_t)bytes) == 0 || fail("%s.data: %s", path, strerror(errno))) && fill(room, device)) return true;
    room_drop(room);
    return false;
}

void rooms_close(void) {
    while (rooms) room_drop(rooms);
}
