/* Who uses a GPU: found by looking at every process's mailbox, so by the pids that the caller's /proc knows. */
#define _GNU_SOURCE
#include "mailbox.h"
#include "nvml.h"

#include <dirent.h>
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

uint32_t processes_on(const struct node *node, int gpu, nvmlProcessInfo_t *to, uint32_t room) {
    uint32_t found = 0;
    DIR *processes = opendir("/proc");
    if (!processes) {
        return 0;
    }
    for (struct dirent *entry; (entry = readdir(processes));) {
        pid_t pid = atoi(entry->d_name);
        int owner = pid > 0 ? owner_on(node, pid) : 0;
        uint32_t blocks = owner ? board_count(node, gpu, owner) : 0;
        if (blocks && found++ < room) {
            to[found - 1] = (nvmlProcessInfo_t){(uint32_t)pid, (uint64_t)blocks * BLOCK_BYTES, 0xffffffff, 0xffffffff};
        }
    }
    closedir(processes);
    return found;
}
