/* The processes of a GPU, found in every process's mailbox, by the pids of the caller's /proc. */
#define _GNU_SOURCE
#include "mailbox.h"
#include "nvml.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static int owner_on(const struct node *node, pid_t pid) {
    uint64_t address;
    struct mailbox head;
    if (mailbox_find(pid, &address) || mailbox_read(pid, address, &head, offsetof(struct mailbox, slot)) || !head.started ||
        head.node != node->board->node) {
        return 0;
    }
    return (int)head.owner;
}

/* The owner of the memory behind an open file; 0 for any other file. */
static int owner_of_file(pid_t pid, const char *fd) {
    char path[300], text[64];
    long long position = 0;
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%s", (int)pid, fd);
    FILE *info = fopen(path, "re");
    if (!info) {
        return 0;
    }
    int found = fgets(text, sizeof text, info) && sscanf(text, "pos: %lld", &position) == 1;
    fclose(info);
    return found && position > OWNER_MARK && position < OWNER_MARK + MAX_OWNERS ? (int)(position - OWNER_MARK) : 0;
}

/* Memory of cuMemCreate that a process holds, its own or imported: each allocation has an open
 * file. */
static uint32_t virtual_blocks(const struct node *node, int gpu, pid_t pid) {
    char counted[MAX_OWNERS] = {0}, path[32];
    uint32_t blocks = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *files = opendir(path);
    for (struct dirent *entry; files && (entry = readdir(files));) {
        int owner = *entry->d_name == '.' ? 0 : owner_of_file(pid, entry->d_name);
        if (owner && !counted[owner]) {
            counted[owner] = 1;
            blocks += board_count(node, gpu, owner);
        }
    }
    if (files) {
        closedir(files);
    }
    return blocks;
}

uint32_t processes_on(const struct node *node, int gpu, nvmlProcessInfo_t *to, uint32_t room) {
    uint32_t found = 0;
    DIR *processes = opendir("/proc");
    if (!processes) {
        return 0;
    }
    for (struct dirent *entry; (entry = readdir(processes));) {
        pid_t pid = atoi(entry->d_name);
        int owner = pid > 0 ? owner_on(node, pid) : 0;
        uint32_t blocks = owner ? board_count(node, gpu, owner) + virtual_blocks(node, gpu, pid) : 0;
        if (blocks && found++ < room) {
            to[found - 1] = (nvmlProcessInfo_t){(uint32_t)pid, (uint64_t)blocks * BLOCK_BYTES, 0xffffffff, 0xffffffff};
        }
    }
    closedir(processes);
    return found;
}
