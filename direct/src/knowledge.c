/* What the program does with contexts, peers and shared memory. Each hook calls the driver and remembers what it saw. */
#include "gate.h"

static uint32_t notes;
static void *contexts[MAX_CONTEXTS];
static uint32_t lost_contexts; /* more than the table holds */
static void *awaited; /* the context whose work the draining thread waits for */
enum { MAX_CAPTURES = 64, THREAD_STREAM = 2, WRONG_THREAD = 908 };
static uint64_t captures[MAX_CAPTURES]; /* the streams on which graphs are being captured */
static void *capture_contexts[MAX_CAPTURES];
static int capturing;

void note(uint32_t flag) {
    uint32_t all = __atomic_or_fetch(&notes, flag, __ATOMIC_RELAXED);
    if (page) page->notes = all;
}

/* The notes stay: the child also has the entries that were handed out. */
void knowledge_after_fork(void) {
    memset(contexts, 0, sizeof contexts);
    memset(captures, 0, sizeof captures);
    lost_contexts = 0;
    capturing = 0;
    awaited = NULL;
}

int capture_count(void) { return __atomic_load_n(&capturing, __ATOMIC_RELAXED); }

/* Notes FLAG when the call succeeded. Six integer arguments are passed on. */
#define NOTING(name, flag)                                                                                    \
    HOOK(name, (long a, long b, long c, long d, long e, long f)) {                                            \
        CUresult result = real_##name(a, b, c, d, e, f);                                                      \
        if (result == 0) note(flag);                                                                          \
        return result;                                                                                        \
    }
NOTING(cuIpcGetMemHandle, NOTE_IPC) NOTING(cuIpcGetEventHandle, NOTE_IPC)
NOTING(cuMemPoolExportToShareableHandle, NOTE_EXPORT) NOTING(cuMemGetHandleForAddressRange, NOTE_EXPORT)
NOTING(cuMemPoolImportFromShareableHandle, NOTE_IMPORT) NOTING(cuMemImportFromShareableHandle, NOTE_IMPORT)
NOTING(cuMemAllocManaged, NOTE_MANAGED) NOTING(cuMulticastCreate, NOTE_MULTICAST)
NOTING(cuMulticastBindAddr, NOTE_MULTICAST) NOTING(cuMulticastBindAddr_v2, NOTE_MULTICAST)

/* The handle is passed by value. */
struct ipc_handle { char bytes[64]; };
#define OPENING(name)                                                                                         \
    HOOK(name, (void *to, struct ipc_handle handle, unsigned flags)) {                                        \
        CUresult result = real_##name(to, handle, flags);                                                     \
        if (result == 0) note(NOTE_IPC);                                                                      \
        return result;                                                                                        \
    }
OPENING(cuIpcOpenMemHandle) OPENING(cuIpcOpenMemHandle_v2)
OPENING(cuIpcOpenEventHandle)

/* Changes the entry that is FROM. More captures than the table holds count as one that does not end. */
static void capture(uint64_t from, uint64_t to) {
    table_lock();
    int i = 0;
    while (i < MAX_CAPTURES && captures[i] != from) i++;
    if (i < MAX_CAPTURES) captures[i] = to;
    if (i < MAX_CAPTURES && to) driver.cuCtxGetCurrent(&capture_contexts[i]);
    if (i < MAX_CAPTURES || !from) __atomic_add_fetch(&capturing, to ? 1 : -1, __ATOMIC_RELAXED);
    table_unlock();
}

/* The stream of a thread has the same name in all threads. */
static uint64_t stream_id(uint64_t stream) { return stream > THREAD_STREAM ? stream : (uint64_t)pthread_self(); }

/* An end that fails ends the capture too, but not one by a thread that did not begin it. */
#define CAPTURING(name, begins)                                                                               \
    HOOK(name, (uint64_t stream, long b, long c, long d, long e, long f)) {                                   \
        CUresult result = real_##name(stream, b, c, d, e, f);                                                 \
        if (begins && result == 0) capture(0, stream_id(stream));                                             \
        if (!begins && result != WRONG_THREAD) capture(stream_id(stream), 0);                                 \
        return result;                                                                                        \
    }
CAPTURING(cuStreamBeginCapture, true) CAPTURING(cuStreamBeginCapture_ptsz, true)
CAPTURING(cuStreamBeginCapture_v2, true) CAPTURING(cuStreamBeginCapture_v2_ptsz, true)
CAPTURING(cuStreamBeginCaptureToGraph, true) CAPTURING(cuStreamBeginCaptureToGraph_ptsz, true)
CAPTURING(cuStreamEndCapture, false) CAPTURING(cuStreamEndCapture_ptsz, false)

HOOK(cuStreamDestroy_v2, (uint64_t stream)) {
    CUresult result = real_cuStreamDestroy_v2(stream);
    if (result == 0) capture(stream, 0);
    return result;
}
HOOK_ENTRY(cuStreamDestroy, cuStreamDestroy_v2, true)

/* Called before a context ends. After a close was given up, the draining thread may still wait for the context's work. Polls,
   because only this thread waits for that. */
