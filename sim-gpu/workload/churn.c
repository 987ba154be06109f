/* Threads that constantly change the process: its address space, its children, its signals; and a
 * TCP server. */
#define _GNU_SOURCE
#include "counter.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static atomic_ulong sent, received;
static unsigned long sent_before; /* what had been sent at the previous check */
static int churning;

static void nap(long milliseconds) {
    struct timespec pause = {0, milliseconds * 1000000};
    nanosleep(&pause, NULL);
}

static void on_signal(int signal) {
    (void)signal;
    atomic_fetch_add(&received, 1);
}

static void *churn_memory(void *unused) {
    for (unsigned long i = 1;; i++) {
        size_t bytes = (size_t)(1 + i * 7 % 61) << 14;
        uint64_t *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (map != MAP_FAILED) {
            for (size_t at = 0; at < bytes / 8; at += 512) {
                map[at] = i ^ at;
            }
            nap(3);
            for (size_t at = 0; at < bytes / 8; at += 512) {
                if (map[at] != (i ^ at)) {
                    bad("memory that comes and goes");
                }
            }
            munmap(map, bytes);
        }
    }
    return unused;
}

/* Every other child has the driver's descriptors for two milliseconds, as after a fork whose handlers
 * have not run yet. */
static void *churn_children(void *unused) {
    for (unsigned long i = 0;; i++) {
        pid_t child = i % 2 ? (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL) : fork();
        if (child == 0) {
            if (i % 2) {
                nap(2);
            }
            _exit(7);
        }
        int status = 0;
        while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        if (child > 0 && (!WIFEXITED(status) || WEXITSTATUS(status) != 7)) {
            bad("a child process");
        }
        nap(15);
    }
    return unused;
}

static void *churn_signals(void *unused) {
    union sigval value = {0};
    for (;;) {
        if (sigqueue(getpid(), SIGRTMIN + 3, value) == 0) {
            atomic_fetch_add(&sent, 1);
        }
        nap(2);
    }
    return unused;
}

static void spawn(void *(*run)(void *), void *argument) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, argument)) {
        perror("gpu-counter");
        _exit(3);
    }
}

void churn_start(void) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(SIGRTMIN + 3, &action, NULL);
    churning = 1;
    spawn(churn_memory, NULL);
    spawn(churn_children, NULL);
    spawn(churn_signals, NULL);
}

void churn_check(void) {
    if (churning && atomic_load(&received) < sent_before) {
        bad("a signal was lost");
    }
    sent_before = atomic_load(&sent);
}

/* Answers every connection, and every line on it, with the counter. */
static void *serve(void *argument) {
    struct pollfd fd[17] = {{.fd = (int)(intptr_t)argument, .events = POLLIN}};
    nfds_t count = 1;
    for (;;) {
        if (poll(fd, count, -1) < 0) {
            continue;
        }
        if (fd[0].revents && count < 17) {
            int accepted = accept4(fd[0].fd, NULL, NULL, SOCK_CLOEXEC);
            if (accepted >= 0) {
                fd[count] = (struct pollfd){.fd = accepted, .events = POLLIN};
                dprintf(fd[count++].fd, "%lu\n", atomic_load(&counter));
            }
        }
        for (nfds_t i = 1; i < count; i++) {
            char line[256];
            if (!fd[i].revents) {
                continue;
            }
            if (read(fd[i].fd, line, sizeof line) > 0) {
                dprintf(fd[i].fd, "%lu\n", atomic_load(&counter));
            } else {
                close(fd[i].fd);
                fd[i--] = fd[--count];
            }
        }
    }
    return NULL;
}

void server_start(long port) {
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 8)) {
        perror("gpu-counter: listen");
        _exit(3);
    }
    signal(SIGPIPE, SIG_IGN);
    spawn(serve, (void *)(intptr_t)fd);
}
