#define _GNU_SOURCE
#include "common.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint64_t now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

socklen_t abstract_address(struct sockaddr_un *address, const char *name) {
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    strcpy(address->sun_path + 1, name);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
}

/* The library's own file under another name, by a careless setting, would lead to itself. glibc's stat is a function only since 2.33. */
static bool is_self(const char *path) {
    Dl_info self;
    struct stat here, there;
    return dladdr((void *)&driver_at, &self) && syscall(SYS_stat, self.dli_fname, &here) == 0 && syscall(SYS_stat, path, &there) == 0 &&
           here.st_ino == there.st_ino && here.st_dev == there.st_dev;
}

void *driver_at(const char *path) { return *path == '/' && !is_self(path) ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL; }

void *driver_in(const char *folders) {
    char path[4096];
    void *library = NULL;
    while (folders && *folders && !library) {
        int length = (int)strcspn(folders, ":");
        if (snprintf(path, sizeof path, "%.*s/libcuda.so.1", length, folders) < (int)sizeof path) library = driver_at(path);
        folders += length + (folders[length] == ':');
    }
    return library;
}

bool message_send(int socket, const void *data, size_t length, const int *fds, uint32_t count) {
    union message_control control = {0};
    struct iovec vector = {(void *)(uintptr_t)data, length};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
    if (count) {
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(count * sizeof *fds);
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        *head = (struct cmsghdr){.cmsg_len = CMSG_LEN(count * sizeof *fds), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(head), fds, count * sizeof *fds);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)length;
}
