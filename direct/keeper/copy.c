/* The copying threads. Each has a stream for each GPU and a pinned slot; it takes chunks one after the other. */
#include "keeper.h"

#include <pthread.h>

#include "move.h" /* crc32c and the digests of an artifact, from runtime/ */
#undef CHUNK

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t begun = PTHREAD_COND_INITIALIZER, finished = PTHREAD_COND_INITIALIZER;
static struct job *job;
static size_t next_chunk, round_number;
static unsigned crew, at_work;
static char reason[sizeof failure]; /* of the first chunk that failed */
static bool broken;

/* All of it, from the file or into it. */
static bool transfer(int fd, uint8_t *data, size_t length, uint64_t at, bool in) {
    for (ssize_t n; length; data += n, length -= (size_t)n, at += (uint64_t)n) {
        n = in ? pread(fd, data, length, (off_t)at) : pwrite(fd, data, length, (off_t)at);
        if (n <= 0) return fail("%s: %s", in ? "read" : "write", n ? strerror(errno) : "the file is too short");
    }
    return true;
}

static void digest(const uint8_t *data, size_t length, char *text) {
    struct lanes lanes;
    uint8_t sha[32];
    lanes_begin(&lanes);
    lanes_rows(&lanes, data, length); /* GPU memory comes in granules of 2 MiB: whole rows */
    lanes_end(&lanes, sha);
    for (int i = 0; i < 32; i++) sprintf(text + 2 * i, "%02x", sha[i]);
}

/* An error where a write to the mapping would be a SIGBUS. */
static bool populate(const struct job *j, const struct piece *chunk) {
    return madvise(j->map + chunk->offset, chunk->length, MADV_POPULATE_WRITE) == 0 || fail("no room for the data file: %s", strerror(errno));
}

static bool save(const struct job *j, struct piece *chunk, uint8_t *data) {
    chunk->zero = data[0] == 0 && memcmp(data, data + 1, chunk->length - 1) == 0;
    chunk->crc = crc32c(0, data, chunk->length);
    digest(data, chunk->length, chunk->sha);
    if (chunk->zero || (j->map && data == j->map + chunk->offset)) return true;
    if (!j->map) return transfer(j->file, data, chunk->length, chunk->offset, false);
    if (!populate(j, chunk)) return false;
    memcpy(j->map + chunk->offset, data, chunk->length);
    return true;
}

/* What has been computed of a chunk that has arrived is compared when the table is complete. */
static bool load(const struct job *j, struct piece *chunk, uint8_t *data) {
    char sha[65];
    if (chunk->zero && j->kind != COPY_ARRIVED) {
        memset(data, 0, chunk->length);
        return true;
    }
    if (!transfer(j->file, data, chunk->length, chunk->offset, true)) return false;
    digest(data, chunk->length, j->kind == COPY_ARRIVED ? chunk->sha : sha);
    return j->kind == COPY_ARRIVED || strcmp(sha, chunk->sha) == 0 ||
           fail("wrong digest at offset %llu of the data file", (unsigned long long)chunk->offset);
}

static bool closed(int connection) {
    struct pollfd wait = {.fd = connection, .events = POLLRDHUP};
    return poll(&wait, 1, 0) > 0 && wait.revents & (POLLRDHUP | POLLHUP | POLLERR);
}

/* Where a chunk is loaded to; 0: nowhere, or it is there. What was prefilled is copied as a whole. */
static uint64_t target_of(const struct job *j, const struct piece *chunk) {
    const struct item *item = &j->w->items[chunk->item];
    if (chunk->offset < j->from || chunk->offset + chunk->length > j->to) return 0;
    return j->kind == COPY_LOAD ? (item->snapshot ? 0 : item->fresh.mapped) : chunk->done ? 0 : item->snapshot;
}

