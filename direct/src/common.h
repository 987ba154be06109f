/* What library and keeper share. */
#ifndef STASIS_COMMON_H
#define STASIS_COMMON_H
#include "protocol.h"

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

uint64_t now_us(void);

/* Returns the length of the address. */
socklen_t abstract_address(struct sockaddr_un *address, const char *name);

/* The driver, by an absolute path or in one of the folders (separated by colons), or NULL. */
void *driver_at(const char *path);
void *driver_in(const char *folders);

/* Messages with descriptors. */
union message_control {
    char bytes[CMSG_SPACE(GATE_BATCH * sizeof(int))];
    struct cmsghdr align;
};
bool message_send(int socket, const void *data, size_t length, const int *fds, uint32_t count);
#endif
