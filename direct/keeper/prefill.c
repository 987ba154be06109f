/*
 * Content of files that waits on a GPU for the process to which it will belong: while that process is being restored, or even while the
 * files arrive from another node.
 */
#include "keeper.h"

static struct prefill {
    struct file file; /* the snapshot of an item: where its content is, or 0; without items: unused entry */
    uint64_t bytes;   /* of those that have one */
    bool loaded;      /* and checked: before, nothing may be used */
} prefills[MAX_WORKLOADS];

/* As much as leaves the reserve free; the rest comes from the file. */
static bool take(struct prefill *p, int device, uint64_t reserve) {
    uint64_t left;
    for (uint32_t i = 0; i < p->file.content.count; i++) {
        struct item *item = &p->file.content.items[i];
        item->device = device;
        if (!cuda_free(device, &left)) return false;
        if (left < reserve || left - reserve < item->bytes) continue;
        if (!ok(driver.cuMemAlloc(&item->snapshot, item->bytes), "cuMemAlloc")) return false;
        p->bytes += item->bytes;
    }
    return true;
}

/* Also after the file has got another name. NULL: an unused entry. */
static struct prefill *find(const struct file *file) {
    for (struct prefill *p = prefills; p < prefills + MAX_WORKLOADS; p++) {
        bool used = p->file.content.items;
        if (file ? used && p->file.inode == file->inode && p->file.device == file->device : !used) return p;
    }
    return NULL;
}

static void drop(struct prefill *p) {
    snapshot_drop(&p->file.content);
    file_close(&p->file);
}

/*
 * What was loaded while the file arrived stays, as far as its digests are those of the table, which is complete now; the rest is loaded
 * again. Not if it is on another GPU, or lies elsewhere in the file than was said.
 */
static bool keep(struct prefill *old, struct prefill *now, int device) {
    struct item *from = old->file.content.items, *to = now->file.content.items;
    bool same = !old->file.whole && now->file.whole && old->file.content.count == now->file.content.count && from->device == device;
    for (uint32_t i = 0; same && i < now->file.content.count; i++)
        same = from[i].block == to[i].block && from[i].address == to[i].address && from[i].bytes == to[i].bytes;
    if (!same) return false;
    for (size_t i = 0; i < now->file.count; i++)
        now->file.chunks[i].done = old->file.chunks[i].done && strcmp(now->file.chunks[i].sha, old->file.chunks[i].sha) == 0;
    now->file.content.items = from;
    old->file.content.items = to;
    now->bytes = old->bytes;
    return true;
}

bool prefill_reserve(const char *uuid, uint64_t reserve, const char *path) {
    struct prefill *p = NULL, made = {.file.data = -1};
    uint64_t left;
    int device = cuda_device(NULL, uuid, true);
    bool done = device >= 0 && file_open(path, &made.file) && ((p = find(&made.file)) || true);
    bool kept = done && p && cuda_free(device, &left) && left >= reserve && keep(p, &made, device);
    if (p) drop(p); /* what is left of an agent that did not come to its reload */
    done = done && (kept || take(&made, device, reserve)) && ((p = find(NULL)) || fail("too many reservations"));
    if (done) *p = made;
    else drop(&made);
    return done && add_bytes(made.bytes);
}

/* Nothing of a damaged file stays. What has arrived is checked later. */
bool prefill_load(const char *path, uint64_t from, uint64_t to) {
    bool arrives = to < UINT64_MAX;
    struct file file;
    struct prefill *p = file_open(path, &file) ? find(&file) : NULL;
    file_close(&file);
    if (!p) return fail("nothing is reserved for %s", path);
    if (arrives ? p->loaded : !p->file.whole) return fail("%s was reserved %s", path, arrives ? "and loaded" : "before its table was complete");
    p->file.whole &= !arrives; /* the digests of what it loads now are its own */
    bool done = file_load(&p->file, arrives ? COPY_ARRIVED : COPY_PREFILL, &p->file.content, from, to);
    p->loaded = done && !arrives;
    if (!done && !arrives) drop(p);
    return done && add_bytes(p->bytes);
}

void prefill_take(struct file *file) {
    struct prefill *p = find(file);
    if (p && p->loaded) {
        file_close(file);
        *file = p->file;
        *p = (struct prefill){0};
    } else if (p) drop(p);
}

void prefills_close(void) {
    for (struct prefill *p = prefills; p < prefills + MAX_WORKLOADS; p++) if (p->file.content.items) drop(p);
}
