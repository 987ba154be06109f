/* vmm PROMISE: one promise about virtual memory; prints what is wrong and ends with 1. */
#define _GNU_SOURCE
#include "../src/cuda-abi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 4 << 20 };
int cuInit(unsigned), cuDevicePrimaryCtxRetain(void **, int), cuCtxCreate_v2(void **, unsigned, int), cuCtxSetCurrent(void *), cuCtxDestroy_v2(void *);
int cuMemGetInfo_v2(size_t *, size_t *), cuMemAlloc_v2(uint64_t *, size_t), cuMemsetD32_v2(uint64_t, unsigned, size_t);
int cuMemcpyDtoH_v2(void *, uint64_t, size_t), cuMemcpyDtoD_v2(uint64_t, uint64_t, size_t);
int cuMemAddressReserve(uint64_t *, size_t, size_t, uint64_t, uint64_t), cuMemAddressFree(uint64_t, size_t);
int cuMemCreate(uint64_t *, size_t, const CUmemAllocationProp *, uint64_t), cuMemRelease(uint64_t), cuMemMap(uint64_t, size_t, size_t, uint64_t, uint64_t);
int cuMemUnmap(uint64_t, size_t), cuMemSetAccess(uint64_t, size_t, const CUmemAccessDesc *, size_t);
int cuMemExportToShareableHandle(void *, uint64_t, int, uint64_t), cuMemImportFromShareableHandle(uint64_t *, void *, int);
int cuCheckpointProcessLock(int, void *), cuCheckpointProcessCheckpoint(int, void *), cuCheckpointProcessRestore(int, void *), cuCheckpointProcessUnlock(int, void *);

static const CUmemAccessDesc read_write = {1, 0, 3};
static void *context;

static void expect(int line, const char *what, long wanted, long found) {
    if (wanted != found) {
        printf("line %d: %s: expected %ld, got %ld\n", line, what, wanted, found);
        fflush(stdout);
        _exit(1);
    }
}
#define EXPECT(wanted, call) expect(__LINE__, #call, wanted, (long)(call))

static void begin(void) {
    EXPECT(0, cuInit(0));
    EXPECT(0, cuDevicePrimaryCtxRetain(&context, 0));
    EXPECT(0, cuCtxSetCurrent(context));
}

static long free_mib(void) {
    size_t left, total;
    EXPECT(0, cuMemGetInfo_v2(&left, &total));
    return (long)(left >> 20);
}

static uint64_t create(int exportable) {
    const CUmemAllocationProp prop = {.type = 1, .requestedHandleTypes = exportable, .locationType = 1};
    uint64_t handle;
    EXPECT(0, cuMemCreate(&handle, SIZE, &prop, 0));
    return handle;
}

static uint64_t mapped(uint64_t handle) {
    uint64_t address;
    EXPECT(0, cuMemAddressReserve(&address, SIZE, 0, 0, 0));
    EXPECT(0, cuMemMap(address, SIZE, 0, handle, 0));
    EXPECT(0, cuMemSetAccess(address, SIZE, &read_write, 1));
    return address;
}

static int holds(uint64_t address, unsigned value) {
    static unsigned words[SIZE / 4];
    if (cuMemcpyDtoH_v2(words, address, SIZE)) {
        return 0;
    }
    for (size_t i = 0; i < SIZE / 4; i++) {
        if (words[i] != value) {
            return 0;
        }
    }
    return 1;
}

static void send_fd(int socket, int fd) {
    char byte = 0, control[CMSG_SPACE(sizeof fd)] = {0};
    struct iovec vector = {&byte, 1};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    *head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    EXPECT(1, sendmsg(socket, &message, 0));
}

static int receive_fd(int socket) {
    int fd = -1;
    char byte, control[CMSG_SPACE(sizeof fd)];
    struct iovec vector = {&byte, 1};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    EXPECT(1, recvmsg(socket, &message, 0));
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    return fd;
}

/* Runs `program` in a child with a socket to it. */
static pid_t child(void (*program)(int), int *socket) {
    int pair[2];
    EXPECT(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(pair[0]);
        program(pair[1]);
        _exit(0);
    }
    close(pair[1]);
    *socket = pair[0];
    return pid;
}

static char hear(int socket) {
    char byte = 0;
    return read(socket, &byte, 1) == 1 ? byte : 0;
}

static void say(int socket, char byte) { EXPECT(1, write(socket, &byte, 1)); }

static void exporter(int socket) {
    int fd;
    begin();
    uint64_t handle = create(1), address = mapped(handle);
    EXPECT(0, cuMemsetD32_v2(address, 4711, SIZE / 4));
    EXPECT(0, cuMemExportToShareableHandle(&fd, handle, 1, 0));
    send_fd(socket, fd);
    hear(socket);
}

static void imported_memory_outlives_its_exporter(void) {
    int socket;
    pid_t pid = child(exporter, &socket);
    int fd = receive_fd(socket);
    begin();
    long before = free_mib();
    uint64_t handle, other;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    EXPECT(before + 2, free_mib()); /* its context is gone, not what it exported */
    EXPECT(0, cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fd, 1));
    EXPECT(0, cuMemImportFromShareableHandle(&other, (void *)(intptr_t)fd, 1)); /* as often as one likes */
    EXPECT(0, cuMemRelease(other));
    close(fd);
    uint64_t address = mapped(handle);
    EXPECT(1, holds(address, 4711));
    EXPECT(1, cuMemExportToShareableHandle(&fd, handle, 1, 0)); /* an import cannot be exported again */
    EXPECT(0, cuMemUnmap(address, SIZE));
    EXPECT(0, cuMemRelease(handle));
    EXPECT(before + 2 + SIZE / (1 << 20), free_mib());
}

