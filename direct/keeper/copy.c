/*
 * The copying threads. Each has a stream for each GPU and a pinned slot; it takes chunks one after the other. A store that does not
 * respond holds them in the kernel, and the thread that opens and closes its files. Then they are left behind.
 */
#include "keeper.h"

#include <pthread.h>
#include <time.h>

#include "move.h" /* crc32c and the digests of an artifact, from runtime/ */
#undef CHUNK

/* 2 s: what a thread does in the store takes milliseconds, and an undo may wait for it. Each that is left behind has an arena. */
enum { SILENCE_S = 2, MOST_LEFT = 4 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t begun = PTHREAD_COND_INITIALIZER, finished = PTHREAD_COND_INITIALIZER;
static struct crew {
    struct call *call;
    struct job *job;
    size_t next_chunk, round;
    unsigned threads, numbered, at_work, busy; /* busy: at work, and not in the store */
    uint8_t *slots;
    int agent;                   /* the connection that is closed at the end of what was left behind, or -1 */
    char reason[sizeof failure]; /* of the first chunk that failed, or of the call */
    bool broken, ended, done, left;
} *crew;
static __thread struct crew *mine;
static unsigned size;
_Atomic unsigned left_behind;

/* Once it is false, nothing may be used but what belongs to the call. */
bool copy_passes(int busy) {
    pthread_mutex_lock(&mutex);
    mine->busy += (unsigned)busy;
    bool left = mine->left;
    pthread_mutex_unlock(&mutex);
    return !left || fail("the store responded too late");
}

/* All of it, from the file or into it. */
static bool transfer(int fd, uint8_t *data, size_t length, uint64_t at, bool in) {
    for (ssize_t n; length; data += n, length -= (size_t)n, at += (uint64_t)n) {
        copy_passes(-1);
        n = in ? pread(fd, data, length, (off_t)at) : pwrite(fd, data, length, (off_t)at);
        if (!copy_passes(1)) return false;
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
    for (const struct workload *w = workloads; w < workloads + MAX_WORKLOADS; w++) if (snapshot_in_the_way(w)) return true;
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

static void *work(void *of) {
    struct crew *c = mine = of;
    void *streams[MAX_DEVICES] = {0};
    size_t seen = 0;
    pthread_mutex_lock(&mutex);
    for (unsigned number = c->numbered++;;) {
        while (c->round == seen && !c->left) pthread_cond_wait(&begun, &mutex);
        if (c->round == seen) break;
        seen = c->round;
        while (c->next_chunk < c->job->count && !c->broken) {
            struct piece *chunk = &c->job->chunks[c->next_chunk++];
            if (c->job->kind >= COPY_LOAD && !target_of(c->job, chunk)) continue;
            pthread_mutex_unlock(&mutex);
            bool done = one(c->job, chunk, c->slots + (uint64_t)number * CHUNK, streams);
            pthread_mutex_lock(&mutex);
            if (!done && !c->broken) memcpy(c->reason, failure, sizeof c->reason);
            c->broken |= !done;
            if (!c->left) chunk->done = done;
            pthread_cond_broadcast(&finished);
        }
        c->busy--;
        if (--c->at_work == 0) pthread_cond_broadcast(&finished);
    }
    pthread_mutex_unlock(&mutex);
    return NULL;
}

bool copy_start(unsigned threads) {
    pthread_t thread;
    size = threads ? threads : size;
    if (!arena_open(size)) return false;
    if (!crew && !(crew = calloc(1, sizeof *crew))) return fail("out of memory");
    for (; crew->threads < size; crew->threads++) {
        if (pthread_create(&thread, NULL, work, crew)) return fail("cannot start thread %u", crew->threads);
        pthread_detach(thread);
    }
    crew->slots = arena; /* it moves while the keeper rests */
    return true;
}

bool copy_run(struct job *j) {
    if (!j->chunks && !(j->chunks = chunks_of(j->w, &j->count))) return fail("out of memory");
    if (!mine && !copy_start(0)) return false;
    struct crew *c = mine ? mine : crew;
    pthread_mutex_lock(&mutex);
    c->job = j;
    c->next_chunk = 0;
    c->broken = c->left;
    c->at_work = c->busy = c->left ? 0 : c->threads;
    c->round += !c->left;
    pthread_cond_broadcast(&begun);
    for (size_t whole = 0; c->at_work;) {
        pthread_cond_wait(&finished, &mutex);
        while (!c->left && whole < j->count && j->chunks[whole].done) whole++;
        if (j->saved && !c->left && whole && whole < j->count) j->saved(j->chunks[whole].offset);
    }
    pthread_mutex_unlock(&mutex);
    return !c->broken || fail("%s", c->reason);
}

/* The thread of a call. Of one that was left behind it also ends what the keeper has forgotten. */
static void *answer(void *of) {
    struct crew *c = mine = of;
    bool done = c->call->run(c->call);
    pthread_mutex_lock(&mutex);
    c->done = done;
    c->ended = true;
    memcpy(c->reason, failure, sizeof c->reason);
    bool left = c->left;
    pthread_cond_broadcast(&finished);
    pthread_mutex_unlock(&mutex);
    if (left) call_free(c->call), arena_close(c->slots), close(c->agent), left_behind--;
    return NULL;
}

bool copy_call(struct call *call) {
    pthread_t thread;
    if (!call || left_behind >= MOST_LEFT || !copy_start(0) || (crew->call = call, crew->ended = false, pthread_create(&thread, NULL, answer, crew))) {
        call_free(call);
        return left_behind < MOST_LEFT ? fail("no memory or thread for a copy") : fail("expected a store that responds, got %u calls that wait", MOST_LEFT);
    }
    pthread_detach(thread);
    struct crew *c = crew;
    pthread_mutex_lock(&mutex);
    while (!c->ended && !c->left) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += SILENCE_S;
        bool silent = pthread_cond_clockwait(&finished, &mutex, CLOCK_MONOTONIC, &until) != 0;
        c->left = silent && !c->ended && !c->busy && (closed(agent) || any_in_the_way());
    }
    bool left = c->left, done = !left && c->done;
    snprintf(failure, sizeof failure, "%s", left ? "the store does not respond" : c->reason);
    if (left) {
        left_behind++;
        c->broken = true;
        c->agent = closed(agent) ? agent : -1;
        agent = c->agent < 0 ? agent : -1;
        crew = NULL, arena = NULL; /* a thread may still write into it */
        pthread_cond_broadcast(&begun);
    }
    pthread_mutex_unlock(&mutex);
    if (done && call->opened) *call->opened = call->file, call->file = (struct file){.data = -1};
    if (!left) call_free(call);
    return done;
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
    for (uint32_t i = 0; i < w->count; i++) if (w->items[i].snapshot) return true;
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
