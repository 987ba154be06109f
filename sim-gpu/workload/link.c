/* The connection of two processes that both use a GPU: a pipe, a Unix socket, a TCP connection or
 * memory. */
#define _GNU_SOURCE
#include "counter.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2] = {-1, -1};

static int connection(void) {
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof here;
    int server = socket(AF_INET, SOCK_STREAM, 0);
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    int failed = bind(server, (void *)&here, length) || listen(server, 1) || getsockname(server, (void *)&here, &length) ||
                 connect(ends[0], (void *)&here, length) || (ends[1] = accept(server, NULL, NULL)) < 0;
    close(server);
    return failed;
}

void link_start(const char *kind) {
    int failed = strcmp(kind, "pipe") == 0   ? pipe(ends)
                 : strcmp(kind, "unix") == 0 ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends)
                 : strcmp(kind, "tcp") == 0  ? connection()
                 : strcmp(kind, "shm") == 0  ? mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
                                             : -1;
    if (failed) {
        perror("gpu-counter: --link");
        _exit(3);
    }
}

void link_keep(int child) { close(ends[child]); }