static bool any_in_the_way(void) {
    for (const struct workload *w = workloads; w < workloads + MAX_WORKLOADS; w++) {
        if (snapshot_in_the_way(w)) return true;
    }
    return false;
}

static bool one(const struct job *j, struct piece *chunk, uint8_t *slot, void **streams) {
    const struct item *item = &j->w->items[chunk->item];
    bool loads = j->kind >= COPY_LOAD;
    void **stream = &streams[item->device];
    if (j->kind == COPY_POPULATE) return populate(j, chunk);
    if (j->kind == COPY_SAVE && !item->kept.mapped && any_in_the_way()) return fail("the program needs the device memory of its copy");
    /* The agent has given up, and its next command, such as a thaw, must not wait for this copy. */
    bool wanted = j->kind >= COPY_PREFILL || (j->kind == COPY_SAVE && item->kept.mapped);
    if (wanted && closed(agent)) return fail("the agent has closed its connection");
    if (!cuda_use(item->device)) return false;
    if (!*stream && !ok(driver.cuStreamCreate(stream, 1), "cuStreamCreate")) return false; /* does not wait for the default stream */
    uint8_t *host = item->staged ? item->staged + chunk->at : j->pinned ? j->map + chunk->offset : slot;
    if (loads) {
        uint64_t to = target_of(j, chunk) + chunk->at;
        if (!load(j, chunk, host) || !ok(driver.cuMemcpyHtoDAsync(to, host, chunk->length, *stream), "cuMemcpyHtoDAsync")) return false;
    } else if (!item->staged || j->kind == COPY_STAGE) {
        uint64_t from = (item->kept.mapped ? item->kept.mapped : item->snapshot) + chunk->at;
        if (!ok(driver.cuMemcpyDtoHAsync(host, from, chunk->length, *stream), "cuMemcpyDtoHAsync")) return false;
    }
    return ok(driver.cuStreamSynchronize(*stream), "cuStreamSynchronize") && (j->kind != COPY_SAVE || save(j, chunk, host));
}

static void *work(void *number) {
    void *streams[MAX_DEVICES] = {0};
    size_t seen = 0;
    pthread_mutex_lock(&mutex);
    for (;;) {
        while (round_number == seen) pthread_cond_wait(&begun, &mutex);
        seen = round_number;
        uint8_t *slot = arena + (uintptr_t)number * CHUNK; /* the arena moves while the keeper rests */
        while (next_chunk < job->count && !broken) {
            struct piece *chunk = &job->chunks[next_chunk++];
            if (job->kind >= COPY_LOAD && !target_of(job, chunk)) continue;
            pthread_mutex_unlock(&mutex);
            bool done = one(job, chunk, slot, streams);
            pthread_mutex_lock(&mutex);
            if (!done && !broken) memcpy(reason, failure, sizeof reason);
            broken |= !done;
            chunk->done = done;
            if (job->saved) pthread_cond_signal(&finished);
        }
        if (--at_work == 0) pthread_cond_signal(&finished);
    }
    return NULL;
}

bool copy_start(unsigned threads) {
    pthread_t thread;
    for (; crew < threads; crew++) {
        if (pthread_create(&thread, NULL, work, (void *)(uintptr_t)crew)) return fail("cannot start thread %u", crew);
        pthread_detach(thread);
    }
    return true;
}

bool copy_run(struct job *j) {
    if (!j->chunks && !(j->chunks = chunks_of(j->w, &j->count))) return fail("out of memory");
    pthread_mutex_lock(&mutex);
    job = j;
    next_chunk = 0;
    broken = false;
    at_work = crew;
    round_number++;
    pthread_cond_broadcast(&begun);
    for (size_t whole = 0; at_work;) {
        pthread_cond_wait(&finished, &mutex);
        while (whole < j->count && j->chunks[whole].done) whole++;
        if (j->saved && whole && whole < j->count) j->saved(j->chunks[whole].offset);
    }
    job = NULL;
    pthread_mutex_unlock(&mutex);
    return !broken || fail("%s", reason);
}

