/* What library and keeper share. */
#ifndef STASIS_COMMON_H
#define STASIS_COMMON_H
#include "protocol.h"

#include <stdbool.h>
#include <sys/socket.h>

uint64_t now_us(void);

/* Messages with descriptors. */
union message_control {
    char bytes[CMSG_SPACE(GATE_BATCH * sizeof(int))];
    struct cmsghdr align;
};
bool message_send(int socket, const void *data, size_t length, const int *fds, uint32_t count);
#endif
