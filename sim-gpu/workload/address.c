/* Sockets bound to the address of the machine, like those of NCCL, gloo and Ray. */
#define _GNU_SOURCE
#include "counter.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* One address: a listener, a datagram socket, and a connection of this process with itself. */
static struct own {
    int family, listener, datagrams, near, far;
} owns[2] = {{.family = AF_INET, .listener = -1}, {.family = AF_INET6, .listener = -1}};

static socklen_t length_of(int family) { return family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6); }

static int same(const union address *one, const union address *other) {
    return one->any.sa_family == AF_INET ? one->v4.sin_addr.s_addr == other->v4.sin_addr.s_addr
                                         : !memcmp(&one->v6.sin6_addr, &other->v6.sin6_addr, sizeof one->v6.sin6_addr);
}

/* Finds an address of this machine that other machines can reach; with "like", whether that one
 * exists. */
static int find(int family, const union address *like, union address *found) {
    struct ifaddrs *all, *one;
    int is_there = 0;
    if (getifaddrs(&all)) {
        return 0;
    }
    for (one = all; one && !is_there; one = one->ifa_next) {
        const union address *address = (const void *)one->ifa_addr;
        if (!address || address->any.sa_family != family || (one->ifa_flags & IFF_LOOPBACK) ||
            (family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&address->v6.sin6_addr)) || (like && !same(like, address))) {
            continue;
        }
        is_there = 1;
        memcpy(found, address, length_of(family));
    }
    freeifaddrs(all);
    return is_there;
}

static int bound(const struct own *own, int type, union address *address) {
    int fd = socket(own->family, type | SOCK_CLOEXEC, 0);
    return fd < 0 || bind(fd, &address->any, length_of(own->family)) ? -1 : fd;
}

static int exchange(int near, int far, uint64_t value) {
    uint64_t got = 0;
    return send(near, &value, sizeof value, MSG_NOSIGNAL) == sizeof value && recv(far, &got, sizeof got, MSG_WAITALL) == sizeof got && got == value;
}

static int connect_to_itself(const struct own *own, int *near, int *far) {
    union address address;
    socklen_t length = sizeof address;
    *far = -1;
    *near = socket(own->family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*near >= 0 && !getsockname(own->listener, &address.any, &length) && !connect(*near, &address.any, length)) {
        *far = accept4(own->listener, NULL, NULL, SOCK_CLOEXEC);
    }
    return *far >= 0;
}

void address_start(void) {
    union address address;
    struct timespec pause = {0, 20000000};
    /* A container started without a network may get one afterwards. */
    while (!find(AF_INET, NULL, &address)) {
        nanosleep(&pause, NULL);
    }
    for (int i = 0; i < 2; i++) {
        struct own *own = &owns[i];
        if (!find(own->family, NULL, &address)) {
            continue;
        }
        own->listener = bound(own, SOCK_STREAM, &address);
        own->datagrams = bound(own, SOCK_DGRAM, &address);
        if (own->listener < 0 || own->datagrams < 0 || listen(own->listener, 4) || !connect_to_itself(own, &own->near, &own->far)) {
            perror("gpu-counter: --own-address");
            _exit(3);
        }
    }
}

/* A restore closes a connection that was frozen before it was accepted, so there is a second
 * attempt. */
static int connects(const struct own *own, uint64_t step) {
    for (int tries = 0; tries < 2; tries++) {
        int near, far, right = connect_to_itself(own, &near, &far) && exchange(near, far, step);
        close(near);
        close(far);
        if (right) {
            return 1;
        }
    }
    return 0;
}

void address_check(uint64_t step) {
    for (int i = 0; i < 2; i++) {
        const struct own *own = &owns[i];
        union address address, found;
        socklen_t length = sizeof address;
        uint64_t got = 0;
        if (own->listener < 0) {
            continue;
        }
        if (getsockname(own->listener, &address.any, &length) || !find(own->family, &address, &found)) {
            bad("a listener at an address that this machine has not");
        }
        if (!exchange(own->near, own->far, step) || !exchange(own->far, own->near, step)) {
            bad("a connection over the machine's own address");
        }
        if (!connects(own, step)) {
            bad("a listener at the machine's own address");
        }
        length = sizeof address;
        if (getsockname(own->datagrams, &address.any, &length) || !find(own->family, &address, &found) ||
            sendto(own->datagrams, &step, sizeof step, 0, &address.any, length) != sizeof step ||
            recv(own->datagrams, &got, sizeof got, 0) != sizeof got || got != step) {
            bad("datagrams at the machine's own address");
        }
    }
}
