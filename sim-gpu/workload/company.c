/* Host memory, files and threads that a program has besides its GPU memory, each checked too. */
#define _GNU_SOURCE
#include "counter.h"

#include <fcntl.h>
#include <malloc.h>
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define HOST_BYTES ((size_t)5 << 20)
/* One part of the host memory is rewritten each step. */
enum { HOST_PARTS = 8, HOST_PART = (5 << 20) / 8 / HOST_PARTS };

static uint64_t *host;                 /* rewritten a part at a time */
static uint64_t host_last[HOST_PARTS]; /* the step that did it */
static uint64_t *writer;               /* written all the time */
static _Atomic uint64_t *shared;
static int deleted = -1;
static sem_t ready, mapped;
static int loader = -1;
static long thread_ms = 20; /* between two steps of a further thread, at least */
static uint64_t loaded;
static char shared_path[64];

static uint64_t *map(size_t bytes) {
    void *found = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (found == MAP_FAILED) {
        perror("gpu-counter");
        _exit(3);
    }
    return found;
}

static void nap(long milliseconds) {
    struct timespec pause = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

static void spawn(void *(*run)(void *)) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, NULL)) {
        perror("gpu-counter");
        _exit(3);
    }
}

static void *use_the_gpu_too(void *unused) {
    struct buffer own;
    uint64_t sum;
    device_use();
    buffer_make(&own, 2, 0);
    sem_post(&ready);
    for (uint64_t step = 1;; step++) {
        if (!buffer_step(&own, step, &sum)) {
            bad("device memory of another thread");
        }
        nap(thread_ms);
    }
    return unused;
}

static void *write_all_the_time(void *unused) {
    sem_post(&ready);
    while (sem_wait(&mapped)) {
    }
    for (uint64_t pass = 1;; pass++) {
        for (size_t at = 0; at < HOST_BYTES / 8; at += 64) {
            if (writer[at] != pass - 1) {
                bad("host memory that is written all the time");
            }
            writer[at] = pass;
        }
        nap(1);
    }
    return unused;
}

static void open_shared(void) {
    snprintf(shared_path, sizeof shared_path, "/dev/shm/gpu-counter-%d", getpid());
    int fd = open(shared_path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    void *found = fd < 0 || ftruncate(fd, 4096) ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (found == MAP_FAILED) {
        perror(shared_path);
        _exit(3);
    }
    close(fd);
    shared = found;
}

static void open_deleted(void) {
    char path[] = "/tmp/gpu-counter-XXXXXX";
    deleted = mkstemp(path);
    uint64_t zero = 0;
    if (deleted < 0 || unlink(path) || pwrite(deleted, &zero, sizeof zero, 0) != sizeof zero) {
        perror(path);
        _exit(3);
    }
}

/* Like torchrun's store: one end is IPv4, the other a socket that also serves IPv6. */
static int connected(int pair[2]) {
    struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_addr = in6addr_any};
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof any;
    int no = 0, server = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    pair[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (setsockopt(server, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no) || bind(server, (void *)&any, sizeof any) || listen(server, 1) ||
        getsockname(server, (void *)&any, &length)) {
        return -1;
    }
    here.sin_port = any.sin6_port;
    if (connect(pair[0], (void *)&here, sizeof here)) {
        return -1;
    }
    pair[1] = accept4(server, NULL, NULL, SOCK_CLOEXEC);
    close(server);
    return pair[1] < 0 ? -1 : 0;
}

/* Like PyTorch's data loaders: forked by a process that uses a GPU, working for it, without using
 * the GPU. */
static void start_loader(int over_tcp) {
    int pair[2];
    uint64_t step, sum = 0;
    pid_t pid = (over_tcp ? connected(pair) : socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) ? -1 : fork();
    if (pid < 0) {
        perror("gpu-counter: --loader");
        _exit(3);
    }
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, "loader");
        close(pair[0]);
        uint64_t *own = map(HOST_BYTES), last = 0;
        pattern_fill_part(own, last, 1, 0, HOST_BYTES / 8);
        while (recv(pair[1], &step, sizeof step, MSG_WAITALL) == sizeof step) {
            if (!pattern_part_holds(own, last, 1, 0, HOST_BYTES / 8)) {
                _exit(1); /* the process that sent the step reports the loader's failure */
            }
            pattern_fill_part(own, step, 1, 0, HOST_BYTES / 8);
            last = step;
            sum += step;
            if (send(pair[1], &sum, sizeof sum, 0) != sizeof sum) {
                break;
            }
        }
        _exit(0);
    }
    close(pair[1]);
    loader = pair[0];
}

static void check_loader(uint64_t step) {
    uint64_t sum;
    loaded += step;
    if (send(loader, &step, sizeof step, MSG_NOSIGNAL) != sizeof step || recv(loader, &sum, sizeof sum, MSG_WAITALL) != sizeof sum || sum != loaded) {
        bad("a loader");
    }
}

void company_start(const struct options *options) {
    mallopt(M_ARENA_MAX, 1); /* an arena of a thread would use the free addresses below */
    sem_init(&ready, 0, 0);
    sem_init(&mapped, 0, 0);
    if (options->interval_ms > thread_ms) {
        thread_ms = options->interval_ms;
    }
    for (long i = 0; i < options->threads; i++) {
        spawn(use_the_gpu_too);
    }
    if (options->busy_writer) {
        spawn(write_all_the_time);
    }
    if (options->port) {
        server_start(options->port);
    }
    if (options->churn) {
        churn_start();
    }
    if (options->loader || options->loopback) {
        start_loader(options->loopback);
    }
    if (options->own_address) {
        address_start();
    }
    if (options->io_uring) {
        ring_start();
    }
    if (options->shm) {
        open_shared();
    }
    if (options->deleted_file) {
        open_deleted();
    }
    for (long i = 0; i < options->threads + options->busy_writer; i++) {
        while (sem_wait(&ready)) {
        }
    }
    /* Last, below all stacks and arenas, so that there are free addresses beside them. */
    host = map(HOST_BYTES);
    pattern_fill_part(host, 0, 0, 0, HOST_BYTES / 8);
    if (options->busy_writer) {
        writer = map(HOST_BYTES);
        sem_post(&mapped);
    }
}

static int check_host(uint64_t part) {
    return pattern_part_holds(host, host_last[part], 0, part * HOST_PART, HOST_PART);
}

int company_check(uint64_t step, int full) {
    uint64_t part = step % HOST_PARTS, before;
    int right = check_host(part);
    host_last[part] = step;
    pattern_fill_part(host, step, 0, part * HOST_PART, HOST_PART);
    for (uint64_t i = 0; full && i < HOST_PARTS; i++) {
        right &= check_host(i);
    }
    if (!right) {
        bad("host memory");
    }
    if (shared) {
        if (*shared != step - 1) {
            bad("shared memory");
        }
        *shared = step;
    }
    if (deleted >= 0) {
        if (pread(deleted, &before, sizeof before, 0) != sizeof before || before != step - 1 ||
            pwrite(deleted, &step, sizeof step, 0) != sizeof step) {
            bad("deleted file");
        }
    }
    if (loader >= 0) {
        check_loader(step);
    }
    address_check(step);
    ring_check(step);
    if (full) {
        churn_check();
    }
    return right;
}

void company_end(void) {
    if (shared) {
        unlink(shared_path);
    }
}
