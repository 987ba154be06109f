/* Content of files that waits on a GPU for the process to which it will belong, while that process is still being restored. */
#include "keeper.h"

static struct prefill {
    char path[4096];  /* empty: unused entry */
    struct file file; /* the snapshot of an item: where its content is, or 0 */
    uint64_t bytes;   /* of those that have one */
    bool loaded;      /* before, the memory has any content */
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

static struct prefill *find(const char *path) {
    for (struct prefill *p = prefills; p < prefills + MAX_WORKLOADS; p++) {
        if (strcmp(p->path, path) == 0) return p;
    }
    return NULL;
}

static void drop(struct prefill *p) {
    snapshot_drop(&p->file.content);
    file_close(&p->file);
    *p->path = 0;
}

bool prefill_reserve(const char *uuid, uint64_t reserve, const char *path) {
    struct prefill *p = find(path);
    if (p) drop(p); /* of an agent that did not come to its reload */
    int device = cuda_device_named(uuid);
    if (device < 0 || !((p = find("")) || fail("too many reservations"))) return false;
    *p = (struct prefill){0};
    snprintf(p->path, sizeof p->path, "%s", path);
    bool done = file_open(path, &p->file) && take(p, device, reserve) && add_bytes(p->bytes);
    if (!done) drop(p);
    return done;
}

/* Nothing of a damaged file stays. */
bool prefill_load(const char *path) {
    struct prefill *p = find(path);
    if (!p) return fail("nothing is reserved for %s", path);
    p->loaded = file_load(&p->file, COPY_PREFILL, &p->file.content);
    if (!p->loaded) drop(p);
    return p->loaded && add_bytes(p->bytes);
}

bool prefill_take(const char *path, struct file *file) {
    struct prefill *p = find(path);
    if (p && !p->loaded) drop(p);
    if (!p || !p->loaded) return false;
    *file = p->file; /* it is the caller's now */
    *p->path = 0;
    return true;
}

void prefills_close(void) {
    for (struct prefill *p = prefills; p < prefills + MAX_WORKLOADS; p++) {
        if (*p->path) drop(p);
    }
}
