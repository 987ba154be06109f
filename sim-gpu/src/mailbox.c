/* Finds and accesses the mailbox of another process, by its pid in the caller's /proc. */
#define _GNU_SOURCE
#include "mailbox.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

int mailbox_read(pid_t pid, uint64_t address, void *to, size_t length) {
    struct iovec here = {to, length}, there = {(void *)(uintptr_t)address, length};
    ssize_t n = process_vm_readv(pid, &here, 1, &there, 1, 0);
    return n == (ssize_t)length ? 0 : n < 0 ? -errno : -EFAULT;
}

int mailbox_write(pid_t pid, uint64_t address, const void *from, size_t length) {
    struct iovec here = {(void *)(uintptr_t)from, length}, there = {(void *)(uintptr_t)address, length};
    ssize_t n = process_vm_writev(pid, &here, 1, &there, 1, 0);
    return n == (ssize_t)length ? 0 : n < 0 ? -errno : -EFAULT;
}

static int is_driver(const char *path) {
    const char *name = strrchr(path, '/');
    return name && strncmp(name, "/libcuda.so.", 12) == 0;
}

static int alive(pid_t pid) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file) {
        return 0;
    }
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = 0;
    const char *state = strrchr(text, ')');
    return state && state[1] && state[2] != 'Z' && state[2] != 'X';
}

int mailbox_find(pid_t pid, uint64_t *address) {
    static const uint32_t magic[4] = MAILBOX_MAGIC;
    char path[64];
    if (!alive(pid)) {
        return -ESRCH;
    }
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    FILE *maps = fopen(path, "re");
    if (!maps) {
        return errno == ENOENT ? -ESRCH : -errno;
    }
    char *line = NULL;
    size_t room = 0;
    int result = -ENOENT;
    while (result && getline(&line, &room, maps) > 0) {
        unsigned long long start, end;
        char perms[5];
        int at = 0;
        /* Most lines, of all programs of the machine: searched quicker than scanned. */
        if (!strstr(line, "/libcuda.so.")) {
            continue;
        }
        if (sscanf(line, "%llx-%llx %4s %*s %*s %*s %n", &start, &end, perms, &at) < 3 || perms[1] != 'w' ||
            !is_driver(line + at)) {
            continue;
        }
        for (uint64_t page = start; page < end && result; page += 4096) {
            uint32_t found[4];
            int rc = mailbox_read(pid, page, found, sizeof found);
            if (rc == 0 && memcmp(found, magic, sizeof magic) == 0) {
                *address = page;
                result = 0;
            } else if (rc) {
                result = rc; /* no answer, rather than none to be found */
            }
        }
    }
    free(line);
    fclose(maps);
    return result;
}

pid_t mailbox_thread(pid_t pid) {
    char path[320], name[32];
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *tasks = opendir(path);
    if (!tasks) {
        return -ESRCH;
    }
    pid_t found = -ESRCH;
    for (struct dirent *task; found < 0 && (task = readdir(tasks));) {
        snprintf(path, sizeof path, "/proc/%d/task/%s/comm", pid, task->d_name);
        FILE *comm = fopen(path, "re");
        if (!comm) {
            continue;
        }
        if (fgets(name, sizeof name, comm) && strncmp(name, HIDDEN_THREAD_NAME "\n", sizeof HIDDEN_THREAD_NAME) == 0) {
            found = (pid_t)atoi(task->d_name);
        }
        fclose(comm);
    }
    closedir(tasks);
    return found;
}
