/* Unix sockets, and descriptors over them. */
#include "keeper.h"

static int open_at(const char *path, int type, bool listening) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    if (listening) unlink(path);
    if (fd >= 0 && (listening ? bind : connect)(fd, (struct sockaddr *)&address, sizeof address) == 0 && (!listening || listen(fd, 4) == 0)) return fd;
    fail("%s: %s", path, strerror(errno));
    close(fd);
    return -1;
}

int socket_listen(const char *path, int type) { return open_at(path, type, true); }

int socket_connect(const char *path, int type) { return open_at(path, type, false); }

int socket_next(int listener, int current) {
    int next = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (next < 0) return current;
    close(current);
    return next;
}

void socket_serve(int listener, int patience_ms, bool (*serve)(int client), bool (*idle)(void)) {
    for (int client = -1;;) {
        struct pollfd wait[] = {{.fd = listener, .events = POLLIN}, {.fd = client, .events = POLLIN}};
        if (poll(wait, 2, client < 0 && (!idle || idle()) ? patience_ms : -1) == 0) return;
        if (wait[1].revents && !serve(client)) {
            close(client);
            client = -1;
        }
        if (wait[0].revents) client = socket_next(listener, client);
    }
}

ssize_t socket_receive(int socket, void *data, size_t length, int *fds, uint32_t room, uint32_t *count) {
    union message_control control;
    struct iovec vector = {data, length};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    ssize_t n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    *count = 0;
    for (struct cmsghdr *head = n < 0 ? NULL : CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
        uint32_t more = (uint32_t)((head->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        for (uint32_t i = 0; head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS && i < more; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(head) + i * sizeof fd, sizeof fd);
            if (*count < room) fds[(*count)++] = fd;
            else close(fd);
        }
    }
    return message.msg_flags & (MSG_TRUNC | MSG_CTRUNC) ? -1 : n;
}
