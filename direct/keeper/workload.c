/* What the keeper does with a workload: takes its memory over, gives it back. */
#include "keeper.h"

/* 60 s: for a batch of 32 allocations the driver takes milliseconds; an answer later than this never comes. */
enum { ANSWER_MS = 60000 };

struct workload workloads[MAX_WORKLOADS];

const char *note_names(uint32_t notes) {
    static char text[256];
    static const char *const names[] = {"ipc",    "export", "import", "multicast", "managed",       "tool", /* by the bits of enum gate_note */
                                        "sparse", "",       "peer",   "plain",     "unknown-entry", "handed"};
    *text = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (notes >> i & 1 && *names[i]) snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", *text ? "," : "", names[i]);
    return *text ? text : "none";
}

const char *state_name(uint32_t state) {
    static const char *const states[] = {"open", "closed", "exported", "unloaded", "loaded"};
    return state <= GATE_LOADED ? states[state] : "?";
}

const char *result_name(int result) {
    static const char *const own[] = {"", "not in this state", "busy: a call or a kernel did not end in time", "a graph is being captured",
                                      "membarrier is not permitted", "failed"};
    static char text[128];
    const char *name = NULL;
    if (result < 0) return result >= GATE_FAILED ? own[-result] : "a result that makes no sense";
    driver.cuGetErrorName(result, &name);
    snprintf(text, sizeof text, "result %d %s", result, name ? name : "");
    return text;
}

struct workload *workload_named(const char *name, bool make) {
    struct workload *unused = NULL;
    for (struct workload *w = workloads; w < workloads + MAX_WORKLOADS; w++) {
        if (strcmp(w->name, name) == 0) return w;
        unused = unused || *w->name ? unused : w;
    }
    bool room = make && unused && strlen(name) < NAME_BYTES;
    if (room && !unused->items) unused->items = calloc(MAX_ITEMS, sizeof *unused->items);
    if (!room || !unused->items) {
        fail(make ? "no room for workload '%s'" : "no workload '%s'", name);
        return NULL;
    }
    strcpy(unused->name, name);
    unused->socket = -1;
    return unused;
}

static struct item *item_of(const struct workload *w, uint32_t block) {
    for (uint32_t i = 0; i < w->count; i++) if (w->items[i].block == block) return &w->items[i];
    return NULL;
}

static bool overlaps(const struct workload *w, const struct gate_entry *entry) {
    for (uint32_t i = 0; entry->address && i < w->count; i++) {
        const struct item *item = &w->items[i];
        if (item->address < entry->address + entry->bytes && entry->address < item->address + item->bytes) return true;
    }
    return false;
}

bool workload_add(struct workload *w, const struct gate_entry *entry, int device, int fd) {
    uint64_t total = device < 0 ? 0 : cuda_total(device);
    bool valid = total > 0;
    if (valid && (w->count == MAX_ITEMS || entry->block >= MAX_ITEMS || item_of(w, entry->block) || !entry->bytes || entry->bytes % GRANULE ||
                  entry->bytes > total || w->bytes + entry->bytes > total * MAX_DEVICES || entry->address > UINT64_MAX - total || overlaps(w, entry))) {
        valid = fail("block %u of %llu bytes at %llx makes no sense", entry->block, (unsigned long long)entry->bytes, (unsigned long long)entry->address);
    }
    struct import kept;
    if (!valid || !cuda_import(device, fd, entry->bytes, &kept)) {
        close(fd);
        return false;
    }
    w->items[w->count] = (struct item){.block = entry->block, .device = device, .address = entry->address, .bytes = entry->bytes, .fd = fd, .kept = kept};
    w->count++;
    w->bytes += entry->bytes;
    return true;
}

static void let_go(struct workload *w, struct item *item) {
    cuda_drop(&item->kept, item->bytes);
    if (item->fd >= 0) {
        close(item->fd);
        item->fd = -1;
        holder_drop(w, item->block);
    }
}

void workload_drop(struct workload *w) {
    for (uint32_t i = 0; i < w->count; i++) let_go(w, &w->items[i]);
    snapshot_drop(w);
    holder_drop(w, UINT32_MAX);
    w->count = 0;
    w->bytes = 0;
}

bool workload_export(struct workload *w) {
    struct gate_reply reply;
    int fds[GATE_BATCH];
    uint64_t first = 0;
    if (!link_call(w, GATE_STATUS, 0, ANSWER_MS, &reply, NULL)) return false;
    if (reply.state != GATE_CLOSED && reply.state != GATE_EXPORTED) return fail("export: not in this state");
    workload_drop(w); /* nothing of it is away: what may be here is of the checkpoint before, or of one that was given up */
    do {
        if (!link_call(w, GATE_EXPORT, first, ANSWER_MS, &reply, fds)) return false;
        bool good = (reply.result == 0 || fail("export: %s", result_name(reply.result))) &&
                    (reply.next == 0 || (reply.next > first && reply.count) || fail("export: no end"));
        uint32_t before = w->count;
        for (uint32_t i = 0; i < reply.count; i++) {
            if (good) good = workload_add(w, &reply.entry[i], cuda_device(reply.entry[i].uuid, NULL, false), fds[i]);
            else close(fds[i]);
        }
        if (!good || !holder_put(w, before)) return false;
        first = reply.next;
    } while (first);
    return w->count == reply.blocks || fail("expected %u blocks, got %u", reply.blocks, w->count);
}

