/* The few driver calls that the program needs, from any libcuda.so.1. */
#define _GNU_SOURCE
#include "counter.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void *library;
static void *context;

static void *symbol(const char *name) {
    void *found = library ? dlsym(library, name) : NULL;
    if (!found) {
        fprintf(stderr, "gpu-counter: %s\n", dlerror());
        _exit(3);
    }
    return found;
}

static void need(const char *call, int result) {
    if (result == 700) { /* illegal address: the context did not survive */
        bad(call);
    }
    if (result) {
        fprintf(stderr, "gpu-counter: %s gave %d\n", call, result);
        _exit(3);
    }
}

static int (*allocate)(uint64_t *, size_t);
static int (*allocate_managed)(uint64_t *, size_t, unsigned);
static int (*to_device)(uint64_t, const void *, size_t);
static int (*to_host)(void *, uint64_t, size_t);
static int (*set)(uint64_t, unsigned char, size_t);
static int (*set_current)(void *);

void device_open(long ordinal) {
    library = dlopen("libcuda.so.1", RTLD_NOW);
    int (*init)(unsigned) = symbol("cuInit");
    int (*get)(int *, int) = symbol("cuDeviceGet");
    int (*create)(void **, unsigned, int) = symbol("cuCtxCreate_v2");
    int (*retain)(void **, int) = symbol("cuDevicePrimaryCtxRetain");
    allocate = symbol("cuMemAlloc_v2");
    allocate_managed = symbol("cuMemAllocManaged");
    to_device = symbol("cuMemcpyHtoD_v2");
    to_host = symbol("cuMemcpyDtoH_v2");
    set = symbol("cuMemsetD8_v2");
    set_current = symbol("cuCtxSetCurrent");
    int device;
    need("cuInit", init(0));
    need("cuDeviceGet", get(&device, (int)ordinal));
    if (create(&context, 0, device)) {
        need("cuDevicePrimaryCtxRetain", retain(&context, device));
        device_use();
    }
}

void device_use(void) { need("cuCtxSetCurrent", set_current(context)); }

uint64_t device_allocate(size_t bytes) {
    uint64_t address;
    need("cuMemAlloc", allocate(&address, bytes));
    return address;
}

uint64_t device_allocate_managed(size_t bytes) {
    uint64_t address;
    need("cuMemAllocManaged", allocate_managed(&address, bytes, 1));
    return address;
}

void device_write(uint64_t to, const void *from, size_t bytes) { need("cuMemcpyHtoD", to_device(to, from, bytes)); }

void device_read(void *to, uint64_t from, size_t bytes) { need("cuMemcpyDtoH", to_host(to, from, bytes)); }

void device_set(uint64_t at, unsigned char value, size_t bytes) { need("cuMemsetD8", set(at, value, bytes)); }

void device_share(uint64_t address) {
    char handle[64];
    int (*share)(void *, uint64_t) = symbol("cuIpcGetMemHandle");
    need("cuIpcGetMemHandle", share(handle, address));
}

/* The segment that NCCL's shared-memory transport maps in both ranks. */
void device_segment(void) {
    char path[64];
    snprintf(path, sizeof path, "/dev/shm/nccl-%d", getpgrp());
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, 4096) || mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED) {
        perror(path);
        _exit(3);
    }
    close(fd);
}

static int is(const char *setting, const char *value) {
    const char *found = getenv(setting);
    return found && strcmp(found, value) == 0;
}

static void load_nccl(void) {
    if (!dlopen("libnccl.so.2", RTLD_NOW)) {
        fprintf(stderr, "gpu-counter: %s\n", dlerror());
        _exit(3);
    }
}

void device_join(uint64_t address, int ranks) {
    load_nccl();
    if (ranks > 1 && !is("NCCL_SHM_DISABLE", "1")) {
        device_segment();
    }
    if (ranks > 1 && !is("NCCL_P2P_DISABLE", "1")) {
        device_share(address);
    }
}

void device_init(void) {
    library = dlopen("libcuda.so.1", RTLD_NOW);
    int (*init)(unsigned) = symbol("cuInit");
    need("cuInit", init(0));
    load_nccl();
}

void device_spin(long milliseconds) {
    /* Not a function of the driver: behind a library that stands before the driver, the driver itself has it. */
    const char *driver = getenv("STASIS_REAL_LIBCUDA");
    int (*spin)(unsigned) = (int (*)(unsigned))dlsym(driver ? dlopen(driver, RTLD_NOW) : library, "simLongKernel");
    need("simLongKernel", spin ? 0 : -1);
    need("simLongKernel", spin((unsigned)milliseconds));
}

void buffer_make(struct buffer *buffer, uint64_t chunks, int managed) {
    buffer->chunks = chunks;
    buffer->address = managed ? device_allocate_managed(chunks * CHUNK) : device_allocate(chunks * CHUNK);
    buffer->last = calloc(chunks, sizeof *buffer->last);
    buffer->words = malloc(CHUNK);
    if (!buffer->last || !buffer->words) {
        perror("gpu-counter");
        _exit(3);
    }
    for (uint64_t i = 0; i < chunks; i++) {
        pattern_fill(buffer->words, 0, i);
        device_write(buffer->address + i * CHUNK, buffer->words, CHUNK);
    }
}

static int chunk_is(struct buffer *buffer, uint64_t chunk) {
    device_read(buffer->words, buffer->address + chunk * CHUNK, CHUNK);
    return pattern_holds(buffer->words, buffer->last[chunk], chunk);
}

int buffer_check(struct buffer *buffer) {
    int right = 1;
    for (uint64_t i = 0; i < buffer->chunks; i++) {
        right &= chunk_is(buffer, i);
    }
    return right;
}

int buffer_step(struct buffer *buffer, uint64_t step, uint64_t *sum) {
    uint64_t chunk = step % buffer->chunks;
    int right = chunk_is(buffer, chunk); /* as an earlier step left it */
    buffer->last[chunk] = step;
    pattern_fill(buffer->words, step, chunk);
    device_write(buffer->address + chunk * CHUNK, buffer->words, CHUNK);
    right &= chunk_is(buffer, chunk);
    *sum = pattern_digest(buffer->words, step);
    return right;
}