static void a_descriptor_alone_keeps_memory(void) {
    int socket;
    pid_t pid = child(exporter, &socket);
    int fd = receive_fd(socket);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    begin();
    long before = free_mib();
    close(fd);
    EXPECT(before + SIZE / (1 << 20), free_mib());
}

static void addresses_and_memory_are_separate_things(void) {
    begin();
    uint64_t handle = create(0), address, taken;
    int fd;
    long before = free_mib();
    EXPECT(1, cuMemExportToShareableHandle(&fd, handle, 1, 0)); /* it was not made to be exported */
    EXPECT(0, cuMemAddressReserve(&address, SIZE, 0, 0, 0));
    EXPECT(1, cuMemsetD32_v2(address, 1, 4));
    EXPECT(0, cuMemMap(address, SIZE, 0, handle, 0));
    EXPECT(1, cuMemsetD32_v2(address, 1, 4)); /* no access yet */
    EXPECT(0, cuMemSetAccess(address, SIZE, &read_write, 1));
    EXPECT(0, cuMemsetD32_v2(address, 5, SIZE / 4));
    EXPECT(0, cuMemRelease(handle));
    EXPECT(1, holds(address, 5)); /* the mapping keeps it */
    EXPECT(1, cuMemMap(address, SIZE, 0, handle, 0));
    EXPECT(1, cuMemAddressFree(address, SIZE)); /* still mapped */
    EXPECT(1, cuMemUnmap(address, SIZE / 2));   /* a part of a mapping */
    EXPECT(0, cuMemAddressReserve(&taken, SIZE, 0, address, 0));
    EXPECT(1, taken != address); /* an address is only a hint */
    EXPECT(0, cuMemUnmap(address, SIZE));
    EXPECT(before + SIZE / (1 << 20), free_mib());
    EXPECT(1, holds(address, 5) == 0);
    EXPECT(0, cuMemAddressFree(address, SIZE));
    EXPECT(0, cuMemAddressReserve(&taken, SIZE, 0, address, 0));
    EXPECT(1, taken == address);
}

static void a_context_takes_its_memory_along(void) {
    void *other;
    uint64_t address;
    begin();
    long before = free_mib();
    EXPECT(0, cuCtxCreate_v2(&other, 0, 0));
    EXPECT(0, cuMemAlloc_v2(&address, SIZE));
    EXPECT(0, cuCtxDestroy_v2(other));
    EXPECT(0, cuCtxSetCurrent(context));
    EXPECT(before, free_mib());
}

static int keeps_export, exports;

static void workload(int socket) {
    int fd;
    begin();
    uint64_t gap = create(0), handle = create(1), shared = create(1), address = mapped(handle);
    EXPECT(0, cuMemRelease(gap)); /* so that the block is another one after Restore */
    EXPECT(0, cuMemsetD32_v2(address, 77, SIZE / 4));
    if (exports) {
        EXPECT(0, cuMemExportToShareableHandle(&fd, shared, 1, 0));
        close(fd);
    }
    if (!keeps_export) {
        EXPECT(0, cuMemRelease(shared));
    }
    say(socket, 'r');
    hear(socket);
    say(socket, holds(address, 77) ? 'y' : 'n');
}

static void round_trip(int restore_result) {
    int socket;
    uint64_t none[8] = {0};
    pid_t pid = child(workload, &socket);
    EXPECT('r', hear(socket));
    int locked = 3;
    for (int i = 0; i < 1000 && locked == 3; i++) { /* until its hidden thread has begun */
        locked = cuCheckpointProcessLock(pid, none);
        usleep(locked == 3 ? 10000 : 0);
    }
    EXPECT(0, locked);
    EXPECT(0, cuCheckpointProcessCheckpoint(pid, none));
    EXPECT(restore_result, cuCheckpointProcessRestore(pid, none));
    if (restore_result == 0) {
        EXPECT(0, cuCheckpointProcessUnlock(pid, none));
        say(socket, 'g');
        EXPECT('y', hear(socket));
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void mapped_memory_comes_back_at_its_address(void) {
    keeps_export = 1;
    round_trip(0);
}

static void memory_exported_and_still_held_is_lost_in_restore(void) {
    keeps_export = exports = 1;
    round_trip(801);
}

static void memory_exported_and_released_does_not_matter(void) {
    exports = 1;
    round_trip(0);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {
#define PROMISE(name) {#name, name}
        PROMISE(imported_memory_outlives_its_exporter), PROMISE(a_descriptor_alone_keeps_memory),
        PROMISE(addresses_and_memory_are_separate_things), PROMISE(a_context_takes_its_memory_along),
        PROMISE(mapped_memory_comes_back_at_its_address), PROMISE(memory_exported_and_still_held_is_lost_in_restore),
        PROMISE(memory_exported_and_released_does_not_matter)};
    for (size_t i = 0; argc == 2 && i < sizeof all / sizeof all[0]; i++) {
        if (strcmp(argv[1], all[i].name) == 0) {
            all[i].run();
            return 0;
        }
    }
    return 2;
}