/* Maps the fresh memory of an entry. */
static bool take_fresh(struct item *item, const struct gate_entry *entry, int fd, bool from_file) {
    if (!item || item->fresh.mapped) return fail("block %u is not in what is kept", entry->block);
    if (item->bytes != entry->bytes || item->address != entry->address) return fail("block %u changed its place or size", entry->block);
    int device = cuda_device(entry->uuid, NULL, false);
    if (device < 0 || !cuda_import(device, fd, item->bytes, &item->fresh)) return false;
    if (from_file && device != item->device) { /* the restored process may have another GPU */
        snapshot_release(item);
        item->device = device;
    }
    return true;
}

/* One batch of fresh memory: what is not in the keeper comes from the file. */
static bool fill(struct workload *w, const struct file *file, struct item **batch, uint32_t count) {
    if (file && !file_load(file, COPY_LOAD, w, 0, UINT64_MAX)) return false;
    for (uint32_t i = 0; i < count; i++) if ((!file || batch[i]->snapshot) && !copy_device(batch[i]->fresh.mapped, batch[i])) return false;
    for (uint32_t i = 0; i < count; i++) if (!cuda_use(batch[i]->device) || !ok(driver.cuCtxSynchronize(), "cuCtxSynchronize")) return false;
    return true;
}

/*
 * Half of what is free, so that the workload's own small allocations never fail for it; a batch has one block at least. Which GPUs
 * memory from a file belongs to is known with its first batch.
 */
static uint64_t window_of(const struct workload *w) {
    uint64_t least = UINT64_MAX, left;
    uint32_t asked = 0;
    for (uint32_t i = 0; i < w->count; i++) {
        int device = w->items[i].device;
        if (device < 0 || asked >> device & 1) continue;
        if (cuda_free(device, &left) && left < least) least = left;
        asked |= 1u << device;
    }
    return asked ? least / 2 : 0;
}

static bool reload(struct workload *w, const struct file *file) {
    struct gate_reply reply;
    uint64_t copied = 0;
    int fds[GATE_BATCH];
    for (;;) {
        if (!link_call(w, GATE_RELOAD, window_of(w), ANSWER_MS, &reply, fds)) return false;
        if (reply.state == GATE_LOADED || reply.result || !reply.count) {
            close_all(fds, reply.count);
            if (file && reply.result && snapshot_here(w)) { /* what was prefilled may be what is missing */
                snapshot_drop(w);
                continue;
            }
            return (reply.state == GATE_LOADED && !reply.result && add_bytes(copied)) || fail("reload: %s", result_name(reply.result));
        }
        struct item *batch[GATE_BATCH];
        uint32_t count = 0;
        bool done = true;
        while (done && count < reply.count) {
            batch[count] = item_of(w, reply.entry[count].block);
            done = take_fresh(batch[count], &reply.entry[count], fds[count], file);
            count += done;
        }
        done = done && fill(w, file, batch, count);
        close_all(fds, reply.count);
        for (uint32_t i = 0; i < count; i++) cuda_drop(&batch[i]->fresh, batch[i]->bytes);
        if (!done || !link_call(w, GATE_FILLED, 0, ANSWER_MS, &reply, NULL)) return false;
        if (reply.result) return fail("reload: %s", result_name(reply.result));
        /* The content is the workload's again, and the room is needed for the next batch. */
        for (uint32_t i = 0; i < count; i++) {
            copied += batch[i]->bytes;
            let_go(w, batch[i]);
            if (file) snapshot_release(batch[i]);
        }
        if (copied > w->bytes) return fail("reload: no end"); /* a block is asked for once */
    }
}

bool workload_reload(struct workload *w, const char *path) {
    struct file file;
    if (!path) {
        bool back = reload(w, NULL);
        for (uint32_t i = 0; back && i < w->count; i++) let_go(w, &w->items[i]); /* what a keeper that died had given back */
        return back;
    }
    if (w->count) return fail("%s: its memory is kept here; it needs no file", w->name);
    if (!file_open(path, &file)) return false;
    prefill_take(&file);
    memcpy(w->items, file.content.items, file.content.count * sizeof *w->items);
    w->count = file.content.count;
    w->bytes = file.content.bytes;
    bool done = file.whole ? reload(w, &file) : fail("%s.chunks is damaged or not complete, or %s.data is too short", path, path);
    snapshot_drop(w); /* of blocks that were not asked for */
    w->count = 0;
    w->bytes = 0;
    file_close(&file);
    return done;
}