bool copy_device(uint64_t to, const struct item *item) {
    if (!cuda_use(item->device)) return false;
    uint64_t from = item->kept.mapped ? item->kept.mapped : item->snapshot;
    if (from) return ok(driver.cuMemcpyDtoDAsync(to, from, item->bytes, NULL), "cuMemcpyDtoDAsync");
    return (item->staged || fail("block %u: its content is not here", item->block)) &&
           ok(driver.cuMemcpyHtoDAsync(to, item->staged, item->bytes, NULL), "cuMemcpyHtoDAsync");
}

bool content_here(const struct workload *w) {
    for (uint32_t i = 0; i < w->count; i++) {
        const struct item *item = &w->items[i];
        if (!item->kept.mapped && !item->snapshot && !item->staged) return fail("block %u: its content is not here", item->block);
    }
    return w->count || fail("%s: nothing of it is here", w->name);
}

bool snapshot_here(const struct workload *w) {
    for (uint32_t i = 0; i < w->count; i++) {
        if (w->items[i].snapshot) return true;
    }
    return false;
}

bool snapshot_in_the_way(const struct workload *w) { return link_wanted(w) != w->wanted && snapshot_here(w); }

void snapshot_release(struct item *item) {
    if (item->snapshot && cuda_use(item->device)) {
        driver.cuMemFree(item->snapshot);
        item->snapshot = 0;
    }
}

void snapshot_drop(struct workload *w) {
    for (uint32_t i = 0; i < w->count; i++) snapshot_release(&w->items[i]);
}

bool snapshot_make(struct workload *w, uint64_t reserve) {
    uint64_t need[MAX_DEVICES] = {0}, largest = 0, left;
    if (!content_here(w)) return false;
    if (snapshot_here(w)) return true; /* an export drops that of the checkpoint before */
    w->wanted = link_wanted(w);
    for (uint32_t i = 0; i < w->count; i++) {
        need[w->items[i].device] += w->items[i].bytes;
        largest = w->items[i].bytes > largest ? w->items[i].bytes : largest;
    }
    reserve += largest; /* the reload has a block twice */
    for (int d = 0; d < MAX_DEVICES; d++) {
        if (need[d] && (!cuda_free(d, &left) || left < need[d] + reserve)) {
            return fail("GPU %d: expected %llu MiB free for a snapshot, got %llu", d, (unsigned long long)(need[d] + reserve) >> 20,
                        (unsigned long long)left >> 20);
        }
    }
    bool made = true;
    for (uint32_t i = 0; i < w->count && made; i++) {
        struct item *item = &w->items[i];
        uint64_t to = 0;
        made = cuda_use(item->device) && ok(driver.cuMemAlloc(&to, item->bytes), "cuMemAlloc") && copy_device(to, item);
        item->snapshot = to;
    }
    for (int d = 0; d < MAX_DEVICES && made; d++) made = !need[d] || (cuda_use(d) && ok(driver.cuCtxSynchronize(), "cuCtxSynchronize"));
    if (!made) snapshot_drop(w);
    return made;
}

bool stage_make(struct workload *w, const char *path) {
    const struct room *room = room_of(path);
    if (!content_here(w)) return false;
    if (!room || room->bytes < w->bytes) {
        return fail("%s: expected room for %llu MiB, got %llu", path, (unsigned long long)w->bytes >> 20, (unsigned long long)(room ? room->bytes : 0) >> 20);
    }
    uint64_t at = 0;
    for (uint32_t i = 0; i < w->count; at += w->items[i++].bytes) w->items[i].staged = room->map + at;
    struct job j = {.kind = COPY_STAGE, .w = w};
    bool done = copy_run(&j);
    free(j.chunks);
    for (uint32_t i = 0; i < w->count && !done; i++) w->items[i].staged = NULL;
    return done;
}
