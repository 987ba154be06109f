/* io_uring rings as in libuv, idle at the end of each step, and rings that cannot be checkpointed. */
#define _GNU_SOURCE
#include "counter.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef IORING_SETUP_NO_SQARRAY
#define IORING_SETUP_NO_SQARRAY (1U << 16)
#endif

enum { BATCH = 40, UNREAD = 30, ENTRY = 64, TIMEOUT_MS = 10000 };

struct ring {
    int fd;
    unsigned flags, entries, *sq_head, *sq_tail, *sq_flags, *array, *cq_head, *cq_tail, cq_mask;
    struct io_uring_sqe *sqes;
    struct io_uring_cqe *cqes;
    void *at;
    size_t size;
    uint64_t sent, received;
};

/* Rings of libuv: one for epoll_ctl, one whose kernel thread takes file operations. late has
 * completions that are not read. */
static struct ring control, polled, bare, unused, late;
static int readiness, pipes[2];

static int make(struct ring *ring, unsigned entries, unsigned flags) {
    struct io_uring_params p = {.flags = flags, .sq_thread_idle = 10};
    ring->fd = (int)syscall(SYS_io_uring_setup, entries, &p);
    if (ring->fd < 0) return -1;
    size_t sq = flags & IORING_SETUP_NO_SQARRAY ? 0 : p.sq_off.array + p.sq_entries * sizeof(unsigned);
    size_t cq = p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe);
    ring->size = sq > cq ? sq : cq;
    char *at = ring->at = mmap(NULL, ring->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->fd,
                    IORING_OFF_SQ_RING);
    ring->sqes = mmap(NULL, p.sq_entries * ENTRY, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->fd,
                      IORING_OFF_SQES);
    if (at == MAP_FAILED || ring->sqes == MAP_FAILED) return -1;
    ring->flags = flags;
    ring->entries = p.sq_entries;
    ring->sq_head = (unsigned *)(at + p.sq_off.head);
    ring->sq_tail = (unsigned *)(at + p.sq_off.tail);
    ring->sq_flags = (unsigned *)(at + p.sq_off.flags);
    ring->array = (unsigned *)(at + p.sq_off.array);
    ring->cq_head = (unsigned *)(at + p.cq_off.head);
    ring->cq_tail = (unsigned *)(at + p.cq_off.tail);
    ring->cq_mask = p.cq_entries - 1;
    ring->cqes = (struct io_uring_cqe *)(at + p.cq_off.cqes);
    for (unsigned i = 0; sq && i < p.sq_entries; i++) ring->array[i] = i;
    return 0;
}

static void queue(struct ring *ring, int operation, int fd, const void *buffer, unsigned length) {
    unsigned tail = *ring->sq_tail;
    struct io_uring_sqe *sqe = &ring->sqes[tail & (ring->entries - 1)];
    *sqe = (struct io_uring_sqe){.opcode = operation, .fd = fd, .addr = (uintptr_t)buffer, .len = length};
    if (operation == IORING_OP_READ || operation == IORING_OP_WRITE) sqe->off = -1;
    sqe->user_data = ++ring->sent;
    __atomic_store_n(ring->sq_tail, tail + 1, __ATOMIC_RELEASE);
}

static void submit(struct ring *ring, unsigned count) {
    if (!(ring->flags & IORING_SETUP_SQPOLL)) {
        if (syscall(SYS_io_uring_enter, ring->fd, count, 0, 0, NULL, 0) != count) bad("submissions to a ring");
        return;
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(ring->sq_flags, __ATOMIC_ACQUIRE) & IORING_SQ_NEED_WAKEUP &&
        syscall(SYS_io_uring_enter, ring->fd, 0, 0, IORING_ENTER_SQ_WAKEUP, NULL, 0) < 0)
        bad("the thread of a ring");
}

static void reap(struct ring *ring, unsigned count, int result) {
    while (count--) {
        unsigned head = *ring->cq_head;
        while (head == __atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE))
            if (syscall(SYS_io_uring_enter, ring->fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0 && errno != EINTR)
                bad("a wait for a ring");
        struct io_uring_cqe *cqe = &ring->cqes[head & ring->cq_mask];
        if (cqe->user_data != ++ring->received || cqe->res != result) bad("a completion of a ring");
        __atomic_store_n(ring->cq_head, head + 1, __ATOMIC_RELEASE);
    }
}

static void idle(struct ring *ring, unsigned count) {
    for (unsigned i = 0; i < count; i++) queue(ring, IORING_OP_NOP, -1, NULL, 0);
    submit(ring, count);
}

void ring_start(void) {
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 0x1234567890};
    readiness = epoll_create1(EPOLL_CLOEXEC);
    if (make(&control, 256, 0) || make(&polled, 64, IORING_SETUP_SQPOLL) || make(&unused, 64, IORING_SETUP_SQPOLL) ||
        make(&late, 64, 0) || (make(&bare, 256, IORING_SETUP_NO_SQARRAY) && make(&bare, 256, 0)) || pipe(pipes) ||
        readiness < 0 || epoll_ctl(readiness, EPOLL_CTL_ADD, polled.fd, &event)) {
        perror("gpu-counter: --io-uring");
        exit(3);
    }
    /* The unread ones wrap around the end of the ring. */
    for (int i = 0; i < 3; i++) {
        idle(&late, BATCH);
        reap(&late, BATCH, 0);
    }
    idle(&late, UNREAD);
}

/* More in each step than some of them have space for. */
void ring_check(uint64_t step) {
    struct epoll_event event;
    char out[8] = "", in[8];
    int ready;

    if (!bare.entries) return;
    idle(&bare, BATCH);
    reap(&bare, BATCH, 0);
    idle(&polled, BATCH);
    do {
        ready = epoll_wait(readiness, &event, 1, TIMEOUT_MS);
    } while (ready < 0 && errno == EINTR);
    if (ready != 1 || event.data.u64 != 0x1234567890) bad("an epoll with a ring");
    reap(&polled, BATCH, 0);
    snprintf(in, sizeof in, "%07u", (unsigned)(step % 10000000));
    queue(&polled, IORING_OP_WRITE, pipes[1], in, sizeof in);
    submit(&polled, 1);
    reap(&polled, 1, sizeof in);
    queue(&control, IORING_OP_READ, pipes[0], out, sizeof out);
    submit(&control, 1);
    reap(&control, 1, sizeof out);
    if (memcmp(in, out, sizeof in)) bad("a pipe that rings write and read");
    if (step % 8 == 7) {
        reap(&late, UNREAD, 0);
        idle(&late, UNREAD);
    }
}

/* A ring that cannot be checkpointed. Returns its descriptor. */
int ring_odd(const char *kind) {
    struct ring ring = {0};
    static char buffer[64];
    static struct iovec registered = {buffer, sizeof buffer};
    static struct __kernel_timespec two_seconds = {.tv_sec = 2};
    int unread[2];

    if (make(&ring, strcmp(kind, "small") == 0 ? 4 : 64, 0)) return -1;
    if (strcmp(kind, "busy") == 0) {
        if (pipe(unread)) return -1;
        queue(&ring, IORING_OP_READ, unread[0], buffer, sizeof buffer);
        submit(&ring, 1);
    } else if (strcmp(kind, "brief") == 0) {
        queue(&ring, IORING_OP_TIMEOUT, -1, &two_seconds, 1);
        submit(&ring, 1);
    } else if (strcmp(kind, "buffers") == 0) {
        if (syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_BUFFERS, &registered, 1)) return -1;
    }
    munmap(ring.at, ring.size);
    munmap(ring.sqes, ring.entries * ENTRY);
    return ring.fd;
}
