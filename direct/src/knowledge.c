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

/* Notes FLAG when the call succeeded. Six integer arguments are passed on. */
#define NOTING(name, flag)                                                                                    \
    HOOK(name, (long a, long b, long c, long d, long e, long f)) {                                            \
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
    HOOK(name, (void *to, struct ipc_handle handle, unsigned flags)) {                                        \
        CUresult result = real_##name(to, handle, flags);                                                     \
        if (result == 0) note(NOTE_IPC);                                                                      \
        return result;                                                                                        \
    }
OPENING(cuIpcOpenMemHandle)
OPENING(cuIpcOpenMemHandle_v2)
OPENING(cuIpcOpenEventHandle)

#define CAPTURING(name, change)                                                                               \
    HOOK(name, (long a, long b, long c, long d, long e, long f)) {                                            \
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

HOOK(cuCtxCreate_v2, (void **context, unsigned flags, int device)) { return made(real_cuCtxCreate_v2(context, flags, device), context); }

HOOK(cuCtxCreate_v3, (void **context, void *params, int count, unsigned flags, int device)) {
    return made(real_cuCtxCreate_v3(context, params, count, flags, device), context);
}

HOOK(cuCtxCreate_v4, (void **context, void *params, unsigned flags, int device)) {
    return made(real_cuCtxCreate_v4(context, params, flags, device), context);
}

HOOK(cuCtxDestroy_v2, (void *context)) {
    if (!gate_inert) {
        context_died(context);
        table_lock();
        for (int i = 0; i < MAX_CONTEXTS; i++) contexts[i] = contexts[i] == context ? NULL : contexts[i];
        table_unlock();
    }
    return real_cuCtxDestroy_v2(context);
}

HOOK(cuDevicePrimaryCtxRetain, (void **context, int device)) {
    CUresult result = real_cuDevicePrimaryCtxRetain(context, device);
    if (result == 0 && !gate_inert) control_start();
    return result;
}

static bool has_primary(int device) {
    unsigned flags;
    int active = 0;
    return driver.cuDevicePrimaryCtxGetState(device, &flags, &active) == 0 && active;
}

/* The primary context of a device that has one. */
static void *primary_of(int device) {
    void *context;
    if (!has_primary(device) || driver.cuDevicePrimaryCtxRetain(&context, device)) return NULL;
    driver.cuDevicePrimaryCtxRelease(device);
    return context;
}

/* The memory goes first: the driver would take the addresses with the context. */
HOOK(cuDevicePrimaryCtxReset_v2, (int device)) {
    void *context = gate_inert ? NULL : primary_of(device);
    if (context) context_died(context);
    return real_cuDevicePrimaryCtxReset_v2(device);
}

/* Only the last one ends the context. */
HOOK(cuDevicePrimaryCtxRelease_v2, (int device)) {
    void *context = gate_inert ? NULL : primary_of(device);
    CUresult result = real_cuDevicePrimaryCtxRelease_v2(device);
    if (context && !has_primary(device)) context_died(context);
    return result;
}

/* Of CUDA 10 and older; they do the same. */
HOOK_ENTRY(cuCtxCreate, cuCtxCreate_v2, true)
HOOK_ENTRY(cuCtxDestroy, cuCtxDestroy_v2, true)
HOOK_ENTRY(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2, true)
HOOK_ENTRY(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, true)

HOOK(cuCtxEnablePeerAccess, (void *peer, unsigned flags)) {
    void *current;
    int user, owner;
    CUresult result = real_cuCtxEnablePeerAccess(peer, flags);
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
        if (!has_primary(device) || (*result = driver.cuDevicePrimaryCtxRetain(&context, device))) continue;
        *result = driver.cuCtxSetCurrent(context);
        *result = *result ? *result : driver.cuCtxSynchronize();
        driver.cuCtxSetCurrent(NULL);
        driver.cuDevicePrimaryCtxRelease(device);
    }
    driver.cuCtxSetCurrent(NULL);
}
