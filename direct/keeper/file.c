/* Device memory in files: PATH.data, and PATH.chunks, which says what is where and its digests. */
#include "keeper.h"

#include <inttypes.h>
#include <sys/vfs.h>

#include <linux/magic.h>

static const char HEAD[] = "stasis-device 1\n";
static struct room rooms[MAX_WORKLOADS];

/* What lies where in a file, for one that is read too: CHUNK cannot change. */
struct piece *chunks_of(const struct workload *w, size_t *count) {
    size_t most = 1;
    for (uint32_t i = 0; i < w->count; i++) most += w->items[i].bytes / CHUNK + 1;
    struct piece *chunks = calloc(most, sizeof *chunks);
    uint64_t offset = 0;
    *count = 0;
    for (uint32_t i = 0; chunks && i < w->count; i++) {
        for (uint64_t at = 0; at < w->items[i].bytes; at += CHUNK) {
            uint64_t left = w->items[i].bytes - at;
            struct piece chunk = {.item = i, .at = at, .length = left < CHUNK ? (uint32_t)left : CHUNK, .offset = offset};
            offset += chunk.length;
            chunks[(*count)++] = chunk;
        }
    }
    return chunks;
}

static const char *name_of(const char *path, const char *suffix) {
    static __thread char name[4096 + 16];
    snprintf(name, sizeof name, "%s%s", path, suffix);
    return name;
}

static int file_create(const char *path, const char *suffix) {
    int fd = open(name_of(path, suffix), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) fail("%s%s: %s", path, suffix, strerror(errno));
    return fd;
}

/*
 * Many threads write to one file of a tmpfs only one after the other, but they may fill its pages side by side. NULL: it is not on a
 * tmpfs, or the kernel is older than 5.14.
 */
static void *map_tmpfs(int file, uint64_t bytes) {
    struct statfs where;
    if (fstatfs(file, &where) || where.f_type != TMPFS_MAGIC || madvise(NULL, 0, MADV_POPULATE_WRITE)) return NULL;
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (map == MAP_FAILED) return NULL;
    madvise(map, bytes, MADV_HUGEPAGE);
    return map;
}

struct room *room_of(const char *path) {
    for (struct room *room = rooms; room < rooms + MAX_WORKLOADS; room++) if (strcmp(room->path, path) == 0) return room;
    return NULL;
}

static void room_drop(struct room *room) {
    if (room->pinned) ok(driver.cuMemHostUnregister(room->map), "cuMemHostUnregister");
    if (room->map) munmap(room->map, room->bytes);
    if (!room->saved) unlink(name_of(room->path, ".data"));
    close(room->fd);
    *room->path = 0;
}

static bool room_new(struct room *room, const char *path, uint64_t bytes) {
    int fd = file_create(path, ".data");
    if (fd < 0) return false;
    *room = (struct room){.fd = fd, .bytes = bytes};
    snprintf(room->path, sizeof room->path, "%s", path);
    if (ftruncate(fd, (off_t)bytes) == 0) {
        room->map = map_tmpfs(fd, bytes);
        return true;
    }
    fail("%s.data: %s", path, strerror(errno));
    room_drop(room);
    return false;
}

/* The pages are made by all copying threads side by side: to clear them is most of the work. */
static bool pin(struct room *room, int device) {
    struct item all = {.device = device, .bytes = room->bytes};
    struct workload one = {.items = &all, .count = 1};
    struct job job = {.kind = COPY_POPULATE, .w = &one, .map = room->map};
    struct statfs where;
    if (!room->map) return fail("%s.data is not on a tmpfs, or the kernel is too old", room->path);
    if (fstatfs(room->fd, &where)) return fail("%s.data: %s", room->path, strerror(errno));
    if (where.f_bavail * (uint64_t)where.f_bsize < room->bytes) return fail("%s.data: %s", room->path, strerror(ENOSPC));
    room->pinned = copy_run(&job) && ok(driver.cuMemHostRegister(room->map, room->bytes, 1), "cuMemHostRegister");
    free(job.chunks);
    return room->pinned;
}

