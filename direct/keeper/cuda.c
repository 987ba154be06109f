/* The driver's functions, the contexts of the keeper, and its pinned host memory. */
#include "keeper.h"

#include <dlfcn.h>

struct driver driver;
static int devices;
static uint8_t uuids[MAX_DEVICES][16];
static void *contexts[MAX_DEVICES];
static uint64_t totals[MAX_DEVICES];

uint8_t *arena;
static uint64_t arena_bytes;
static uint8_t *registered; /* of the arenas */

bool ok(int result, const char *call) {
    const char *name = "unknown result";
    if (result == 0) return true;
    driver.cuGetErrorName(result, &name);
    return fail("%s: %d %s", call, result, name ? name : "");
}

/* The node's own driver: where the agent's driver worker looks for it too. */
static void *find_library(void) {
    const char *named = getenv("STASIS_LIBCUDA");
    bool is_named = named && *named;
    void *library = dlopen(is_named ? named : "libcuda.so.1", RTLD_NOW);
    return library || is_named ? library : driver_in("/usr/local/nvidia/lib64:/usr/lib/x86_64-linux-gnu:/usr/lib/aarch64-linux-gnu:/usr/lib64:"
                                           "/run/nvidia/driver/usr/lib/x86_64-linux-gnu:/run/nvidia/driver/usr/lib/aarch64-linux-gnu:"
                                           "/run/nvidia/driver/usr/lib64");
}

bool cuda_open(void) {
    void *library = find_library();
    if (!library) return fail("%s", dlerror());
#define FIND(name, symbol, arguments) \
    if (!(*(void **)&driver.name = dlsym(library, symbol))) return fail("the driver has no " symbol);
    DRIVER_FUNCTIONS(FIND)
    if (!ok(driver.cuInit(0), "cuInit") || !ok(driver.cuDeviceGetCount(&devices), "cuDeviceGetCount")) return false;
    devices = devices < MAX_DEVICES ? devices : MAX_DEVICES;
    for (int i = 0; i < devices; i++) if (!ok(driver.cuDeviceGetUuid(uuids[i], i), "cuDeviceGetUuid")) return false;
    return true;
}

static const char *uuid_text(const uint8_t *uuid) {
    static char text[48];
    int length = sprintf(text, "GPU");
    for (int i = 0; i < 16; i++) length += sprintf(text + length, i == 0 || (i >= 4 && i <= 10 && i % 2 == 0) ? "-%02x" : "%02x", uuid[i]);
    return text;
}

/* A context takes some hundred MiB of its GPU, and a hostile library may name the GPU of another workload. */
int cuda_device(const uint8_t *uuid, const char *named, bool make) {
    int i = 0;
    while (i < devices && (named ? strcmp(uuid_text(uuids[i]), named) : memcmp(uuids[i], uuid, 16))) i++;
    if (i == devices || !(make || contexts[i])) {
        fail("%s is not one of those that %s", named ? named : uuid_text(uuid), make ? "the keeper sees" : "the agent has named");
        return -1;
    }
    bool there = contexts[i] || ok(driver.cuDevicePrimaryCtxRetain(&contexts[i], i), "cuDevicePrimaryCtxRetain");
    return there && cuda_use(i) ? i : -1;
}

bool arena_open(unsigned threads) {
    if (arena) return true;
    if (threads) arena_bytes = (uint64_t)threads * CHUNK;
    void *made = mmap(NULL, arena_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) return fail("no %llu MiB of memory for the arena", (unsigned long long)arena_bytes >> 20);
    arena = made;
    madvise(arena, arena_bytes, MADV_HUGEPAGE);
    madvise(arena, arena_bytes, MADV_DONTFORK);
    int i = 0;
    while (i < devices && !contexts[i]) i++;
    return i == devices || cuda_use(i);
}

/* Gives the host memory back; nothing may be in it. */
void arena_close(uint8_t *which) {
    for (int i = 0; i < devices && which; i++)
        if (contexts[i] && driver.cuCtxSetCurrent(contexts[i]) == 0 && driver.cuMemHostUnregister(which) == 0) break;
    if (which == registered) registered = NULL;
    if (which) munmap(which, arena_bytes);
}

/* The arena is registered once, for the contexts of all GPUs (portable): before the copying threads use it. */
bool cuda_use(int device) {
    if (device < 0 || device >= devices || !contexts[device]) return fail("expected a GPU with a context, got number %d", device);
    bool done = ok(driver.cuCtxSetCurrent(contexts[device]), "cuCtxSetCurrent") &&
                (!arena || registered == arena || ok(driver.cuMemHostRegister(arena, arena_bytes, 1), "cuMemHostRegister"));
    if (done) registered = arena;
    return done;
}

bool cuda_free(int device, uint64_t *left) {
    *left = 0;
    return cuda_use(device) && ok(driver.cuMemGetInfo(left, &totals[device]), "cuMemGetInfo");
}

uint64_t cuda_total(int device) {
    uint64_t left;
    return totals[device] || cuda_free(device, &left) ? totals[device] : 0;
}

bool cuda_import(int device, int fd, uint64_t bytes, struct import *to) {
    const CUmemAccessDesc access = {1, device, 3}; /* a device, this one, read and write */
    *to = (struct import){.device = device};
    bool done = cuda_use(device) && ok(driver.cuMemImport(&to->handle, (void *)(intptr_t)fd, 1), "cuMemImportFromShareableHandle") &&
                ok(driver.cuMemAddressReserve(&to->mapped, bytes, 0, 0, 0), "cuMemAddressReserve") &&
                ok(driver.cuMemMap(to->mapped, bytes, 0, to->handle, 0), "cuMemMap") &&
                ok(driver.cuMemSetAccess(to->mapped, bytes, &access, 1), "cuMemSetAccess");
    if (!done) cuda_drop(to, bytes);
    return done;
}

/* What there is of it. */
void cuda_drop(struct import *what, uint64_t bytes) {
    if (!what->handle) return;
    driver.cuCtxSetCurrent(contexts[what->device]);
    if (what->mapped) driver.cuMemUnmap(what->mapped, bytes);
    driver.cuMemRelease(what->handle);
    if (what->mapped) driver.cuMemAddressFree(what->mapped, bytes);
    *what = (struct import){0};
}
