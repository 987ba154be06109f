/* Content of files that waits on a GPU for the process to which it will belong, while that process is still being restored. */
#include "keeper.h"

#include <stdlib.h>
#include <string.h>

static struct prefill {
    char *path;
    struct file file; /* the snapshot of an item: where its content is, or 0 */
    uint64_t bytes;   /* of those that have one */
    bool loaded;      /* before, the memory has any content */
    struct prefill *next;
} *prefills;

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

static struct prefill **find(const char *path) {
    struct prefill **at = &prefills;
    while (*at && strcmp((*at)->path, path) != 0) at = &(*at)->next;
    return at;
}

static void drop(struct prefill **at) {
    struct prefill *p = *at;
    *at = p->next;
    snapshot_drop(&p->file.content);
    file_close(&p->file);
    free(p->path);
    free(p);
}

bool prefill_reserve(const char *uuid_text, uint64_t reserve, const char *path, uint64_t *bytes) {
    struct prefill **before = find(path), *p;
    if (*before) drop(before); /* of an agent that did not come to its reload */
    int device = cuda_device_named(uuid_text);
    if (device < 0) return false;
    p = calloc(1, sizeof *p);
    if (!p || !(p->path = strdup(path))) {
        free(p);
        return fail("out of memory");
    }
    p->next = prefills;
    prefills = p;
    bool done = file_open(path, &p->file) && take(p, device, reserve);
    *bytes = p->bytes;
    if (!done) drop(&prefills);
    return done;
}

/* Ends with the connection of the agent that asked. Nothing of a damaged file stays. */
bool prefill_load(const char *path, int asker, uint64_t *bytes) {
    struct prefill **at = find(path), *p = *at;
    if (!p) return fail("nothing is reserved for %s", path);
    bool done = file_load(&p->file, COPY_PREFILL, &p->file.content, asker);
    *bytes = p->bytes;
    p->loaded = done;
    if (!done) drop(at);
    return done;
}

bool prefill_take(const char *path, struct file *file) {
    struct prefill **at = find(path), *p = *at;
    bool loaded = p && p->loaded;
    if (loaded) {
        *file = p->file;
        p->file = (struct file){.data = -1}; /* it is the caller's now */
    }
    if (p) drop(at);
    return loaded;
}