bool room_make(const char *uuid, uint64_t bytes, const char *path) {
    if (room_of(path)) return fail("%s has room already", path);
    if (!bytes || bytes % GRANULE) return fail("expected a multiple of %d bytes, got %llu", GRANULE, (unsigned long long)bytes);
    int device = cuda_device(NULL, uuid, true);
    struct room *room = room_of(""); /* an unused entry */
    bool made = device >= 0 && (room || fail("too many data files")) && room_new(room, path, bytes), done = made && pin(room, device);
    if (made && !done) room_drop(room);
    return done;
}

void rooms_close(void) {
    for (struct room *room = rooms; room < rooms + MAX_WORKLOADS; room++) if (*room->path) room_drop(room);
}

/* Before the data: a node to which the files are sent as they grow finds the regions in it. */
static void print_regions(FILE *table, const struct workload *w) {
    fputs(HEAD, table);
    for (uint32_t i = 0; i < w->count; i++) {
        const struct item *item = &w->items[i];
        fprintf(table, "R %u %u %" PRIx64 " %" PRIu64 "\n", i, item->block, item->address, item->bytes);
    }
    fflush(table);
}

static void print_chunks(FILE *table, const struct piece *chunks, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct piece *chunk = &chunks[i];
        char crc[16];
        snprintf(crc, sizeof crc, chunk->zero ? "zero" : "%08x", chunk->crc);
        fprintf(table, "C %zu %u %" PRIu64 " %u %" PRIu64 " %s 16x%s\n", i, chunk->item, chunk->at, chunk->length, chunk->offset, crc, chunk->sha);
    }
    fprintf(table, "end %zu\n", count);
}

static struct call *call_for(bool (*run)(struct call *), const char *path, const struct workload *w) {
    size_t items = w ? w->count * sizeof *w->items : 0;
    struct call *call = malloc(sizeof *call + items);
    if (!call) return NULL;
    *call = (struct call){.run = run, .file.data = -1};
    snprintf(call->path, sizeof call->path, "%s", path);
    if (w) call->w = *w;
    if (w) call->w.items = memcpy(call->items, w->items, items);
    return call;
}

void call_free(struct call *call) {
    if (call) file_close(&call->file);
    free(call);
}

static bool save(struct call *call) {
    struct job *job = &call->job;
    struct room own, *room = room_of(call->path);
    if (!room && !room_new(room = &own, call->path, call->w.bytes)) return false;
    *job = (struct job){.kind = COPY_SAVE, .w = &call->w, .file = room->fd, .map = room->map, .pinned = room->pinned, .saved = job->saved};
    int chunks = file_create(call->path, ".chunks");
    FILE *table = chunks < 0 ? NULL : fdopen(chunks, "w+");
    if (table) print_regions(table, &call->w);
    bool done = table && copy_run(job);
    if (done) {
        print_chunks(table, job->chunks, job->count);
        /* The file is synced with the rest of its artifact. Here a sync would keep the program from its memory, and delay an undo. */
        done = (fflush(table) == 0 && !ferror(table) && ftruncate(room->fd, (off_t)call->w.bytes) == 0) || fail("%s: %s", call->path, strerror(errno));
    }
    done = done && copy_passes(0);
    room->saved |= done;
    if (!room->pinned) room_drop(room);
    if (table) fclose(table);
    if (!done && chunks >= 0) unlink(name_of(call->path, ".chunks"));
    free(job->chunks);
    return done;
}

bool file_save(struct workload *w, const char *path, void (*saved)(uint64_t bytes)) {
    struct room *room = room_of(path);
    if (!content_here(w)) return false;
    if (room && room->bytes < w->bytes) room_drop(room); /* the workload has grown since: nothing is staged in it */
    struct call *call = call_for(save, path, w);
    if (call) call->job.saved = saved;
    bool done = copy_call(call);
    if (done && !w->items->kept.mapped) snapshot_drop(w);
    return done;
}

