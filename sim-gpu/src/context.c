/* Devices and contexts, and the names of results. */
#define _GNU_SOURCE
#include "context.h"
#include "process.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CUctx_st {
    int used, ordinal;
    CUdeviceptr state; /* a context costs device memory too */
};

static struct CUctx_st contexts[MAX_CONTEXTS];
static __thread CUcontext current;

void *context_current(void) { return current; }

int context_ordinal(void) { return current && current->used ? current->ordinal : -1; }

static int valid(CUdevice device) { return device >= 0 && device < self.visible; }

EXPORT CUresult cuDeviceGetCount(int *count) {
    if (!self.initialised || self.forked) {
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    *count = self.visible;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    if (!self.initialised || self.forked) {
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    *device = ordinal;
    return valid(ordinal) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

EXPORT CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
    if (!valid(device)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    snprintf(name, (size_t)length, "%s", self.name[device]);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
    if (!valid(device)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    memcpy(uuid, self.uuid[device], sizeof *uuid);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
    if (!valid(device)) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    *bytes = (size_t)self.pages[device] / 2 * BLOCK_BYTES;
    return CUDA_SUCCESS;
}

/* A context begins or ends: the GPU is switched to it. */
static void switch_to(CUdevice device) { __atomic_add_fetch(&self.node.board->switches[self.gpu[device]], 1, __ATOMIC_SEQ_CST); }

/* The contexts of a process end with it. */
__attribute__((destructor)) static void end_all(void) {
    for (int i = 0; self.initialised && !self.forked && self.node.board && i < MAX_CONTEXTS; i++) {
        if (contexts[i].used) switch_to(contexts[i].ordinal);
    }
}

static CUresult create(CUcontext *context, CUdevice device) {
    for (int i = 0; i < MAX_CONTEXTS; i++) {
        if (!contexts[i].used) {
            CUresult result = memory_allocate(device, (uint64_t)CONTEXT_BLOCKS * BLOCK_BYTES, &contexts[i].state);
            if (result == CUDA_SUCCESS) {
                contexts[i].used = 1;
                contexts[i].ordinal = device;
                switch_to(device);
                *context = &contexts[i];
            }
            return result;
        }
    }
    return CUDA_ERROR_OUT_OF_MEMORY;
}

EXPORT CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device) {
    (void)flags;
    if (!context || !valid(device)) {
        return context ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
    }
    CUresult result = gate_enter();
    if (result) {
        return result;
    }
    pthread_mutex_lock(&self.mutex);
    result = create(context, device);
    pthread_mutex_unlock(&self.mutex);
    gate_leave();
    if (result == CUDA_SUCCESS) {
        current = *context;
    }
    return result;
}

static CUcontext primary[MAX_GPUS];
static int retained[MAX_GPUS];

/* The names of older versions, which programs that were built with them call. */
EXPORT CUresult cuCtxCreate(CUcontext *context, unsigned flags, CUdevice device) { return cuCtxCreate_v2(context, flags, device); }

EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    if (!context || !valid(device)) {
        return context ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
    }
    CUresult result = gate_enter();
    if (result) {
        return result;
    }
    pthread_mutex_lock(&self.mutex);
    if (!primary[device]) {
        result = create(&primary[device], device);
    }
    retained[device] += result == CUDA_SUCCESS;
    *context = primary[device];
    pthread_mutex_unlock(&self.mutex);
    gate_leave();
    return result;
}

/* Allocations of a context are freed with it. */
static void end_context(CUcontext context) {
    memory_free(context->state, (uint64_t)CONTEXT_BLOCKS * BLOCK_BYTES);
    for (int i = 0; i < MAX_ALLOCATIONS; i++) {
        if (self.allocation[i].address && self.allocation[i].context == context) {
            memory_free(self.allocation[i].address, self.allocation[i].bytes);
            self.allocation[i].address = 0;
        }
    }
    context->used = 0;
    switch_to(context->ordinal);
    current = current == context ? NULL : current;
}

EXPORT CUresult cuCtxDestroy_v2(CUcontext context) {
    CUresult result = gate_enter();
    if (result) {
        return result;
    }
    pthread_mutex_lock(&self.mutex);
    result = context && context->used ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
    if (result == CUDA_SUCCESS) {
        end_context(context);
    }
    pthread_mutex_unlock(&self.mutex);
    gate_leave();
    return result;
}

static CUresult release(CUdevice device, int all) {
    CUresult result = valid(device) ? gate_enter() : CUDA_ERROR_INVALID_DEVICE;
    if (result) {
        return result;
    }
    pthread_mutex_lock(&self.mutex);
    if (primary[device] && (all || --retained[device] == 0)) {
        end_context(primary[device]);
        primary[device] = NULL;
    }
    pthread_mutex_unlock(&self.mutex);
    gate_leave();
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxDestroy(CUcontext context) { return cuCtxDestroy_v2(context); }

EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) { return release(device, 0); }

EXPORT CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) { return release(device, 1); }

EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice device) { return release(device, 0); }

EXPORT CUresult cuDevicePrimaryCtxReset(CUdevice device) { return release(device, 1); }

EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
    *flags = 0;
    *active = valid(device) && primary[device];
    return valid(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

EXPORT CUresult cuCtxGetDevice(CUdevice *device) {
    *device = context_ordinal();
    return *device < 0 ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}

EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
    if (!self.initialised || self.forked) {
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    current = context;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxGetCurrent(CUcontext *context) {
    *context = current;
    return self.initialised && !self.forked ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

/* A context that is destroyed under it takes the process with it, and a graph that is being captured is lost. */
EXPORT CUresult cuCtxSynchronize(void) {
    CUresult result = process_fault(CALL_SYNCHRONIZE);
    if (!current) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (!current->used) {
        abort();
    }
    result = result ? result : gate_enter();
    if (result == CUDA_SUCCESS) {
        gate_leave();
    }
    return result ? result : streams_invalidate();
}

static const struct {
    CUresult code;
    const char *name, *text;
} results[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_OPERATING_SYSTEM, "CUDA_ERROR_OPERATING_SYSTEM", "OS call failed or operation not supported on this OS"},
    {CUDA_ERROR_ILLEGAL_STATE, "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {4, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {34, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {800, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"},
    {909, "CUDA_ERROR_TIMEOUT", "the operation timed out"},
    {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

static CUresult look_up(CUresult code, const char **to, int name) {
    *to = NULL;
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
        if (results[i].code == code) {
            *to = name ? results[i].name : results[i].text;
        }
    }
    return *to ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

EXPORT CUresult cuGetErrorName(CUresult code, const char **name) { return look_up(code, name, 1); }

EXPORT CUresult cuGetErrorString(CUresult code, const char **text) { return look_up(code, text, 0); }

EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags, int *found) {
    char exact[128];
    Dl_info here;
    (void)version, (void)flags;
    void *library = dladdr((void *)(uintptr_t)&cuGetProcAddress_v2, &here) ? dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    snprintf(exact, sizeof exact, "%s_v2", symbol);
    *function = library ? dlsym(library, exact) : NULL;
    if (library && !*function) {
        *function = dlsym(library, symbol);
    }
    if (library) {
        dlclose(library);
    }
    if (found) {
        *found = *function ? 0 : 1; /* CU_GET_PROC_ADDRESS_SUCCESS, SYMBOL_NOT_FOUND */
    }
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
