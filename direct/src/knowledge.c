/* What the program does with contexts, peers and shared memory. Each hook calls the driver and remembers what it saw. */
#include "gate.h"

static uint32_t notes;
static void *contexts[MAX_CONTEXTS];
static uint32_t lost_contexts; /* more than the table holds */
static int captures;

void note(uint32_t flag) {
    uint32_t all = __atomic_or_fetch(&notes, flag, __ATOMIC_RELAXED);
    if (page) page->notes = all;
}

int capture_count(void) { return __atomic_load_n(&captures, __ATOMIC_RELAXED); }

/* Declares `real_NAME` and `hook_NAME`, which notes FLAG when the call succeeded. Six integer arguments are passed on. */
#define NOTING(name, flag)                                                                                    \
    static CUresult (*real_##name)(long, long, long, long, long, long);                                      \
    static CUresult hook_##name(long a, long b, long c, long d, long e, long f) {                            \
        CUresult result = real_##name(a, b, c, d, e, f);                                                      \
        if (result == 0) note(flag);                                                                          \
        return result;                                                                                        \
    }
NOTING(cuIpcGetMemHandle, NOTE_IPC)
NOTING(cuIpcGetEventHandle, NOTE_IPC)
NOTING(cuMemPoolExportToShareableHandle, NOTE_EXPORT)
NOTING(cuMemGetHandleForAddressRange, NOTE_EXPORT)
NOTING(cuMemPoolImportFromShareableHandle, NOTE_IMPORT)
NOTING(cuMemImportFromShareableHandle, NOTE_IMPORT)
NOTING(cuMemAllocManaged, NOTE_MANAGED)
NOTING(cuMulticastCreate, NOTE_MULTICAST)
NOTING(cuMulticastBindAddr, NOTE_MULTICAST)
NOTING(cuMulticastBindAddr_v2, NOTE_MULTICAST)

/* The handle is passed by value. */
struct ipc_handle {
    char bytes[64];
};
#define OPENING(name)                                                                                         \
    static CUresult (*real_##name)(void *, struct ipc_handle, unsigned);                                     \
    static CUresult hook_##name(void *to, struct ipc_handle handle, unsigned flags) {                        \
        CUresult result = real_##name(to, handle, flags);                                                     \
        if (result == 0) note(NOTE_IPC);                                                                      \
        return result;                                                                                        \
    }
OPENING(cuIpcOpenMemHandle)
OPENING(cuIpcOpenMemHandle_v2)
OPENING(cuIpcOpenEventHandle)

#define CAPTURING(name, change)                                                                               \
    static CUresult (*real_##name)(long, long, long, long, long, long);                                      \
    static CUresult hook_##name(long a, long b, long c, long d, long e, long f) {                            \
        CUresult result = real_##name(a, b, c, d, e, f);                                                      \
        if (result == 0 || change < 0) __atomic_add_fetch(&captures, change, __ATOMIC_RELAXED);               \
        return result;                                                                                        \
    }
CAPTURING(cuStreamBeginCapture, 1)
CAPTURING(cuStreamBeginCapture_ptsz, 1)
CAPTURING(cuStreamBeginCapture_v2, 1)
CAPTURING(cuStreamBeginCapture_v2_ptsz, 1)
CAPTURING(cuStreamBeginCaptureToGraph, 1)
CAPTURING(cuStreamBeginCaptureToGraph_ptsz, 1)
CAPTURING(cuStreamEndCapture, -1)
CAPTURING(cuStreamEndCapture_ptsz, -1)

static CUresult made(CUresult result, void **context) {
    if (result || gate_inert) return result;
    bool kept = false;
    table_lock();
    for (int i = 0; i < MAX_CONTEXTS && !kept; i++) {
        if (!contexts[i]) {
            contexts[i] = *context;
            kept = true;
        }
    }
    lost_contexts += !kept;
    table_unlock();
    control_start();
    return 0;
}

static CUresult (*real_create_v2)(void **, unsigned, int);
static CUresult create_v2(void **context, unsigned flags, int device) { return made(real_create_v2(context, flags, device), context); }

static CUresult (*real_create_v3)(void **, void *, int, unsigned, int);
static CUresult create_v3(void **context, void *params, int count, unsigned flags, int device) {
    return made(real_create_v3(context, params, count, flags, device), context);
}

static CUresult (*real_create_v4)(void **, void *, unsigned, int);
static CUresult create_v4(void **context, void *params, unsigned flags, int device) {
    return made(real_create_v4(context, params, flags, device), context);
}

static CUresult (*real_destroy)(void *);
static CUresult destroy(void *context) {
    if (!gate_inert) {
        context_died(context);
        table_lock();
        for (int i = 0; i < MAX_CONTEXTS; i++) contexts[i] = contexts[i] == context ? NULL : contexts[i];
        table_unlock();
    }
    return real_destroy(context);
}