static bool take_region(const char *line, struct workload *content) {
    struct item item = {.device = -1, .fd = -1};
    uint32_t number;
    bool valid = sscanf(line, "R %u %u %" SCNx64 " %" SCNu64, &number, &item.block, &item.address, &item.bytes) == 4 &&
                 number == content->count && number < MAX_ITEMS && item.bytes && item.bytes % GRANULE == 0 && item.bytes <= (1ull << 44) - content->bytes;
    if (valid) {
        content->items[content->count++] = item;
        content->bytes += item.bytes;
    }
    return valid;
}

/* Only its digests are new: what lies where follows from the regions. */
static bool take_chunk(const char *line, struct piece *chunk, size_t expected) {
    struct piece there;
    size_t number;
    char crc[16];
    int fields = sscanf(line, "C %zu %u %" SCNu64 " %u %" SCNu64 " %15s 16x%64s", &number, &there.item, &there.at, &there.length, &there.offset, crc, chunk->sha);
    chunk->zero = fields == 7 && strcmp(crc, "zero") == 0;
    return fields == 7 && number == expected && there.item == chunk->item && there.at == chunk->at && there.length == chunk->length &&
           there.offset == chunk->offset && (chunk->zero || sscanf(crc, "%8x", &chunk->crc) == 1);
}

/* It may be read while it is written, or while it arrives: then it ends somewhere in its digests. */
static bool read_table(FILE *table, struct file *file, uint64_t size) {
    char line[512];
    size_t taken = 0, end;
    file->content.items = calloc(MAX_ITEMS, sizeof *file->content.items);
    bool valid = file->content.items && fgets(line, sizeof line, table) && strcmp(line, HEAD) == 0, more = false;
    while (valid && (more = fgets(line, sizeof line, table)) && *line == 'R') valid = take_region(line, &file->content);
    file->chunks = valid ? chunks_of(&file->content, &file->count) : NULL;
    while (more && file->chunks && taken < file->count && take_chunk(line, &file->chunks[taken], taken)) {
        more = fgets(line, sizeof line, table);
        taken++;
    }
    file->whole = more && taken == file->count && file->content.bytes <= size && sscanf(line, "end %zu", &end) == 1 && end == taken;
    return file->chunks;
}

static bool open_now(struct call *call) {
    struct file *file = &call->file;
    struct stat place = {0};
    file->data = open(name_of(call->path, ".data"), O_RDONLY | O_CLOEXEC);
    FILE *table = file->data < 0 || fstat(file->data, &place) ? NULL : fopen(name_of(call->path, ".chunks"), "re");
    bool valid = table ? read_table(table, file, (uint64_t)place.st_size) || fail("%s.chunks makes no sense", call->path)
                       : fail("%s: %s", call->path, strerror(errno));
    if (table) fclose(table);
    file->device = place.st_dev;
    file->inode = place.st_ino;
    return valid;
}

bool file_open(const char *path, struct file *file) {
    struct call *call = call_for(open_now, path, NULL);
    *file = (struct file){.data = -1};
    if (call) call->opened = file;
    return copy_call(call);
}

static bool load(struct call *call) { return copy_run(&call->job); }

bool file_load(const struct file *file, enum copy kind, struct workload *w, uint64_t from, uint64_t to) {
    struct call *call = call_for(load, "", NULL);
    struct job job = {.kind = kind, .w = w, .chunks = file->chunks, .count = file->count, .file = file->data, .from = from, .to = to};
    if (call) call->job = job;
    return copy_call(call);
}

void file_close(struct file *file) {
    if (file->data >= 0) close(file->data);
    free(file->content.items);
    free(file->chunks);
    *file = (struct file){.data = -1};
}