static void await_drain(const void *context) {
    while (__atomic_load_n(&awaited, __ATOMIC_SEQ_CST) == context) nap_us(100);
}

static CUresult made(CUresult result, void **context) {
    if (result) return result;
    int i = 0;
    table_lock();
    while (i < MAX_CONTEXTS && contexts[i]) i++;
    if (i < MAX_CONTEXTS) contexts[i] = *context;
    else lost_contexts++;
    table_unlock();
    control_start();
    return 0;
}

#define CREATING(name, arguments, passed) \
    HOOK(name, arguments) { return made(real_##name passed, context); }
CREATING(cuCtxCreate_v2, (void **context, unsigned flags, int device), (context, flags, device))
CREATING(cuCtxCreate_v3, (void **context, void *params, int count, unsigned flags, int device), (context, params, count, flags, device))
CREATING(cuCtxCreate_v4, (void **context, void *params, unsigned flags, int device), (context, params, flags, device))

/* What belongs to a context ends with it: memory of cuMemAlloc, and captures on its streams. */
static void forget_context(const void *context) {
    context_died(context);
    table_lock();
    for (int i = 0; i < MAX_CAPTURES; i++) {
        if (!captures[i] || capture_contexts[i] != context) continue;
        captures[i] = 0;
        __atomic_sub_fetch(&capturing, 1, __ATOMIC_RELAXED);
    }
    table_unlock();
}

/* Before it ends: not before the work that uses its memory, nor while the drain waits for it. */
static void end_context(void *context) {
    if (has_plain(context)) wait_for(context);
    forget_context(context);
    await_drain(context);
}

HOOK(cuCtxDestroy_v2, (void *context)) {
    table_lock();
    for (int i = 0; i < MAX_CONTEXTS; i++) contexts[i] = contexts[i] == context ? NULL : contexts[i];
    table_unlock();
    end_context(context);
    return real_cuCtxDestroy_v2(context);
}

static int retained[MAX_DEVICES]; /* how often the program has retained each primary context */

HOOK(cuDevicePrimaryCtxRetain, (void **context, int device)) {
    CUresult result = real_cuDevicePrimaryCtxRetain(context, device);
    if (result) return result;
    if (device < MAX_DEVICES) __atomic_add_fetch(&retained[device], 1, __ATOMIC_RELAXED);
    control_start();
    return 0;
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
    void *context = primary_of(device);
    if (context) end_context(context);
    if (device >= 0 && device < MAX_DEVICES) __atomic_store_n(&retained[device], 0, __ATOMIC_RELAXED);
    return real_cuDevicePrimaryCtxReset_v2(device);
}

/* Only the last one ends the context. */
HOOK(cuDevicePrimaryCtxRelease_v2, (int device)) {
    void *context = primary_of(device);
    bool counted = device >= 0 && device < MAX_DEVICES;
    int left = counted ? __atomic_sub_fetch(&retained[device], 1, __ATOMIC_RELAXED) : 0;
    if (context && left <= 0) await_drain(context);
    CUresult result = real_cuDevicePrimaryCtxRelease_v2(device);
    if (counted && result) __atomic_add_fetch(&retained[device], 1, __ATOMIC_RELAXED);
    if (context && !has_primary(device)) forget_context(context);
    return result;
}

/* Of CUDA 10 and older; they do the same. */
HOOK_ENTRY(cuCtxCreate, cuCtxCreate_v2, true) HOOK_ENTRY(cuCtxDestroy, cuCtxDestroy_v2, true)
HOOK_ENTRY(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2, true) HOOK_ENTRY(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, true)

HOOK(cuCtxEnablePeerAccess, (void *peer, unsigned flags)) {
    void *current;
    int user, owner;
    CUresult result = real_cuCtxEnablePeerAccess(peer, flags);
    if (result || driver.cuCtxGetDevice(&user) || driver.cuCtxGetCurrent(&current)) return result;
    if (driver.cuCtxSetCurrent(peer) == 0 && driver.cuCtxGetDevice(&owner) == 0 && owner < MAX_DEVICES && user < MAX_DEVICES) peer_allow(owner, user);
    driver.cuCtxSetCurrent(current);
    note(NOTE_PEER);
    return 0;
}

/* No context comes or goes while the gate is closed. Once it has opened again, because the close was given up, nothing more is
   waited for. */
static int synchronize(void *context) {
    __atomic_store_n(&awaited, context, __ATOMIC_SEQ_CST);
    return gate_is_closed() ? wait_for(context) : GATE_BUSY;
}

/* Of the thread that drains. */
void contexts_synchronize(int *result) {
    *result = lost_contexts ? GATE_FAILED : 0;
    for (int i = 0; i < MAX_CONTEXTS && *result == 0; i++) if (contexts[i]) *result = synchronize(contexts[i]);
    for (int device = 0; device < MAX_DEVICES && *result == 0 && gate_is_closed(); device++) {
        void *context;
        if (!has_primary(device) || (*result = driver.cuDevicePrimaryCtxRetain(&context, device))) continue;
        *result = synchronize(context);
        driver.cuDevicePrimaryCtxRelease(device);
    }
    __atomic_store_n(&awaited, NULL, __ATOMIC_SEQ_CST);
}