static CUresult (*real_retain)(void **, int);
static CUresult retain(void **context, int device) {
    CUresult result = real_retain(context, device);
    if (result == 0 && !gate_inert) control_start();
    return result;
}

/* The primary context of a device that has one. */
static void *primary_of(int device) {
    void *context;
    unsigned flags;
    int active = 0;
    if (driver.cuDevicePrimaryCtxGetState(device, &flags, &active) || !active || driver.cuDevicePrimaryCtxRetain(&context, device)) return NULL;
    driver.cuDevicePrimaryCtxRelease(device);
    return context;
}

/* The memory goes first: the driver would take the addresses with the context. */
static CUresult (*real_reset)(int);
static CUresult reset(int device) {
    void *context = gate_inert ? NULL : primary_of(device);
    if (context) context_died(context);
    return real_reset(device);
}

/* Only the last one ends the context. */
static CUresult (*real_release)(int);
static CUresult release(int device) {
    void *context = gate_inert ? NULL : primary_of(device);
    CUresult result = real_release(device);
    if (context && !primary_of(device)) context_died(context);
    return result;
}

static CUresult (*real_peer)(void *, unsigned);
static CUresult enable_peer(void *peer, unsigned flags) {
    void *current;
    int user, owner;
    CUresult result = real_peer(peer, flags);
    if (result || gate_inert || driver.cuCtxGetDevice(&user) || driver.cuCtxGetCurrent(&current)) return result;
    if (driver.cuCtxSetCurrent(peer) == 0 && driver.cuCtxGetDevice(&owner) == 0 && owner < MAX_DEVICES && user < MAX_DEVICES) peer_allow(owner, user);
    driver.cuCtxSetCurrent(current);
    note(NOTE_PEER);
    return 0;
}

/* Of the thread that drains: the gate is closed, so no context comes or goes meanwhile. */
void contexts_synchronize(int *result) {
    *result = lost_contexts ? GATE_FAILED : 0;
    for (int i = 0; i < MAX_CONTEXTS && *result == 0; i++) {
        if (contexts[i] && (*result = driver.cuCtxSetCurrent(contexts[i])) == 0) *result = driver.cuCtxSynchronize();
    }
    for (int device = 0; device < MAX_DEVICES && *result == 0; device++) {
        void *context;
        unsigned flags;
        int active = 0;
        if (driver.cuDevicePrimaryCtxGetState(device, &flags, &active) || !active) continue;
        *result = driver.cuDevicePrimaryCtxRetain(&context, device);
        if (*result == 0) {
            *result = driver.cuCtxSetCurrent(context);
            *result = *result ? *result : driver.cuCtxSynchronize();
            driver.cuCtxSetCurrent(NULL);
            driver.cuDevicePrimaryCtxRelease(device);
        }
    }
    driver.cuCtxSetCurrent(NULL);
}

#define HOOK(name) {#name, hook_##name, &real_##name}
const struct hook knowledge_hooks[] = {
    HOOK(cuIpcGetMemHandle),
    HOOK(cuIpcGetEventHandle),
    HOOK(cuIpcOpenMemHandle),
    HOOK(cuIpcOpenMemHandle_v2),
    HOOK(cuIpcOpenEventHandle),
    HOOK(cuMemPoolExportToShareableHandle),
    HOOK(cuMemGetHandleForAddressRange),
    HOOK(cuMemPoolImportFromShareableHandle),
    HOOK(cuMemImportFromShareableHandle),
    HOOK(cuMemAllocManaged),
    HOOK(cuMulticastCreate),
    HOOK(cuMulticastBindAddr),
    HOOK(cuMulticastBindAddr_v2),
    HOOK(cuStreamBeginCapture),
    HOOK(cuStreamBeginCapture_ptsz),
    HOOK(cuStreamBeginCapture_v2),
    HOOK(cuStreamBeginCapture_v2_ptsz),
    HOOK(cuStreamBeginCaptureToGraph),
    HOOK(cuStreamBeginCaptureToGraph_ptsz),
    HOOK(cuStreamEndCapture),
    HOOK(cuStreamEndCapture_ptsz),
    /* The first names are of CUDA 10 and older, and do the same. */
    {"cuCtxCreate", create_v2, &real_create_v2},
    {"cuCtxCreate_v2", create_v2, &real_create_v2},
    {"cuCtxCreate_v3", create_v3, &real_create_v3},
    {"cuCtxCreate_v4", create_v4, &real_create_v4},
    {"cuCtxDestroy", destroy, &real_destroy},
    {"cuCtxDestroy_v2", destroy, &real_destroy},
    {"cuDevicePrimaryCtxRetain", retain, &real_retain},
    {"cuDevicePrimaryCtxReset", reset, &real_reset},
    {"cuDevicePrimaryCtxReset_v2", reset, &real_reset},
    {"cuDevicePrimaryCtxRelease", release, &real_release},
    {"cuDevicePrimaryCtxRelease_v2", release, &real_release},
    {"cuCtxEnablePeerAccess", enable_peer, &real_peer},
    {0},
};
